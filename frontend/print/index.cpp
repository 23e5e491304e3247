// Printing of constants and index expressions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "frontend/print/printer_impl.h"
#include "ir/expr/scheduled.h"
#include "ir/value/scalar.h"
#include "ir/value/tensor.h"

namespace quern::printer_detail {

namespace {

constexpr int64_t kInlineElements = 32;

struct Infix {
  ScalarOp op;
  Level level;
};
// The scalar functions written as infix operators; the others are calls.
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
    // bfloat16 has no suffix: a float without one takes its dtype from the context.
    case DTypeCode::BFloat:
    case DTypeCode::Bool:
    case DTypeCode::Index:
    case DTypeCode::Infer:
    case DTypeCode::Var: return "";
  }
  return "";
}

/// A number of the tensor, or a lane of a vector.
Scalar scalar_at(const HostTensor& tensor, int64_t offset) {
  Scalar value{tensor.dtype().lane()};
  if (!value.dtype.is_float()) return Scalar::from_int(value.dtype, element_as_int(tensor, offset));
  const size_t width = value.dtype.bytes();
  std::memcpy(&value.bits, tensor.data() + static_cast<size_t>(offset) * width, width);
  return value;
}

/// `2f`, `1i64`, `True`, `-nanf`.
std::string element(const HostTensor& tensor, int64_t offset) {
  Scalar value = scalar_at(tensor, offset);
  std::string text = to_string(value);
  if (value.dtype.is_float() && std::isnan(value.as_double()) && std::signbit(value.as_double()))
    text = "-" + text;
  bool bare_float = value.dtype.code == DTypeCode::BFloat;
  if (bare_float && text.find_first_of(".ein") == std::string::npos) text += ".0";
  return text + number_suffix(value.dtype);
}

/// Of the NaNs, only `nan` and `-nan` have one.
bool has_literal(const HostTensor& tensor, int64_t offset) {
  if (!tensor.dtype().is_float()) return true;
  Scalar value = scalar_at(tensor, offset);
  double number = value.as_double();
  auto is = [&](double nan) { return value.bits == Scalar::from_double(value.dtype, nan).bits; };
  return number == number || is(std::nan("")) || is(-std::nan(""));
}

/// Whether it is a list of empty lists, such as `[[], []]`: floats for want of any element.
bool is_list_of_nothing(const HostTensor& tensor) {
  const auto& shape = tensor.shape();
  return tensor.dtype() == DType::float32() && !shape.empty() && shape.back() == 0 &&
         element_count({shape.data(), shape.size() - 1}) <= kInlineElements &&
         std::ranges::find(shape, 0) == shape.end() - 1;
}

/// Whether the tensor is printed in full: it is small, and its values have literals.
bool is_plain(const HostTensor& tensor) {
  if (is_list_of_nothing(tensor)) return true;
  bool plain = tensor.dtype().has_one_lane() && tensor.size() > 0 && tensor.size() <= kInlineElements;
  for (int64_t i = 0; plain && i < tensor.size(); ++i) plain = has_literal(tensor, i);
  return plain;
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

/// Whether it prints as a literal, which would absorb a minus before it.
bool is_number(ExprPtr expr) {
  if (auto* read = as<ReadExpr>(expr)) return read->indices.empty() && is_number(read->tensor);
  if (auto* dim = as<DimValueExpr>(expr)) return as_const(dim->dim).has_value();
  return expr->kind == ExprKind::Const;
}

}  // namespace

/// Nested lists; `offset` counts the lists of this depth, row-major.
void Printer::nested_lists(const HostTensor& tensor, size_t axis, int64_t offset) {
  if (axis == tensor.shape().size()) return text(element(tensor, offset));
  int64_t count = tensor.shape()[axis];
  list(
      "[", static_cast<size_t>(count),
      [&](size_t i) { nested_lists(tensor, axis + 1, offset * count + static_cast<int64_t>(i)); }, "]");
}

Level Printer::node(const ConstExpr& e) {
  if (!e.value) {
    text("<error>");
    return Level::Postfix;
  }
  const HostTensor& tensor = *e.value;
  bool is_element = index_depth_ > 0 && tensor.shape().empty();
  if (is_element && tensor.dtype().is_vector() && lanes_agree(tensor) && has_literal(tensor, 0)) {
    text(fmt::format("cast<{}>({})", to_string(tensor.dtype()), element(tensor, 0)));
    return Level::Postfix;
  }
  if (!is_plain(tensor)) {
    text(fmt::format("meta[relay.Constant][{}]", constants_.add(e.value)));
    return Level::Postfix;
  }
  nested_lists(tensor, 0, 0);
  if (!tensor.shape().empty()) return Level::Primary;
  return steps_.back().text.starts_with("-") ? Level::Unary : Level::Postfix;
}

std::string Printer::dim_text(Dim dim) { return to_string(names_.renamed(dim)); }

std::string Printer::binders(std::span<const Dim> vars, std::span<const Dim> extents) {
  // With no axes: an empty pack, since a binder list must not be empty.
  if (vars.empty()) return ".._ < ()";
  std::vector<std::string> ranges;
  for (Dim extent : extents) ranges.push_back(dim_text(extent));
  std::string out;
  for (size_t i = 0; i < vars.size(); ++i) {
    names_.bind(vars[i]);
    out += fmt::format("{}{}", i > 0 ? ", " : "", names_.of(vars[i]));
    if (scheduled_depth_ > 0) bound_as_[vars[i]] = names_.of(vars[i]);
    if (i < ranges.size()) out += " < " + ranges[i];
  }
  return out;
}

void Printer::body(std::string head, std::span<const Dim> vars, ExprPtr body, Level level) {
  open();
  text(std::move(head));
  indent();
  line();
  run([this] { ++index_depth_; });
  at(body, level);
  run([this] { --index_depth_; });
  dedent();
  close();
  run([this, vars] {
    for (Dim var : vars) names_.release(var);
  });
}

Level Printer::node(const ComprehensionExpr& e) {
  if (auto items = slice_items(e)) {
    slice(*as<ReadExpr>(e.body), *items);
    return Level::Postfix;
  }
  scheduled_depth_ += e.schedule ? 1 : 0;
  body("[" + binders(e.vars, e.extents) + "] =>", e.vars, e.body, Level::Open);
  if (!e.schedule) return Level::Open;
  run([this, &e] {
    --scheduled_depth_;
    own_schedule(e);
  });
  return Level::Scheduled;
}

void Printer::own_schedule(const ComprehensionExpr& e) {
  std::vector<std::string> tensors = tensors_of(e.schedule->schedule);
  for (size_t k = 0; k < tensors.size() && k < e.scheduled.size(); ++k)
    if (auto* var = as<VarExpr>(e.scheduled[k])) tensors[k] = names_.of(var->variable);
  std::map<std::string, std::string> names;
  for (const NamedLoop& loop : loops_of(e))
    if (auto bound = bound_as_.find(loop.var); bound != bound_as_.end()) names[loop.name] = bound->second;
  schedule(with_loops(with_tensors(e.schedule->schedule, tensors), names));
}

void Printer::schedule(const loops::Schedule& schedule) {
  open();
  text(" schedule {");
  indent();
  for (size_t k = 0; k < schedule.steps.size(); ++k) {
    line();
    text(to_string(schedule.steps[k]) + (k + 1 < schedule.steps.size() ? ";" : ""));
  }
  dedent();
  line();
  text("}");
  close();
}

Level Printer::node(const ReduceExpr& e) {
  body(fmt::format("{}[{}]", to_string(e.reduce), binders(e.vars, e.extents)), e.vars, e.body,
       Level::Reduction);
  return Level::Reduction;
}

Level Printer::node(const ScanExpr& e) {
  // `k <= i` if the extent is i + 1: picks the spelling whose bound is an index variable.
  Dim extent = e.extents[0], before = dim_sub(extent, dim_const(1));
  bool inclusive = extent->kind != DimKind::Var && before->kind == DimKind::Var;
  std::string bound = dim_text(inclusive ? before : extent);
  names_.bind(e.vars[0]);
  std::string_view op = e.reduce == ReduceKind::Sum    ? "+"
                        : e.reduce == ReduceKind::Prod ? "*"
                                                       : to_string(e.reduce);
  body(fmt::format("scan[{} {} {}] {}", names_.of(e.vars[0]), inclusive ? "<=" : "<", bound, op), e.vars,
       e.body, Level::Reduction);
  return Level::Reduction;
}

Level Printer::node(const ScatterExpr& e) {
  open();
  text(fmt::format("scatter[{}] ", binders(e.vars, e.extents)));
  at(e.init, Level::Unary);
  indent();
  line();
  list("at (", e.indices, ")");
  text(fmt::format(" {}", to_string(e.scatter)));
  line();
  at(e.value, Level::Reduction);
  dedent();
  close();
  run([this, vars = e.vars] {
    for (Dim var : vars) names_.release(var);
  });
  return Level::Reduction;
}

Level Printer::node(const CheckDimsExpr& e) {
  Level level = e.value ? node(e.value) : Level::Postfix;
  std::vector<std::string> parts;
  for (Dim dim : e.opened) parts.push_back(fmt::format("? = {}", to_string(names_.renamed(dim))));
  for (const DimCondition& c : e.conditions) {
    constexpr std::string_view kSigns[] = {"==", "!=", "<=", "~"};
    parts.push_back(fmt::format("{} {} {}", to_string(names_.renamed(c.left)),
                                kSigns[static_cast<size_t>(c.relation)], to_string(names_.renamed(c.right))));
  }
  std::string comment = fmt::format("{}/* check {} */", e.value ? " " : "() ", fmt::join(parts, ", "));
  run([this, comment] { text(comment); });
  return level;
}

Level Printer::node(const ExternExpr& e) {
  list(fmt::format("extern {}(", e.kernel), e.args, ")");
  return Level::Postfix;
}

Level Printer::node(const ViewExpr& e) {
  list("view(", {{e.tensor}}, ")");
  return Level::Postfix;
}

Level Printer::node(const DimValueExpr& e) {
  Dim dim = names_.renamed(e.dim);
  if (index_depth_ == 0 && dim->kind != DimKind::Var) {
    // Outside index expressions, `2` is an int32 and `n + 1` a sum of two values.
    text(fmt::format("index({})", to_string(dim)));
    return Level::Postfix;
  }
  text(to_string(dim));
  return level_of(dim);
}

Level Printer::node(const ScalarExpr& e) {
  if (e.is_cast) {
    DType to = e.type->dtype;
    list(to.is_index() ? "index(" : "cast<" + to_string(to) + ">(", e.args, ")");
    return Level::Postfix;
  }
  if (e.op == ScalarOp::Neg) {
    bool number = is_number(e.args[0]);
    text(number ? "-(" : "-");
    at(e.args[0], number ? Level::Open : Level::Unary);
    if (number) text(")");
    return Level::Unary;
  }
  if (e.op == ScalarOp::Not) {
    text("not ");
    at(e.args[0], Level::Not);
    return Level::Not;
  }
  std::string name(info(e.op).name);
  const Infix* infix = std::ranges::find(kInfix, e.op, &Infix::op);
  if (infix == std::end(kInfix)) {
    list(name + "(", e.args, ")");
    return Level::Postfix;
  }
  open();
  at(e.args[0], infix->level);
  indent();
  line();
  text(name + " ");
  at(e.args[1], next(infix->level));
  dedent();
  close();
  return infix->level;
}

Level Printer::node(const ReadExpr& e) {
  if (e.indices.empty()) return node(e.tensor);
  if (e.otherwise) {
    open();
    text("(");
  }
  at(e.tensor, Level::Postfix);
  list("[", e.indices, "]");
  if (e.otherwise) {
    indent();
    line();
    text("else ");
    at(e.otherwise, Level::Unary);
    dedent();
    text(")");
    close();
  }
  return Level::Postfix;
}

}  // namespace quern::printer_detail
