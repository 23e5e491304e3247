#include "passes/batch/batch.h"

#include <algorithm>
#include <functional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontend/infer/gradual/open_dims.h"
#include "ir/expr/effects.h"
#include "ir/type/row_types.h"
#include "passes/batch/element.h"
#include "passes/gradient/forward.h"
#include "passes/scan_over.h"

namespace quern {

namespace {

class Batch {
 public:
  Batch(const PassContext& context, Origin origin, Dim count, GradientClauses clauses)
      : arena_(context.arena),
        build_(context.arena, origin),
        effects_(context.functions),
        count_(count),
        clauses_(std::move(clauses)) {}

  bool is_possible() const { return is_possible_; }

  // The function over rows of its parameters.
  const FnExpr* function(const FnExpr& f, std::vector<Binding> first,
                         const std::vector<const Variable*>& params,
                         const std::vector<const Variable*>& exact) {
    effects_.learn(&f);
    for (size_t i = 0; i < exact.size(); ++i) rows_[f.params[i]] = exact[i];
    out_ = std::move(first);
    ExprPtr result = rows_of(f.body);
    return function_literal(arena_, params, f.dim_vars, block_of(arena_, out_, result, f.origin), f.origin);
  }

 private:
  ExprPtr read(const Variable* v) const { return read_of(arena_, v, build_.origin()); }
  ExprPtr field(ExprPtr of, uint32_t i) const {
    return arena_.make<FieldExpr>(Expr{ExprKind::Field, of->type->args[i], build_.origin()}, of, i,
                                  std::string_view());
  }
  ExprPtr named(std::string_view name, ExprPtr value) {
    if (value->kind == ExprKind::Var) return value;
    out_.push_back({make_variable(arena_, name, value->type), value});
    return read(out_.back().variable);
  }
  Type rows(Type row) const { return rows_type(row, count_); }
  Expr head(const Expr& e) const { return {e.kind, rows(e.type), e.origin}; }

  bool has_rows(ExprPtr expr) const {
    return std::ranges::any_of(free_variables(expr), [&](const Variable* v) {
      return rows_.contains(v) || clauses_of_rows_.contains(v);
    });
  }
  // What cannot be batched at all; any value.
  ExprPtr give_up() {
    is_possible_ = false;
    return build_.tuple({});
  }

  // --- values

  // The expression's value for each row.
  ExprPtr rows_of(ExprPtr expr) {
    if (auto* block = as<BlockExpr>(expr)) {
      for (const Binding& b : block->bindings) binding(b);
      return rows_of(block->result);
    }
    if (!is_possible_ || !is_row_type(expr->type)) return give_up();
    return has_rows(expr) ? batched(expr) : repeated(expr);
  }

  void binding(const Binding& b) {
    if (!is_possible_) return;
    if (!has_rows(b.value)) return out_.push_back(b);
    // What has the clause makes one of all rows.
    if (b.value->kind == ExprKind::Fn && clauses_.contains(b.variable)) {
      clauses_of_rows_.insert(b.variable);
      return;
    }
    if (!is_row_type(b.value->type) || leaves_dims_open(b.value->type)) {
      give_up();
      return;
    }
    ExprPtr value = batched(b.value);
    if (!b.variable) return out_.push_back({nullptr, value});
    const Variable* variable = make_variable(arena_, b.variable->name, value->type);
    out_.push_back({variable, value});
    rows_[b.variable] = variable;
  }

  // The same value for every row.
  ExprPtr repeated(ExprPtr expr) {
    Type type = expr->type;
    if (!type->is_tensor()) {
      ExprPtr value = type->args.empty() ? expr : named("same", expr);
      std::vector<ExprPtr> parts;
      for (uint32_t i = 0; i < type->args.size(); ++i) parts.push_back(repeated(field(value, i)));
      return build_.tuple(parts);
    }
    if (leaves_dims_open(type)) return give_up();
    ExprPtr value = is_atom(expr) ? expr : named("same", expr);
    std::vector<Dim> vars = variables(type->dims.size());
    ExprPtr element = build_.read(value, vars);
    std::vector<Dim> extents(type->dims.begin(), type->dims.end());
    vars.insert(vars.begin(), dim_var("row"));
    extents.insert(extents.begin(), count_);
    return build_.comprehension(vars, extents, element);
  }
  static std::vector<Dim> variables(size_t count) {
    std::vector<Dim> vars;
    for (size_t i = 0; i < count; ++i) vars.push_back(dim_var("i"));
    return vars;
  }

  ExprPtr batched(ExprPtr expr) {
    return visit(expr, overloaded{[&](const VarExpr& e) -> ExprPtr { return read(rows_.at(e.variable)); },
                                  [&](const BlockExpr&) { return rows_of(expr); },
                                  [&](const TupleExpr& e) -> ExprPtr {
                                    std::vector<ExprPtr> fields;
                                    for (ExprPtr f : e.fields) fields.push_back(rows_of(f));
                                    return build_.tuple(fields);
                                  },
                                  [&](const FieldExpr& e) -> ExprPtr {
                                    if (!is_row_type(e.tuple->type)) return each_row(e);
                                    return arena_.make<FieldExpr>(head(e), rows_of(e.tuple), e.index, e.name);
                                  },
                                  [&](const ComprehensionExpr& e) {
                                    return batched_element(ScalarBuilder(arena_, e.origin), e, rows_, count_);
                                  },
                                  [&](const ViewExpr& e) -> ExprPtr {
                                    return arena_.make<ViewExpr>(head(e), named("rows", rows_of(e.tensor)));
                                  },
                                  [&](const CheckDimsExpr& e) -> ExprPtr {
                                    if (!e.opened.empty() || !e.value) return give_up();
                                    return arena_.make<CheckDimsExpr>(head(e), rows_of(e.value), e.opened,
                                                                      e.conditions);
                                  },
                                  [&](const IfExpr& e) { return choice(e); },
                                  [&](const IntrinsicExpr& e) { return intrinsic(e); },
                                  [&](const auto& e) { return each_row(e); }});
  }

  // --- conditions

  ExprPtr choice(const IfExpr& e) {
    if (!has_rows(e.condition)) {
      ExprPtr then_arm = arm(e.then_arm), else_arm = arm(e.else_arm);
      return arena_.make<IfExpr>(head(e), e.condition, then_arm, else_arm);
    }
    // Both arms for all rows, if neither may fail where it is not chosen.
    if (!effects_.of(e.then_arm).none() || !effects_.of(e.else_arm).none()) return each_row(e);
    ExprPtr condition = named("chosen", rows_of(e.condition));
    return chosen(condition, named("then", rows_of(e.then_arm)), named("else", rows_of(e.else_arm)));
  }
  ExprPtr arm(ExprPtr body) {
    const RowVariables outer_rows = rows_;
    std::vector<Binding> outer = std::exchange(out_, {});
    ExprPtr result = rows_of(body);
    rows_ = outer_rows;
    return block_of(arena_, std::exchange(out_, std::move(outer)), result, body->origin);
  }
  ExprPtr chosen(ExprPtr condition, ExprPtr a, ExprPtr b) {
    if (!a->type->is_tensor()) {
      std::vector<ExprPtr> fields;
      for (uint32_t i = 0; i < a->type->args.size(); ++i)
        fields.push_back(chosen(condition, named("part", field(a, i)), named("part", field(b, i))));
      return build_.tuple(fields);
    }
    const std::vector<Dim> vars = variables(a->type->dims.size());
    ExprPtr here = build_.read(condition, std::span(vars).first(1));
    return build_.comprehension(vars, a->type->dims,
                                build_.choose(here, build_.read(a, vars), build_.read(b, vars)));
  }

  // --- parts of the language

  ExprPtr intrinsic(const IntrinsicExpr& e) {
    switch (e.intrinsic) {
      case IntrinsicKind::ScanOver: return scan(e);
      case IntrinsicKind::WithGradient: return with_gradient(e);
      case IntrinsicKind::StopGradient:
      case IntrinsicKind::ToDevice:
      case IntrinsicKind::Checkpoint: {
        const std::vector<ExprPtr> args{rows_of(e.args[0])};
        return arena_.make<IntrinsicExpr>(head(e), e.intrinsic, arena_.copy(args), e.texts);
      }
      default: return each_row(e);
    }
  }

  // The clause gets the cotangents of all rows. What is the same for all rows is a dependency as rows, so that
  // its gradient is their sum.
  ExprPtr with_gradient(const IntrinsicExpr& e) {
    auto* clause = as<FnExpr>(e.args[1]);
    if (auto* var = as<VarExpr>(e.args[1]))
      if (auto known = clauses_.find(var->variable); known != clauses_.end()) clause = known->second;
    if (!clause) return each_row(e);
    std::vector<ExprPtr> args{named("value", rows_of(e.args[0])), nullptr};
    for (ExprPtr operand : e.args.subspan(2)) args.push_back(named("operand", rows_of(operand)));
    auto* own = as<FnExpr>(substitute(arena_, clause, {}));
    const RowVariables outer_rows = rows_;
    std::vector<Binding> outer = std::exchange(out_, {});
    std::vector<const Variable*> params;
    for (const Variable* param : own->params) {
      params.push_back(make_variable(arena_, param->name, rows(param->type)));
      rows_[param] = params.back();
    }
    ExprPtr result = rows_of(own->body);
    rows_ = outer_rows;
    ExprPtr body = block_of(arena_, std::exchange(out_, std::move(outer)), result, own->origin);
    args[1] = function_literal(arena_, params, own->dim_vars, body, own->origin);
    return arena_.make<IntrinsicExpr>(head(e), e.intrinsic, arena_.copy(args), e.texts);
  }

  // One scan for all rows: its carries and its rows have one of each.
  ExprPtr scan(const IntrinsicExpr& e) {
    auto& step = *as<FnExpr>(e.args[0]);
    if (!is_row_type(e.args[1]->type) || !effects_.of(step.body).none()) return each_row(e);
    ExprPtr begin = rows_of(e.args[1]);
    ExprPtr over = transposed(named("over", rows_of(e.args[2])));
    const RowVariables outer_rows = rows_;
    std::vector<Binding> outer = std::exchange(out_, {});
    std::vector<const Variable*> params;
    for (const Variable* param : step.params) {
      params.push_back(make_variable(arena_, param->name, rows(param->type)));
      rows_[param] = params.back();
    }
    ExprPtr result = rows_of(step.body);
    rows_ = outer_rows;
    ExprPtr body = block_of(arena_, std::exchange(out_, std::move(outer)), result, step.origin);
    auto* all = function_literal(arena_, params, {}, body, step.origin);
    if (!is_possible_) return give_up();
    ExprPtr made = named("scan", scan_over(arena_, e.origin, all, begin, over, is_reverse(e)));
    return build_.tuple({field(made, 0), transposed(named("made", field(made, 1)))});
  }
  // In its first two axes.
  ExprPtr transposed(ExprPtr value) {
    Type type = value->type;
    if (!type->is_tensor()) {
      std::vector<ExprPtr> fields;
      for (uint32_t i = 0; i < type->args.size(); ++i)
        fields.push_back(transposed(named("part", field(value, i))));
      return build_.tuple(fields);
    }
    std::vector<Dim> vars = variables(type->dims.size()), extents(type->dims.begin(), type->dims.end());
    ExprPtr element = build_.read(value, vars);
    std::swap(vars[0], vars[1]);
    std::swap(extents[0], extents[1]);
    return build_.comprehension(vars, extents, element);
  }

  // The expression, evaluated for one row after the other.
  ExprPtr each_row(const Expr& e) {
    if (!is_row_type(e.type) || leaves_dims_open(e.type)) return give_up();
    std::vector<const Variable*> used;
    std::vector<ExprPtr> over;
    std::vector<Type> types;
    std::vector<Binding> clauses;
    std::unordered_set<const Variable*> seen;
    const std::function<void(ExprPtr)> look = [&](ExprPtr at) {
      for (const Variable* v : free_variables(at)) {
        if (!seen.insert(v).second) continue;
        if (clauses_of_rows_.contains(v)) {
          look(clauses_.at(v));
          clauses.push_back({v, clauses_.at(v)});
        }
        auto known = rows_.find(v);
        if (known == rows_.end()) continue;
        used.push_back(v);
        over.push_back(read(known->second));
        types.push_back(v->type);
      }
    };
    look(&e);
    const Variable* carry = make_variable(arena_, "carry", unit_type());
    const Variable* row = make_variable(arena_, "row", tuple_type(types));
    std::vector<Binding> bindings;
    for (uint32_t i = 0; i < used.size(); ++i) bindings.push_back({used[i], field(read(row), i)});
    bindings.insert(bindings.end(), clauses.begin(), clauses.end());
    ExprPtr body = block_of(arena_, bindings, build_.tuple({build_.tuple({}), &e}), e.origin);
    auto* step =
        as<FnExpr>(substitute(arena_, function_literal(arena_, {carry, row}, {}, body, e.origin), {}));
    ExprPtr scan = scan_over(arena_, e.origin, step, build_.tuple({}), build_.tuple(over));
    return field(named("each", scan), 1);
  }

  Arena& arena_;
  const ScalarBuilder build_;
  EffectAnalysis effects_;
  const Dim count_;
  const GradientClauses clauses_;
  RowVariables rows_;
  std::unordered_set<const Variable*> clauses_of_rows_;  ///< that depend on the row
  std::vector<Binding> out_;
  bool is_possible_ = true;
};

// The parameters of a function over rows, and in `first` what gives a number to rows of unknown count.
struct RowParameters {
  RowParameters(Arena& arena, const std::vector<Type>& row_types, Type type, Origin origin)
      : count(row_count(type->params()[0])) {
    const Dim known = count;
    if (known->has_any) count = dim_opened("rows");
    for (size_t i = 0; i < row_types.size(); ++i) {
      params.push_back(make_variable(arena, "rows", rows_type(row_types[i], known)));
      exact.push_back(params.back());
      if (!known->has_any) continue;
      exact.back() = make_variable(arena, "rows", rows_type(row_types[i], count));
      const std::vector<Dim> opened(i == 0 ? 1 : 0, count);
      first.push_back(
          {exact.back(), arena.make<CheckDimsExpr>(Expr{ExprKind::CheckDims, exact.back()->type, origin},
                                                   read_of(arena, params.back(), origin), arena.copy(opened),
                                                   std::span<const DimCondition>())});
    }
  }

  Dim count;
  std::vector<const Variable*> params, exact;
  std::vector<Binding> first;
};

}  // namespace

const FnExpr* batched(const PassContext& context, const FnExpr& f, Type type) {
  // What it does, it does for each row.
  if (!EffectAnalysis(context.functions).of_call(f).without(Effect::Fail).none()) return nullptr;
  std::vector<Type> types;
  for (const Variable* param : f.params) types.push_back(param->type);
  const RowParameters rows(context.arena, types, type, f.origin);
  Batch batch(context, f.origin, rows.count, gradient_clauses(f.body));
  const FnExpr* made = batch.function(f, rows.first, rows.params, rows.exact);
  return batch.is_possible() ? made : nullptr;
}

const FnExpr* row_by_row(Arena& arena, ExprPtr f, Type type) {
  const Origin origin = f->origin;
  const Type function = f->type;
  const RowParameters rows(arena, {function->params().begin(), function->params().end()}, type, origin);
  const ScalarBuilder build(arena, origin);
  std::vector<ExprPtr> over, args;
  std::vector<Type> types;
  for (const Variable* v : rows.exact) over.push_back(read_of(arena, v, origin));
  const Variable* carry = make_variable(arena, "carry", unit_type());
  const Variable* row = make_variable(arena, "row", tuple_type(function->params()));
  auto field = [&](ExprPtr of, uint32_t i) {
    return arena.make<FieldExpr>(Expr{ExprKind::Field, of->type->args[i], origin}, of, i, std::string_view());
  };
  for (uint32_t i = 0; i < over.size(); ++i) args.push_back(field(read_of(arena, row, origin), i));
  ExprPtr call = arena.make<CallExpr>(Expr{ExprKind::Call, function->result(), origin}, f, arena.copy(args));
  ExprPtr body = build.tuple({build.tuple({}), call});
  const FnExpr* step = function_literal(arena, {carry, row}, {}, body, origin);
  ExprPtr scan = scan_over(arena, origin, step, build.tuple({}), build.tuple(over));
  return function_literal(arena, rows.params, {}, block_of(arena, rows.first, field(scan, 1), origin),
                          origin);
}

}  // namespace quern
