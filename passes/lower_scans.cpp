#include "passes/lower_scans.h"

#include <functional>
#include <utility>
#include <vector>

#include "ir/extern/kernels.h"
#include "ir/type/row_types.h"
#include "passes/inline_local.h"
#include "passes/scalar_builder.h"
#include "passes/scan_over.h"
#include "passes/to_anf.h"

namespace quern {

namespace {

//   let %step = fn (%k, %carry, %ys) {
//     if (%k < n) {
//       let %next = f(%carry, row %k of %xs);
//       %step(%k + 1, %next.0, %ys with %next.1 as row %k)
//     } else { (%carry, %ys) }
//   };
//   %step(0, init, zeros)
//
// The rows of a tuple are parameters of their own, so that each is held by its parameter alone.
class Loop {
 public:
  Loop(Arena& arena, const IntrinsicExpr& scan, bool is_differentiable)
      : arena_(arena),
        scan_(scan),
        is_differentiable_(is_differentiable),
        build_(arena, scan.origin),
        count_(row_count(scan.args[2]->type)) {}

  ExprPtr made() {
    const Type carry_type = scan_.args[1]->type, index = scalar_type(DType::index());
    ExprPtr xs = bound("xs", scan_.args[2], outside_);
    const Variable* k = make_variable(arena_, "k", index);
    const Variable* carry = make_variable(arena_, "carry", carry_type);
    params_ = {k, carry};
    add_rows(scan_.type->args[1]);
    std::vector<Type> types;
    for (const Variable* param : params_) types.push_back(param->type);
    loop_ = make_variable(arena_, "step", function_type(types, scan_.type));

    ExprPtr last = build_.tuple({read(carry), whole(scan_.type->args[1])});
    ExprPtr body = build_.choose(build_.apply(ScalarOp::Lt, {read(k), build_.dim(count_)}),
                                 step(read(k), read(carry), xs), last);
    outside_.push_back({loop_, function_literal(arena_, params_, {}, body, scan_.origin)});
    std::vector<ExprPtr> first{build_.cast(build_.dim(dim_const(0)), DType::index()), scan_.args[1]};
    for (size_t i = 2; i < params_.size(); ++i) first.push_back(zeros(params_[i]->type));
    return block_of(arena_, outside_, call(read(loop_), first, scan_.type), scan_.origin);
  }

 private:
  Expr head(ExprKind kind, Type type) const { return {kind, type, scan_.origin}; }
  ExprPtr read(const Variable* v) const { return read_of(arena_, v, scan_.origin); }
  ExprPtr bound(std::string_view name, ExprPtr value, std::vector<Binding>& out) const {
    if (is_atom(value)) return value;
    out.push_back({make_variable(arena_, name, value->type), value});
    return read(out.back().variable);
  }
  ExprPtr field(ExprPtr of, uint32_t i) const {
    return arena_.make<FieldExpr>(head(ExprKind::Field, of->type->args[i]), of, i, std::string_view());
  }
  ExprPtr call(ExprPtr callee, const std::vector<ExprPtr>& args, Type result) const {
    return arena_.make<CallExpr>(head(ExprKind::Call, result), callee, arena_.copy(args));
  }

  void add_rows(Type type) {
    if (type->is_tensor()) return params_.push_back(make_variable(arena_, "ys", type));
    for (Type part : type->args) add_rows(part);
  }
  // The rows of the result as one value.
  ExprPtr whole(Type type) {
    size_t next = 2;
    return whole(type, next);
  }
  ExprPtr whole(Type type, size_t& next) {
    if (type->is_tensor()) return read(params_[next++]);
    std::vector<ExprPtr> parts;
    for (Type part : type->args) parts.push_back(whole(part, next));
    return build_.tuple(parts);
  }

  ExprPtr step(ExprPtr k, ExprPtr carry, ExprPtr xs) {
    std::vector<Binding> bindings;
    ExprPtr at = k;
    if (is_reverse(scan_))
      at = bound("at", build_.sub(build_.dim(dim_sub(count_, dim_const(1))), k), bindings);
    ExprPtr row = bound("row", row_at(xs, at), bindings);
    auto& f = *as<FnExpr>(scan_.args[0]);
    ExprSubstitution at_row;
    at_row.variables = {{f.params[0], carry}, {f.params[1], row}};
    ExprPtr next = bound("next", substitute(arena_, f.body, at_row), bindings);
    std::vector<ExprPtr> again{build_.add(k, build_.dim(dim_const(1))), field(next, 0)};
    replace_rows(field(next, 1), at, again);
    return block_of(arena_, bindings, call(read(loop_), again, scan_.type), scan_.origin);
  }

  ExprPtr row_at(ExprPtr xs, ExprPtr k) {
    Type type = xs->type;
    if (!type->is_tensor()) {
      std::vector<ExprPtr> parts;
      for (uint32_t i = 0; i < type->args.size(); ++i) parts.push_back(row_at(field(xs, i), k));
      return build_.tuple(parts);
    }
    const auto shape = std::span(type->dims).subspan(1);
    const std::vector<Dim> vars = variables(shape.size());
    std::vector<ExprPtr> indices{k};
    for (Dim var : vars) indices.push_back(build_.dim(var));
    return build_.comprehension(vars, shape, build_.read_at(xs, indices));
  }

  void replace_rows(ExprPtr row, ExprPtr k, std::vector<ExprPtr>& out) {
    if (row->type->is_tensor()) return out.push_back(with_row(read(params_[out.size()]), k, row));
    for (uint32_t i = 0; i < row->type->args.size(); ++i) replace_rows(field(row, i), k, out);
  }
  ExprPtr with_row(ExprPtr rows, ExprPtr k, ExprPtr row) {
    if (!is_differentiable_) {
      static const ExternAttributes kNone({});
      const std::vector<ExprPtr> args{rows, k, row};
      return arena_.make<ExternExpr>(head(ExprKind::Extern, rows->type), std::string_view("with_row"), &kNone,
                                     arena_.copy(args));
    }
    const std::vector<Dim> vars = variables(rows->type->dims.size());
    ExprPtr here = build_.apply(ScalarOp::Eq, {build_.dim(vars[0]), k});
    ExprPtr element =
        build_.choose(here, build_.read(row, std::span(vars).subspan(1)), build_.read(rows, vars));
    return build_.comprehension(vars, rows->type->dims, element);
  }
  ExprPtr zeros(Type type) const {
    return build_.comprehension(variables(type->dims.size()), type->dims, build_.constant(0, type->dtype));
  }
  static std::vector<Dim> variables(size_t count) {
    std::vector<Dim> vars;
    for (size_t i = 0; i < count; ++i) vars.push_back(dim_var("i"));
    return vars;
  }

  Arena& arena_;
  const IntrinsicExpr& scan_;
  const bool is_differentiable_;
  const ScalarBuilder build_;
  const Dim count_;
  std::vector<Binding> outside_;
  std::vector<const Variable*> params_;  ///< the position, the carry, and the rows of the result
  const Variable* loop_ = nullptr;
};

}  // namespace

ExprPtr lower_scans(const PassContext& context, ExprPtr expr) {
  bool any = false;
  const std::function<ExprPtr(ExprPtr)> lowered = [&](ExprPtr at) {
    const bool scans = as_scan(at) != nullptr;
    // A step may be a call of a literal that is over dims: its copy would be over others than its use.
    if (scans) at = inline_local(context, at);
    ExprPtr inside =
        map_children(context.arena, at, [&](ExprPtr child) { return child ? lowered(child) : child; });
    if (!scans) return inside;
    auto* scan = static_cast<const IntrinsicExpr*>(inside);
    any = true;
    return Loop(context.arena, *scan, false).made();
  };
  ExprPtr result = lowered(expr);
  return any ? to_anf(context, result) : expr;
}

ExprPtr differentiable_loop(Arena& arena, const IntrinsicExpr& scan) {
  return Loop(arena, scan, true).made();
}

}  // namespace quern
