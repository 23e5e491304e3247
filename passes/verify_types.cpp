#include "passes/verify_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/expr/scheduled.h"
#include "ir/type/row_types.h"
#include "ir/value/value_style.h"

namespace quern {

namespace {

/// A format of `print` beside a value.
bool is_format(std::string_view text) {
  return text.empty() || (text.starts_with(':') && with_format({}, text.substr(1)));
}

/// Decides which types may occur where others are expected.
class Fit {
 public:
  explicit Fit(const std::unordered_set<Dim>& checked) : checked_(checked) {}

  bool operator()(Dim a, Dim b) const { return a == b || is_open(a) || is_open(b); }
  bool operator()(Type a, Type b) const {
    if (a == b) return true;
    const bool same_kind = a->kind == b->kind && a->id == b->id && a->dtype == b->dtype;
    return same_kind && a->kind != TypeKind::Var && std::ranges::equal(a->dims, b->dims, *this) &&
           std::ranges::equal(a->args, b->args, *this);
  }

 private:
  bool is_open(Dim dim) const {
    bool open = dim->has_any || contains_opened(dim);
    for_each_var(dim, [&](Dim var) { open = open || checked_.contains(var); });
    return open;
  }
  const std::unordered_set<Dim>& checked_;
};

bool is_element(ExprPtr expr, DType dtype) { return expr->type->is_scalar() && expr->type->dtype == dtype; }
bool is_index(ExprPtr expr) { return is_element(expr, DType::index()); }

/// The checks of each kind of node, and their reports.
class Misfits {
 public:
  explicit Misfits(const std::unordered_set<Dim>& checked) : fits(checked) {}

  const Fit fits;
  std::string text;

  void of(const ConstExpr& e) {
    const Shape& shape = e.value->shape();
    auto same = [](Dim dim, int64_t extent) { return is_const(dim, extent); };
    require(e.type->is_tensor() && e.type->dtype == e.value->dtype() &&
                std::ranges::equal(e.type->dims, shape, same),
            "a constant has another type than its tensor");
  }
  void of(const VarExpr& e) {
    // A polymorphic function is used at other dims and types.
    require(e.type == e.variable->type || e.type->kind == TypeKind::Function,
            "a use of %{} has another type than the variable: {} and {}", e.variable->name, e.type,
            e.variable->type);
  }
  void of(const GlobalExpr& e) {
    require(!e.name.empty() && e.type->kind == TypeKind::Function, "a global is no function");
  }
  void of(const OpCallExpr& e) {
    const FnExpr* function = e.instance->function;
    require(e.dims.size() <= e.instance->dim_vars.size(), "a call has more dims than its operator");
    if (!function) return;
    require(function->params.size() == e.args.size(),
            "a call has another number of arguments than its operator");
    if (!text.empty()) return;
    for (size_t i = 0; i < e.args.size(); ++i)
      require(is_like(e.args[i]->type, function->params[i]->type),
              "argument {} of a call does not fit its operator: {} and {}", i, e.args[i]->type,
              function->params[i]->type);
  }
  void of(const CallExpr& e) {
    Type f = e.callee->type;
    require(f->kind == TypeKind::Function && f->params().size() == e.args.size(),
            "a call has another number of arguments than its callee");
    if (!text.empty()) return;
    for (size_t i = 0; i < e.args.size(); ++i)
      same(e.args[i]->type, f->params()[i], "argument {} of a call does not fit its callee", i);
    same(e.type, f->result(), "a call has another type than its callee's result");
  }
  void of(const FnExpr& e) {
    Type f = e.type;
    require(f->kind == TypeKind::Function && f->params().size() == e.params.size(),
            "a function has another number of parameters than its type");
    if (!text.empty()) return;
    for (size_t i = 0; i < e.params.size(); ++i)
      same(e.params[i]->type, f->params()[i], "a parameter has another type than in its function's type");
    same(e.body->type, f->result(), "a function's body has another type than its result");
    auto is_loops = [](ExprPtr part) { return part->kind == ExprKind::Comprehension; };
    auto* rows = as<BlockExpr>(e.body);
    require(!e.primitive || is_loops(e.body) ||
                (rows && is_loops(rows->result) &&
                 std::ranges::all_of(rows->bindings,
                                     [&](const Binding& b) { return b.variable && is_loops(b.value); })),
            "a primitive function is no index expression");
  }
  void of(const BlockExpr& e) {
    for (const Binding& b : e.bindings)
      if (b.variable) same(b.value->type, b.variable->type, "a binding has another type than its variable");
    same(e.type, e.result->type, "a block has another type than its result");
  }
  void of(const IfExpr& e) {
    require(is_element(e.condition, DType::boolean()), "a condition is no bool");
    same(e.then_arm->type, e.type, "an arm has another type than its condition");
    same(e.else_arm->type, e.type, "an arm has another type than its condition");
  }
  void of(const MatchExpr& e) {
    for (const MatchArm& arm : e.arms) {
      of_pattern(*arm.pattern, e.scrutinee->type);
      same(arm.body->type, e.type, "an arm has another type than its match");
    }
  }
  void of(const TupleExpr& e) {
    require(e.type->kind == TypeKind::Tuple && e.type->args.size() == e.fields.size(),
            "a tuple has another number of fields than its type");
    if (!text.empty()) return;
    for (size_t i = 0; i < e.fields.size(); ++i)
      same(e.fields[i]->type, e.type->args[i], "a field has another type than in its tuple");
  }
  void of(const FieldExpr& e) {
    Type t = e.tuple->type;
    if (t->kind == TypeKind::Data) return;
    require(t->kind == TypeKind::Tuple && e.index < t->args.size(), "a tuple has no such field");
    if (text.empty()) same(e.type, t->args[e.index], "a field has another type than in its tuple");
  }
  void of(const ConstructExpr& e) {
    require(e.type->kind == TypeKind::Data && e.constructor->fields.size() == e.fields.size(),
            "a constructor has another number of fields than its declaration");
  }
  void of(const RefExpr& e) { same_content(e.type, e.content->type); }
  void of(const RefReadExpr& e) { same_content(e.reference->type, e.type); }
  void of(const RefWriteExpr& e) {
    same_content(e.reference->type, e.content->type);
    require(e.type->is_unit(), "a write has a value");
  }
  /// Labels and values that are printed, from args[begin] to args[end].
  void line(const IntrinsicExpr& e, size_t begin, size_t end) {
    for (size_t i = begin; i < end && text.empty(); ++i)
      require(!e.args[i] || is_format(e.texts[i]), "a value is printed in what is no format");
  }
  /// A file's name before a last argument, or before null.
  void file_name(const IntrinsicExpr& e, bool has_value) {
    const size_t count = e.args.size();
    require(count > 1 && count == e.texts.size() && (e.args.back() != nullptr) == has_value,
            "`{}` has another number of arguments", to_string(e.intrinsic));
    if (text.empty()) line(e, 0, count - 1);
    for (size_t i = 0; i + 1 < count && text.empty(); ++i)
      require(!e.args[i] || e.args[i]->type->is_scalar(), "the name of a file has a value without rank 0");
  }
  void of(const IntrinsicExpr& e) {
    auto arguments = [&](bool holds) {
      require(holds, "`{}` has another number of arguments", to_string(e.intrinsic));
      return text.empty();
    };
    switch (e.intrinsic) {
      case IntrinsicKind::Load: file_name(e, false); break;
      case IntrinsicKind::Save: file_name(e, true); break;
      case IntrinsicKind::Restore:
        file_name(e, true);
        if (text.empty()) same(e.type, e.args.back()->type, "`restore` has another type");
        break;
      case IntrinsicKind::NextKey: arguments(e.args.empty() && e.texts.empty()); break;
      case IntrinsicKind::Progress:
      case IntrinsicKind::Print:
        if (arguments(e.args.size() == e.texts.size())) line(e, 0, e.args.size());
        break;
      case IntrinsicKind::Assert:
        arguments(e.args.size() == 2 && (e.texts.empty() || e.texts.size() == 2));
        break;
      case IntrinsicKind::Clock:
        if (arguments(e.args.empty() && e.texts.empty()))
          same(e.type, scalar_type(DType::float64()), "`clock` has another type");
        break;
      case IntrinsicKind::ScanOver: of_scan(e); break;
      case IntrinsicKind::ToDevice:
        if (arguments(e.args.size() == 1 && e.texts.size() == 2))
          same(e.type, e.args[0]->type, "`to_device` has another type");
        break;
      case IntrinsicKind::Gradient:
      case IntrinsicKind::ValueAndGradient:
      case IntrinsicKind::VectorJacobian:
      case IntrinsicKind::JacobianVector:
      case IntrinsicKind::Vmap:
        if (arguments(e.args.size() == 1))
          require(e.args[0]->type->kind == TypeKind::Function && e.type->kind == TypeKind::Function,
                  "`{}` takes or makes what is no function", to_string(e.intrinsic));
        break;
      case IntrinsicKind::Checkpoint:
      case IntrinsicKind::Specialize:
      case IntrinsicKind::StopGradient:
        if (arguments(e.args.size() == 1))
          same(e.type, e.args[0]->type, "`{}` has another type", to_string(e.intrinsic));
        break;
      case IntrinsicKind::WithGradient:
        if (arguments(e.args.size() >= 2)) same(e.type, e.args[0]->type, "`with_gradient` has another type");
        break;
    }
  }
  void of_scan(const IntrinsicExpr& e) {
    auto* step = e.args.size() == 3 ? as<FnExpr>(e.args[0]) : nullptr;
    require(step && step->params.size() == 2, "`scan_over` has no function literal of two parameters");
    if (!text.empty()) return;
    Type carry = e.args[1]->type, rows = e.args[2]->type, step_result = step->body->type;
    Type row = row_type(rows);
    require(row && step_result->kind == TypeKind::Tuple && step_result->args.size() == 2,
            "`scan_over` goes over no rows, or its function makes no pair");
    if (!text.empty()) return;
    same(step->params[0]->type, carry, "a carry has another type than the first");
    same(step->params[1]->type, row, "a row has another type than the parameter");
    same(step_result->args[0], carry, "a step's carry has another type than the first");
    same(e.type, tuple_type(std::vector<Type>{carry, rows_type(step_result->args[1], row_count(rows))}),
         "`scan_over` has another type than its parts");
  }
  void of(const CheckDimsExpr& e) {
    require(std::ranges::all_of(e.opened, [](Dim dim) { return dim->kind == DimKind::Var; }),
            "what a check opens is no variable");
    if (e.value) require(is_like(e.value->type, e.type), "a check has another type than its value");
  }
  void of(const ExternExpr& e) { require(!e.kernel.empty(), "an extern call names no kernel"); }
  void of(const ComprehensionExpr& e) {
    binds(e);
    require(e.type->is_tensor() && std::ranges::equal(e.type->dims, e.extents, fits),
            "an index expression has other extents than its type");
    require(is_element(e.body, e.type->dtype), "an index expression's body has another dtype");
    require(!e.schedule || e.scheduled.size() == tensors_of(e.schedule->schedule).size(),
            "a schedule names another number of tensors than it has");
    auto* scatter = as<ScatterExpr>(e.body);
    require(!scatter || scatter->indices.size() == e.vars.size(),
            "a scatter has another number of indices than its index expression");
  }
  void of(const ViewExpr& e) {
    require(e.type->is_tensor() && e.tensor->type->is_tensor() && e.type->dtype == e.tensor->type->dtype,
            "a view has another dtype than its tensor");
    if (!text.empty()) return;
    auto from = as_const(dim_product(e.tensor->type->dims)), to = as_const(dim_product(e.type->dims));
    require(!from || !to || *from == *to, "a view has another number of elements than its tensor");
  }
  void of(const DimValueExpr& e) { require(is_index(&e), "a dim's value is no index"); }
  void of(const ScalarExpr& e) {
    const size_t arity = e.is_cast ? 1 : static_cast<size_t>(info(e.op).arity);
    require(e.args.size() == arity, "`{}` has another number of operands", name_of(e));
    if (!text.empty()) return;
    const DType dtype = e.args[0]->type->dtype;
    require(std::ranges::all_of(e.args, [&](ExprPtr arg) { return is_element(arg, dtype); }),
            "operands of `{}` are of several dtypes", name_of(e));
    require(is_element(&e, e.is_cast ? e.type->dtype : result_dtype(e.op, dtype)),
            "`{}` has another dtype than its operands give it", name_of(e));
  }
  void of(const ReduceExpr& e) {
    binds(e);
    const bool is_logic = e.reduce == ReduceKind::Any || e.reduce == ReduceKind::All;
    const DType dtype = is_arg(e.reduce) ? DType::index() : is_logic ? DType::boolean() : e.body->type->dtype;
    require(e.body->type->is_scalar() && is_element(&e, dtype),
            "a reduction has another dtype than its body");
  }
  void of(const ScanExpr& e) {
    binds(e);
    require(e.vars.size() == 1 && e.type == e.body->type,
            "a scan has another dtype than its body, or more than one variable");
  }
  void of(const ScatterExpr& e) {
    binds(e);
    require(e.checked.size() == e.indices.size(), "a scatter has another number of checks than indices");
    require(std::ranges::all_of(e.indices, is_index), "an index of a scatter is no index");
    require(e.type == e.init->type && e.type == e.value->type,
            "a scatter has another dtype than its init or its value");
  }
  void of(const ReadExpr& e) {
    require(e.tensor->type->is_tensor() && e.tensor->type->dims.size() == e.indices.size(),
            "a read has another number of indices than its tensor has dims");
    require(e.checked.size() == e.indices.size(), "a read has another number of checks than indices");
    require(std::ranges::all_of(e.indices, is_index), "an index of a read is no index");
    require(is_element(&e, e.tensor->type->dtype), "a read has another dtype than its tensor");
    require(!e.otherwise || e.otherwise->type == e.type, "a read has another dtype than its `else`");
  }
  void of(const ErrorExpr&) { require(false, "an error is left"); }

 private:
  static std::string shown(Type type) { return to_string(type); }
  static std::string_view shown(std::string_view name) { return name; }
  static size_t shown(size_t number) { return number; }
  template <class... Parts>
  using Reason = fmt::format_string<decltype(shown(std::declval<Parts>()))...>;

  /// The reason is put into words only where it is needed: nearly every node is as it should be.
  template <class... Parts>
  void require(bool holds, Reason<Parts...> reason, const Parts&... parts) {
    if (!holds && text.empty()) text = fmt::format(reason, shown(parts)...);
  }
  template <class... Parts>
  void same(Type a, Type b, Reason<Parts...> what, const Parts&... parts) {
    if (!fits(a, b) && text.empty())
      text = fmt::format(what, shown(parts)...) + fmt::format(": {} and {}", shown(a), shown(b));
  }
  void same_content(Type reference, Type content) {
    require(reference->kind == TypeKind::Ref && fits(reference->args[0], content),
            "what a reference holds has another type");
  }
  /// Checks variables and extents.
  template <class Node>
  void binds(const Node& e) {
    require(e.vars.size() == e.extents.size(), "variables and extents differ in number");
    require(std::ranges::all_of(e.vars, [](Dim var) { return var->kind == DimKind::Var; }),
            "an index variable is no variable");
  }
  /// Whether dtypes and ranks are equal: a callee has its own dims.
  static bool is_like(Type a, Type b) {
    if (a->kind != b->kind) return false;
    if (a->is_tensor()) return a->dtype == b->dtype && a->dims.size() == b->dims.size();
    return a->kind != TypeKind::Tuple || std::ranges::equal(a->args, b->args, is_like);
  }
  static std::string_view name_of(const ScalarExpr& e) { return e.is_cast ? "cast" : info(e.op).name; }

  void of_pattern(const Pattern& pattern, Type value) {
    same(pattern.type, value, "a pattern has another type than what it is matched with");
    if (pattern.variable) same(pattern.variable->type, value, "a pattern's variable has another type");
    if (pattern.kind == PatternKind::Constructor)
      require(pattern.constructor->fields.size() == pattern.parts.size(),
              "a pattern has another number of fields than its constructor");
    const bool is_tuple = pattern.kind == PatternKind::Tuple;
    require(!is_tuple || (value->kind == TypeKind::Tuple && value->args.size() == pattern.parts.size()),
            "a pattern has another number of fields than its tuple");
    if (!text.empty()) return;
    for (size_t i = 0; i < pattern.parts.size(); ++i)
      of_pattern(*pattern.parts[i], is_tuple ? value->args[i] : pattern.parts[i]->type);
  }
};

bool has_function(Type type) {
  return type->kind == TypeKind::Function || std::ranges::any_of(type->args, has_function);
}

}  // namespace

std::string misfit(ExprPtr expr, const std::unordered_set<Dim>& checked) {
  if (!expr->type || expr->type->has_infer) return "a node has no type";
  Misfits misfits(checked);
  visit(expr, [&](const auto& node) { misfits.of(node); });
  return std::move(misfits.text);
}

std::vector<Dim> scoped_dims(Type type) {
  std::vector<Dim> dims;
  if (has_function(type)) return dims;
  for_each_dim_var(type, [&](Dim var) {
    if (std::ranges::find(dims, var) == dims.end()) dims.push_back(var);
  });
  return dims;
}

}  // namespace quern
