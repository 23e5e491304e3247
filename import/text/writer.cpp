#include "import/text/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
#include <set>
#include <span>

#include "import/text/literals.h"
#include "import/text/refusal.h"

namespace quern::import_text {

namespace {

/// Longer constants are weights.
constexpr int64_t kLongestLiteral = 16;

/// Whether the constant is one that a reader would write: a number, a few sizes, or a short list without a name.
bool is_literal(const Term& value) {
  const HostTensor& constant = *value.constant;
  if (constant.size() <= 1 && constant.shape().size() <= 1) return true;
  if (constant.size() == 0 || constant.size() > kLongestLiteral) return constant.size() == 0;
  return constant.shape().size() <= 1 ? !constant.dtype().is_float() || value.name.empty() : value.name.empty();
}

std::string literal_of(const std::vector<Dim>& dims, DType dtype, size_t rank) {
  std::vector<std::string> parts;
  bool is_constant = true;
  for (Dim dim : dims) is_constant = is_constant && as_const(dim);
  for (Dim dim : dims)
    parts.push_back(is_constant ? literal(static_cast<double>(dim->value), dtype) : to_string(dim));
  if (dims.empty()) return fmt::format("zeros((0,), dtype=\"{}\")", to_string(dtype));
  std::string text = rank == 0 ? parts.front() : fmt::format("[{}]", fmt::join(parts, ", "));
  return is_constant ? text : fmt::format("cast({}, dtype=\"{}\")", text, to_string(dtype));
}

}  // namespace

std::vector<Term> captured(const Document& document, std::string_view text, size_t count) {
  std::set<std::string_view> named;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    named.insert(text.substr(at, end - at));
  }
  std::vector<Term> result;
  for (const Term& variable : std::span(document.variables).first(count))
    if (named.contains(variable.text)) result.push_back(variable);
  return result;
}

std::string Writer::operand(const Term& value) {
  if (!value.text.empty()) return value.text;
  if (value.dims) return literal_of(*value.dims, value.dtype(), value.rank());
  if (!value.constant) throw Refusal("a value that is missing is used");
  if (is_literal(value)) return literal(*value.constant);
  Term weight = value;
  if (weight.name.empty()) weight.name = document_.names.unique("constant");
  return document_.weights.add(weight);
}

std::string Writer::text_of(std::string_view expression, const std::vector<Term>& operands) {
  return with_operands(expression, [&](size_t k) { return operand(operands.at(k)); });
}

Term Writer::let(std::string_view hint, std::string_view expression, const std::vector<Term>& operands) {
  const Type type = document_.typer.type_of(expression, operands);
  return let_as(hint, text_of(expression, operands), type);
}

Term Writer::let_as(std::string_view hint, const std::string& text, Type type) {
  Term term = variable(hint, type);
  lines_.push_back(fmt::format("let {} = {};", term.text, text));
  return term;
}

std::vector<Term> Writer::let_parts(const std::vector<std::string>& hints, std::string_view expression,
                                    const std::vector<Term>& operands) {
  const Type type = document_.typer.type_of(expression, operands);
  QUERN_CHECK(type->kind == TypeKind::Tuple);
  return let_parts_as(hints, text_of(expression, operands), {type->args.begin(), type->args.end()});
}

std::vector<Term> Writer::let_parts_as(const std::vector<std::string>& hints, const std::string& text,
                                       const std::vector<Type>& types) {
  QUERN_CHECK(types.size() == hints.size());
  std::vector<Term> parts;
  std::vector<std::string> names;
  for (size_t i = 0; i < hints.size(); ++i) {
    Term part = hints[i].empty() ? Term{types[i], "_", {}, {}, {}} : variable(hints[i], types[i]);
    names.push_back(part.text);
    parts.push_back(std::move(part));
  }
  lines_.push_back(fmt::format("let ({}{}) = {};", fmt::join(names, ", "), names.size() == 1 ? "," : "", text));
  return parts;
}

Term Writer::variable(std::string_view hint, Type type) {
  Term term;
  term.type = type;
  term.text = "%" + document_.names.unique(hint);
  document_.variables.push_back(term);
  return term;
}

std::string Writer::block(const std::string& result) const {
  // A variable that is the result alone needs no name.
  const std::string binds = fmt::format("let {} = ", result);
  if (!lines_.empty() && lines_.back().starts_with(binds)) {
    const auto before = std::span(lines_).first(lines_.size() - 1);
    std::string last = lines_.back().substr(binds.size());
    last.pop_back();
    return fmt::format("{{\n{}\n{}\n}}", fmt::join(before, "\n"), last);
  }
  return fmt::format("{{\n{}\n{}\n}}", fmt::join(lines_, "\n"), result);
}

}  // namespace quern::import_text
