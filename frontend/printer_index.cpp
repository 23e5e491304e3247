// The printer on constants and index expressions.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "frontend/printer_impl.h"
#include "ir/scalar.h"
#include "ir/tensor.h"

namespace quern::printer_detail {

namespace {

constexpr int64_t kInlineElements = 32;

struct Infix {
  ScalarOp op;
  Level level;
};
// The scalar functions that are written between their operands; the others are calls.
constexpr Infix kInfix[] = {
    {ScalarOp::Mul, Level::Product},   {ScalarOp::Div, Level::Product},   {ScalarOp::Mod, Level::Product},
    {ScalarOp::Add, Level::Sum},       {ScalarOp::Sub, Level::Sum},       {ScalarOp::Lt, Level::Comparison},
    {ScalarOp::Le, Level::Comparison}, {ScalarOp::Gt, Level::Comparison}, {ScalarOp::Ge, Level::Comparison},
    {ScalarOp::Eq, Level::Equality},   {ScalarOp::Ne, Level::Equality},   {ScalarOp::And, Level::And},
    {ScalarOp::Or, Level::Or},
};

Level next(Level level) { return static_cast<Level>(static_cast<int>(level) + 1); }

std::string number_suffix(DType dtype) {
  switch (dtype.code) {
    case DTypeCode::Int: return dtype.bits == 32 ? "" : fmt::format("i{}", dtype.bits);
    case DTypeCode::UInt: return fmt::format("u{}", dtype.bits);
    case DTypeCode::Float: return dtype.bits == 32 ? "f" : fmt::format("f{}", dtype.bits);
    // No suffix names bfloat16: a float without one takes its dtype from where it stands.
    case DTypeCode::BFloat:
    case DTypeCode::Bool:
    case DTypeCode::Index:
    case DTypeCode::Infer: return "";
  }
  return "";
}

/// `2f`, `1i64`, `True`.
std::string literal(const Scalar& value) {
  std::string text = to_string(value);
  bool bare_float = value.dtype.code == DTypeCode::BFloat;
  if (bare_float && text.find_first_of(".ein") == std::string::npos) text += ".0";
  return text + number_suffix(value.dtype);
}

std::string element(const HostTensor& tensor, int64_t offset) {
  Scalar value{tensor.dtype(), 0};
  if (!tensor.dtype().is_float())
    return literal(Scalar::from_int(tensor.dtype(), element_as_int(tensor, offset)));
  std::memcpy(&value.bits, tensor.data() + static_cast<size_t>(offset) * tensor.dtype().bytes(),
              tensor.dtype().bytes());
  return literal(value);
}

/// Nested lists; `offset` counts the lists of this depth, row-major.
DocPtr nested_lists(Docs& docs, const HostTensor& tensor, size_t axis, int64_t offset) {
  if (axis == tensor.shape().size()) return docs.text(element(tensor, offset));
  std::vector<DocPtr> items;
  for (int64_t i = 0; i < tensor.shape()[axis]; ++i)
    items.push_back(nested_lists(docs, tensor, axis + 1, offset * tensor.shape()[axis] + i));
  return docs.list("[", items, "]");
}

Level level_of(Dim dim) {
  switch (dim->kind) {
    case DimKind::Const: return dim->value < 0 ? Level::Unary : Level::Postfix;
    case DimKind::Sum: return Level::Sum;
    case DimKind::Product:
    case DimKind::FloorDiv:
    case DimKind::FloorMod: return Level::Product;
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer:
    case DimKind::Min:
    case DimKind::Max:
    case DimKind::Broadcast: return Level::Postfix;
  }
  return Level::Sum;
}

/// Prints as a literal: a minus before it would fold into it.
bool is_number(ExprPtr expr) {
  if (auto* read = as<ReadExpr>(expr)) return read->indices.empty() && is_number(read->tensor);
  if (auto* dim = as<DimValueExpr>(expr)) return as_const(dim->dim).has_value();
  return expr->kind == ExprKind::Const;
}

}  // namespace

Printed Printer::node(const ConstExpr& e) {
  if (!e.value) return {docs_.text("<error>"), Level::Postfix};
  const HostTensor& tensor = *e.value;
  bool plain = tensor.dtype().lanes == 1 && tensor.size() > 0 && tensor.size() <= kInlineElements;
  if (!plain) {
    size_t k = large_constants_.try_emplace(&tensor, large_constants_.size()).first->second;
    return {docs_.text(fmt::format("meta[relay.Constant][{}]", k)), Level::Postfix};
  }
  if (!tensor.shape().empty()) return {nested_lists(docs_, tensor, 0, 0), Level::Primary};
  std::string text = element(tensor, 0);
  Level level = text.starts_with("-") ? Level::Unary : Level::Postfix;
  return {docs_.text(std::move(text)), level};
}

std::string Printer::dim_text(Dim dim) { return to_string(names_.renamed(dim)); }

std::string Printer::binders(std::span<const Dim> vars, std::span<const Dim> extents) {
  // Over no axes: an empty pack, since a list of binders is never empty.
  if (vars.empty()) return ".._ < ()";
  std::vector<std::string> ranges;
  for (Dim extent : extents) ranges.push_back(dim_text(extent));
  std::string out;
  for (size_t i = 0; i < vars.size(); ++i) {
    names_.bind(vars[i]);
    out += fmt::format("{}{}", i > 0 ? ", " : "", names_.of(vars[i]));
    if (i < ranges.size()) out += " < " + ranges[i];
  }
  return out;
}

Printed Printer::node(const ComprehensionExpr& e) {
  DocPtr head = docs_.text("[" + binders(e.vars, e.extents) + "] =>");
  DocPtr body = at(e.body, Level::Open);
  for (Dim var : e.vars) names_.release(var);
  return {docs_.group(docs_.concat({head, docs_.indent(docs_.concat({docs_.line(), body}))})), Level::Open};
}

Printed Printer::node(const ReduceExpr& e) {
  DocPtr head = docs_.text(fmt::format("{}[{}]", to_string(e.reduce), binders(e.vars, e.extents)));
  DocPtr body = at(e.body, Level::Reduction);
  for (Dim var : e.vars) names_.release(var);
  return {docs_.group(docs_.concat({head, docs_.indent(docs_.concat({docs_.line(), body}))})),
          Level::Reduction};
}

Printed Printer::node(const ViewExpr& e) {
  return {docs_.list("view(", {item(e.tensor)}, ")"), Level::Postfix};
}

Printed Printer::node(const DimValueExpr& e) {
  Dim dim = names_.renamed(e.dim);
  return {docs_.text(to_string(dim)), level_of(dim)};
}

Printed Printer::node(const ScalarExpr& e) {
  if (e.is_cast) {
    DType to = e.type->dtype;
    std::string head = to.is_index() ? "index(" : "cast<" + to_string(to) + ">(";
    return {docs_.list(head, items(e.args), ")"), Level::Postfix};
  }
  if (e.op == ScalarOp::Neg) {
    DocPtr operand = is_number(e.args[0]) ? parenthesised(print(e.args[0]).doc) : at(e.args[0], Level::Unary);
    return {docs_.concat({docs_.text("-"), operand}), Level::Unary};
  }
  if (e.op == ScalarOp::Not)
    return {docs_.concat({docs_.text("not "), at(e.args[0], Level::Not)}), Level::Not};
  std::string name(info(e.op).name);
  const Infix* infix = std::ranges::find(kInfix, e.op, &Infix::op);
  if (infix == std::end(kInfix)) return {docs_.list(name + "(", items(e.args), ")"), Level::Postfix};
  DocPtr left = at(e.args[0], infix->level);
  DocPtr right = docs_.concat({docs_.line(), docs_.text(name + " "), at(e.args[1], next(infix->level))});
  return {docs_.group(docs_.concat({left, docs_.indent(right)})), infix->level};
}

Printed Printer::node(const ReadExpr& e) {
  if (e.indices.empty()) return print(e.tensor);
  DocPtr tensor = at(e.tensor, Level::Postfix);
  DocPtr read = docs_.concat({tensor, docs_.list("[", items(e.indices), "]")});
  if (!e.otherwise) return {read, Level::Postfix};
  DocPtr otherwise = docs_.concat({docs_.line(), docs_.text("else "), at(e.otherwise, Level::Unary)});
  return {docs_.group(parenthesised(docs_.concat({read, docs_.indent(otherwise)}))), Level::Postfix};
}

}  // namespace quern::printer_detail
