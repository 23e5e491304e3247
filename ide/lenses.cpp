#include "ide/lenses.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "ide/lexed_text.h"

namespace quern::ide {

namespace {

/// Whether random arguments can be made for a type: its dtypes and extents are known.
bool is_concrete(Type type) {
  if (!type) return false;
  if (type->kind == TypeKind::Tensor)
    return !type->dtype.is_var() && !type->dtype.is_infer() &&
           std::ranges::all_of(type->dims, [](Dim dim) { return as_const(dim).has_value(); });
  return type->kind == TypeKind::Tuple && std::ranges::all_of(type->args, is_concrete);
}

bool has_gradient(Type result) {
  return result && result->kind == TypeKind::Tensor && result->dims.empty() && result->dtype.is_float();
}

void add_of_function(Session& session, DeclarationId declaration, Range range, std::vector<Lens>& out) {
  const std::string& name = session.info(declaration).name;
  if (!name.starts_with('@')) return;
  const std::string plain = name.substr(1);
  out.push_back({Lens::Does::Ir, range, plain});
  const Scheme* scheme = session.known_scheme(declaration);
  if (!scheme || !scheme->type || scheme->type->kind != TypeKind::Function) return;
  if (std::ranges::all_of(scheme->type->params(), is_concrete))
    out.push_back({Lens::Does::Time, range, plain});
  if (has_gradient(scheme->type->result())) out.push_back({Lens::Does::Gradient, range, plain});
}

}  // namespace

std::vector<Range> evaluated_comments(std::string_view text) {
  constexpr std::string_view kMark = "// >>>";
  std::vector<Range> found;
  for (const Range& comment : lexed_text(text).comments) {
    std::string_view rest = text.substr(comment.begin, comment.end - comment.begin);
    // Consecutive comments may be one range.
    for (size_t at = 0; at < rest.size();) {
      const size_t end = std::min(rest.find_first_of("\r\n", at), rest.size());
      std::string_view line = rest.substr(at, end - at);
      const size_t blanks = std::min(line.find_first_not_of(" \t"), line.size());
      if (line.substr(blanks).starts_with(kMark)) {
        size_t begin = at + blanks + kMark.size();
        while (begin < end && rest[begin] == ' ') ++begin;
        if (begin < end)
          found.push_back(
              {comment.begin + static_cast<uint32_t>(begin), comment.begin + static_cast<uint32_t>(end)});
      }
      at = end + 1;
    }
  }
  return found;
}

std::vector<Lens> lenses(Session& session, SourceId source) {
  std::vector<Lens> out;
  bool has_statement = false, has_test = false;
  for (DeclarationId declaration : session.declarations(source)) {
    const DeclarationInfo& info = session.info(declaration);
    const Range range = session.range_of(declaration);
    if (info.kind == PieceKind::Statement && !std::exchange(has_statement, true))
      out.push_back({Lens::Does::EvaluateFile, range, ""});
    if (info.kind == PieceKind::Test) {
      if (!std::exchange(has_test, true)) out.push_back({Lens::Does::AllTests, range, ""});
      out.push_back({Lens::Does::Test, range, info.name});
    }
    if (info.kind == PieceKind::Def) add_of_function(session, declaration, range, out);
  }
  for (const Range& comment : evaluated_comments(session.text(source)))
    out.push_back({Lens::Does::Evaluate, comment, ""});
  std::ranges::stable_sort(out, {}, [](const Lens& lens) { return lens.range.begin; });
  return out;
}

}  // namespace quern::ide
