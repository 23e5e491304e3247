#include "frontend/infer/values/literals.h"

#include <fmt/format.h>

#include "frontend/static/metadata.h"

namespace quern {

namespace {

bool is_wide(const NumberLiteral& number) {
  return number.is_integer && number.integer != static_cast<int32_t>(number.integer);
}

}  // namespace

DraftPtr Literals::make(SyntaxPtr s, Type type, const std::vector<LiteralDraft::Element>& elements,
                        bool is_bool) {
  return drafts_.make<LiteralDraft>(origin(s), type, drafts_.copy(elements), is_bool);
}

DraftPtr Literals::boolean(SyntaxPtr s, bool value) {
  return make(s, scalar_type(DType::boolean()), {{NumberLiteral{true, value}, s}}, true);
}

DraftPtr Literals::number(SyntaxPtr s) {
  auto number = parse_number(s->text);
  if (!number) {
    NumberProblem problem = number_problem(s->text);
    report(problem.kind, s, problem.message);
    return error(s);
  }
  DTypeClass dtype_class = number->is_integer ? DTypeClass::Number : DTypeClass::Float;
  DType dtype = number->dtype ? *number->dtype : unifier_.fresh_dtype(dtype_class, is_wide(*number));
  return make(s, scalar_type(dtype), {{*number, s}}, false);
}

DraftPtr Literals::value(SyntaxPtr s, const StaticValue& value) {
  if (value.as_bool()) return boolean(s, *value.as_bool());
  NumberLiteral number{false, 0, *value.as_float()};
  return make(s, scalar_type(unifier_.fresh_dtype(DTypeClass::Float)), {{number, s}}, false);
}

DraftPtr Literals::constant(SyntaxPtr s) {
  auto tensor = meta_constant(s, scope_, context_.declaration, diagnostics_);
  if (!tensor) return error(s);
  std::vector<Dim> dims;
  for (int64_t extent : tensor->shape()) dims.push_back(dim_const(extent));
  return drafts_.form(origin(s), tensor_type(dims, tensor->dtype()), ConstExpr{.value = tensor});
}

// --- tensors

bool Literals::collect_number(SyntaxPtr s, size_t depth, Elements& elements) {
  if (depth != elements.shape.size()) {
    report(DiagnosticKind::RaggedLiteral, s, "the rows of a tensor literal have to be nested equally deep");
    return false;
  }
  if (s->is(SyntaxKind::Bool)) {
    elements.is_bool = true;
    elements.all.emplace_back(NumberLiteral{true, s->text == "True"}, s);
    return true;
  }
  auto number = parse_number(s->text);
  if (!number) {
    NumberProblem problem = number_problem(s->text);
    report(problem.kind, s, problem.message);
    return false;
  }
  elements.all.emplace_back(*number, s);
  return true;
}

bool Literals::collect(SyntaxPtr s, size_t depth, Elements& elements) {
  if (!s->is(SyntaxKind::List)) return collect_number(s, depth, elements);
  auto count = static_cast<int64_t>(s->children.size());
  // The first row at each depth fixes the extent of the others.
  if (depth == elements.shape.size()) {
    if (!elements.all.empty()) {
      report(DiagnosticKind::RaggedLiteral, s, "the rows of a tensor literal have to be nested equally deep");
      return false;
    }
    elements.shape.push_back(count);
  }
  if (elements.shape[depth] != count) {
    report(DiagnosticKind::RaggedLiteral, s,
           fmt::format("this row has {} element{} where the first has {}", count, count == 1 ? "" : "s",
                       elements.shape[depth]));
    return false;
  }
  for (SyntaxPtr c : s->children)
    if (!collect(c, depth + 1, elements)) return false;
  return true;
}

// Nothing after a diagnostic.
std::optional<DType> Literals::dtype_of(const Elements& elements) {
  DTypeClass dtype_class = elements.all.empty() ? DTypeClass::Float : DTypeClass::Number;
  std::optional<DType> suffix;
  bool wide = false;
  for (const auto& [number, at] : elements.all) {
    if (!number.is_integer) dtype_class = DTypeClass::Float;
    if (suffix && number.dtype && *suffix != *number.dtype) {
      report(DiagnosticKind::DTypeMismatch, at,
             fmt::format("the numbers of a tensor have one dtype: this is {}, and one before it {}",
                         to_string(*number.dtype), to_string(*suffix)));
      return std::nullopt;
    }
    if (number.dtype) suffix = number.dtype;
    wide |= is_wide(number);
  }
  return elements.is_bool ? DType::boolean() : suffix ? *suffix : unifier_.fresh_dtype(dtype_class, wide);
}

DraftPtr Literals::tensor(SyntaxPtr s) {
  Elements elements;
  if (!collect(s, 0, elements)) return error(s);
  for (const auto& [number, at] : elements.all)
    if (elements.is_bool && !at->is(SyntaxKind::Bool)) {
      report(DiagnosticKind::DTypeMismatch, at, "this row of a bool tensor holds a number");
      return error(s);
    }
  auto dtype = dtype_of(elements);
  if (!dtype) return error(s);
  std::vector<Dim> dims;
  dims.reserve(elements.shape.size());
  for (int64_t extent : elements.shape) dims.push_back(dim_const(extent));
  return make(s, tensor_type(dims, *dtype), elements.all, elements.is_bool);
}

}  // namespace quern
