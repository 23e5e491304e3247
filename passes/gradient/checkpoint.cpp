#include "passes/gradient/checkpoint.h"

#include <algorithm>
#include <optional>

#include "frontend/infer/context/gradient_types.h"
#include "passes/gradient/lifting/lifted.h"
#include "passes/partial_eval/partial_eval.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

class Checkpoint {
 public:
  Checkpoint(const PassContext& context, const FnExpr& f, Origin origin)
      : context_(context), arena_(context.arena), f_(f), origin_(origin) {}

  const FnExpr* made() {
    std::vector<const Variable*> params;
    for (const Variable* param : f_.params) {
      params.push_back(make_variable(arena_, param->name, param->type));
      operand(param, read(params.back()));
    }
    for (const Variable* free : free_variables(&f_))
      if (free->type->kind != TypeKind::Function && !lifting::is_constant(free->type))
        operand(free, read(free));
    if (!is_possible_) return nullptr;
    const FnExpr* flat = over_leaves();
    const Type result = f_.body->type;
    std::vector<ExprPtr> parts{call(flat, leaves_, result), clause(*flat, result)};
    parts.insert(parts.end(), leaves_.begin(), leaves_.end());
    ExprPtr body = intrinsic(IntrinsicKind::WithGradient, result, parts);
    return as<FnExpr>(function(params, f_.dim_vars, block_of(arena_, reads_, body, origin_)));
  }

 private:
  Expr head(ExprKind kind, Type type) const { return {kind, type, origin_}; }
  ExprPtr read(const Variable* v) const { return read_of(arena_, v, origin_); }
  ExprPtr field(ExprPtr of, uint32_t index, Type type, std::string_view name = {}) const {
    return arena_.make<FieldExpr>(head(ExprKind::Field, type), of, index, name);
  }
  ExprPtr call(ExprPtr callee, const std::vector<ExprPtr>& args, Type result) const {
    return arena_.make<CallExpr>(head(ExprKind::Call, result), callee, arena_.copy(args));
  }
  ExprPtr intrinsic(IntrinsicKind kind, Type type, const std::vector<ExprPtr>& args) const {
    return arena_.make<IntrinsicExpr>(head(ExprKind::Intrinsic, type), kind, arena_.copy(args),
                                      std::span<const std::string_view>());
  }
  ExprPtr function(const std::vector<const Variable*>& params, std::span<const Dim> dims,
                   ExprPtr body) const {
    std::vector<Type> types;
    types.reserve(params.size());
    for (const Variable* param : params) types.push_back(param->type);
    return arena_.make<FnExpr>(head(ExprKind::Fn, function_type(types, body->type)), arena_.copy(params),
                               dims, body, false);
  }

  /// The only constructor of a record, whose fields do not hold its type; nothing for other types.
  std::optional<TypedConstructor> record(Type type) {
    if (type->kind != TypeKind::Data || std::ranges::count(around_, type) > 0) return std::nullopt;
    std::vector<TypedConstructor> all = context_.functions.constructors(origin_, type);
    return all.size() == 1 ? std::optional(std::move(all[0])) : std::nullopt;
  }

  // Adds the leaves of a value of `f`, and makes the value of them.
  void operand(const Variable* of, ExprPtr value) {
    if (lifting::is_of_tensors(of->type) || !record(of->type)) {
      leaf(of, value);
    } else {
      bindings_.push_back({of, opened(value)});
      opens_records_ = true;
    }
  }
  void leaf(const Variable* as, ExprPtr value) {
    is_possible_ = is_possible_ && (lifting::is_of_tensors(value->type) || lifting::is_constant(value->type));
    if (value->kind == ExprKind::Field) {
      reads_.push_back({make_variable(arena_, as->name, value->type), value});
      value = read(reads_.back().variable);
    }
    leaves_.push_back(value);
    variables_.push_back(as);
  }

  ExprPtr opened(ExprPtr value) {
    const Type type = value->type;
    std::vector<ExprPtr> parts;
    if (type->kind == TypeKind::Tuple) {
      for (uint32_t i = 0; i < type->args.size(); ++i)
        parts.push_back(opened(field(value, i, type->args[i])));
      return arena_.make<TupleExpr>(head(ExprKind::Tuple, type), arena_.copy(parts));
    }
    const auto constructor = record(type);
    if (!constructor) {
      auto* read_field = as<FieldExpr>(value);
      const bool has_name = read_field && !read_field->name.empty();
      leaf(make_variable(arena_, has_name ? read_field->name : "part", type), value);
      return read(variables_.back());
    }
    around_.push_back(type);
    const auto& [made, fields] = *constructor;
    for (uint32_t i = 0; i < fields.size(); ++i)
      parts.push_back(opened(field(value, i, fields[i], made->fields[i])));
    around_.pop_back();
    return arena_.make<ConstructExpr>(head(ExprKind::Construct, type), made, made->name, arena_.copy(parts));
  }

  // `f` over the leaves, in which records exist no longer.
  const FnExpr* over_leaves() {
    ExprPtr body = bindings_.empty() ? f_.body : block_of(arena_, bindings_, f_.body, origin_);
    ExprPtr flat = substitute(arena_, function(variables_, f_.dim_vars, body), {});
    if (opens_records_) flat = partial_eval(context_, to_anf(context_, flat));
    return as<FnExpr>(flat);
  }

  ExprPtr clause(const FnExpr& flat, Type result) {
    const Variable* cotangent = make_variable(arena_, "cotangent", gradient_type(result));
    std::vector<Type> types, gradients;
    for (ExprPtr leaf : leaves_) {
      types.push_back(leaf->type);
      gradients.push_back(gradient_type(leaf->type));
    }
    types.push_back(cotangent->type);
    const Type pair = tuple_type(std::vector<Type>{result, tuple_type(gradients)});
    ExprPtr vjp =
        intrinsic(IntrinsicKind::VectorJacobian, function_type(types, pair), {substitute(arena_, &flat, {})});
    std::vector<ExprPtr> args = leaves_;
    args.push_back(read(cotangent));
    ExprPtr backward = field(call(vjp, args, pair), 1, tuple_type(gradients));
    if (gradients.size() == 1) backward = field(backward, 0, gradients[0]);
    return function({cotangent}, {}, backward);
  }

  const PassContext& context_;
  Arena& arena_;
  const FnExpr& f_;
  const Origin origin_;
  std::vector<ExprPtr> leaves_;
  std::vector<const Variable*> variables_;  ///< that stand for the leaves in `f`
  std::vector<Binding> reads_;              ///< of the fields that are leaves
  std::vector<Binding> bindings_;           ///< the values of `f` that are made of leaves
  std::vector<Type> around_;
  bool opens_records_ = false;
  bool is_possible_ = true;
};

}  // namespace

const FnExpr* checkpointed(const PassContext& context, const FnExpr& f, Origin origin) {
  return Checkpoint(context, f, origin).made();
}

}  // namespace quern
