#include "import/operators/loop_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quern::onnx {

using namespace import_text;

namespace {

/// Throws a Refusal for extents that the text of a function names and that no parameter has.
void check_dims(Writer& writer, std::string_view text, const std::vector<Type>& types) {
  for (Dim dim : writer.document().typer.dims_in(text)) {
    const bool is_known = std::ranges::any_of(types, [&](Type type) {
      bool has = false;
      for_each_dim_var(type, [&](Dim own) { has = has || own == dim; });
      return has;
    });
    if (!is_known)
      throw Refusal(fmt::format(
          "uses the extent `{0}`, which none of its tensors has: give it with `--shape`", to_string(dim)));
  }
}

}  // namespace

std::string tuple_of(const std::vector<std::string>& parts) {
  return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
}

Term scalar(Call& call, const Term& term, std::string_view hint) {
  return term.rank() == 0 ? term : call.step(hint, "reshape($0, newshape=[])", {term});
}

void set_results(Call& call, const std::string& text, const std::vector<Type>& types) {
  if (types.size() == 1) return call.set(0, call.writer().let_as(call.hint(0), text, types.front()));
  std::vector<std::string> hints;
  for (size_t i = 0; i < types.size(); ++i) hints.push_back(call.wants(i) ? call.hint(i) : "");
  const auto parts = call.writer().let_parts_as(hints, text, types);
  for (size_t i = 0; i < parts.size(); ++i) call.set(i, parts[i]);
}

Type joined(Type a, Type b) {
  if (a == b) return a;
  if (!a->is_tensor() || !b->is_tensor() || a->dims.size() != b->dims.size() || a->dtype != b->dtype)
    throw Refusal(fmt::format("what it carries becomes {} from {}", to_string(b), to_string(a)));
  std::vector<Dim> dims;
  for (size_t i = 0; i < a->dims.size(); ++i)
    dims.push_back(a->dims[i] == b->dims[i] ? a->dims[i] : dim_any());
  return tensor_type(dims, a->dtype);
}

void write_loop(Call& call, size_t outer_count, LoopFunction loop) {
  Document& document = call.writer().document();
  const std::string text = fmt::format("{} {} {}", loop.goes_on, loop.binds, fmt::join(loop.next, " "));
  std::vector<Term> all = captured(document, text, outer_count);
  const size_t own = all.size();
  all.insert(all.end(), loop.parameters.begin(), loop.parameters.end());
  std::vector<std::string> heads, result_types;
  std::vector<Type> head_types;
  for (size_t i = 0; i < all.size(); ++i) {
    head_types.push_back(all[i].type);
    heads.push_back(fmt::format("{}: {}", all[i].text, to_string(all[i].type)));
    if (i >= own) continue;
    loop.next.insert(loop.next.begin() + static_cast<ptrdiff_t>(i), all[i].text);
    loop.first.insert(loop.first.begin() + static_cast<ptrdiff_t>(i), all[i].text);
  }
  check_dims(call.writer(), text, head_types);
  if (text.find(import_text::kMark) != std::string::npos) {
    heads.insert(heads.begin(), "%params: Weights");
    for (auto* arguments : {&loop.next, &loop.first}) arguments->insert(arguments->begin(), "%params");
  }
  for (Type type : loop.types) result_types.push_back(to_string(type));
  const bool is_single = loop.results.size() == 1;
  const std::string name = "@" + document.names.unique("loop");
  document.definitions.push_back(fmt::format(
      "def {}{}({}) -> {} {{ if ({}) {{ {} {}({}) }} else {{ {} }} }}\n", name, dim_parameters(head_types),
      fmt::join(heads, ", "), is_single ? result_types[0] : tuple_of(result_types), loop.goes_on, loop.binds,
      name, fmt::join(loop.next, ", "), is_single ? loop.results[0] : tuple_of(loop.results)));
  set_results(call, fmt::format("{}({})", name, fmt::join(loop.first, ", ")), loop.types);
}

}  // namespace quern::onnx
