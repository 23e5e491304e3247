#include "import/text/writer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cctype>
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
  return constant.shape().size() <= 1 ? !constant.dtype().is_float() || value.name.empty()
                                      : value.name.empty();
}

/// `zeros(…)` and the like of a constant whose elements are all the same number, without a name; otherwise "".
std::string filled(const Term& value) {
  const HostTensor& constant = *value.constant;
  if (!value.name.empty() || constant.size() < 2 || constant.dtype().is_bool()) return "";
  const double number = element_as_double(constant, 0);
  for (int64_t i = 1; i < constant.size(); ++i)
    if (element_as_double(constant, i) != number) return "";
  const std::string shape = list_of(constant.shape());
  if (number != 0 && number != 1)
    return fmt::format("full({}, shape={})", literal(number, constant.dtype()), shape);
  const std::string dtype =
      constant.dtype() == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(constant.dtype()));
  return fmt::format("{}({}{})", number == 0 ? "zeros" : "ones", shape, dtype);
}

std::string literal_of(const std::vector<Dim>& dims, DType dtype, size_t rank) {
  std::vector<std::string> parts;
  parts.reserve(dims.size());
  bool is_constant = true;
  for (Dim dim : dims) is_constant = is_constant && as_const(dim);
  for (Dim dim : dims)
    parts.push_back(is_constant ? literal(static_cast<double>(dim->value), dtype) : to_string(dim));
  if (dims.empty()) return fmt::format("zeros((0,), dtype=\"{}\")", to_string(dtype));
  std::string text = rank == 0 ? parts.front() : fmt::format("[{}]", fmt::join(parts, ", "));
  return is_constant ? text : fmt::format("cast({}, dtype=\"{}\")", text, to_string(dtype));
}

}  // namespace

std::set<std::string> variables_in(std::string_view text) {
  std::set<std::string> named;
  for (size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    size_t end = at + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (end > at + 1) named.emplace(text.substr(at, end - at));
  }
  return named;
}

std::vector<Term> captured(const Document& document, std::string_view text, size_t count) {
  const auto named = variables_in(text);
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
  if (std::string text = filled(value); !text.empty()) return text;
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
  lines_.push_back({{term.text}, text, scope_});
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
  lines_.push_back({std::move(names), text, scope_});
  return parts;
}

Term Writer::variable(std::string_view hint, Type type) {
  Term term;
  term.type = type;
  term.text = "%" + document_.names.unique(hint);
  document_.variables.push_back(term);
  return term;
}

std::string to_string(const Line& line) {
  if (line.bound.size() == 1) return fmt::format("let {} = {};", line.bound[0], line.text);
  return fmt::format("let ({}) = {};", fmt::join(line.bound, ", "), line.text);
}

std::string block_of(std::span<const Line> lines, const std::string& result) {
  std::string last = result;
  if (!lines.empty() && lines.back().bound.size() == 1 && lines.back().bound[0] == result) {
    last = lines.back().text;
    lines = lines.first(lines.size() - 1);
  }
  std::string text = "{\n";
  for (const Line& line : lines) text += to_string(line) + "\n";
  return text + last + "\n}";
}

}  // namespace quern::import_text
