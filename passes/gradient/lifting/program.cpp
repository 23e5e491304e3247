#include "passes/gradient/lifting/program.h"

#include <algorithm>
#include <utility>

#include "frontend/infer/context/gradient_types.h"

namespace quern::lifting {

namespace {

bool is_tensor_code(ExprPtr expr);

/// Whether each step of a scan is tensor code.
bool is_tensor_scan(const IntrinsicExpr& e) {
  if (is_more_than_tensor_code(as<FnExpr>(e.args[0])->body)) return false;
  return is_tensor_code(e.args[1]) && is_tensor_code(e.args[2]) &&
         std::ranges::all_of(free_variables(&e), [](const Variable* v) { return is_of_tensors(v->type); });
}

bool is_tensor_intrinsic(const IntrinsicExpr& e) {
  const IntrinsicKind kind = e.intrinsic;
  if (kind == IntrinsicKind::Clock || kind == IntrinsicKind::NextKey) return true;
  if (kind == IntrinsicKind::ScanOver) return is_tensor_scan(e);
  if (kind != IntrinsicKind::WithGradient && kind != IntrinsicKind::StopGradient &&
      kind != IntrinsicKind::ToDevice)
    return false;
  // The clause of a gradient is no part of the value.
  return is_tensor_code(e.args[0]) &&
         (e.args.size() < 2 || std::ranges::all_of(e.args.subspan(2), is_tensor_code));
}

/// Whether it is tensor code, of which `vector_jacobian` makes the gradient.
bool is_tensor_code(ExprPtr expr) {
  if (!expr->type || !is_of_tensors(expr->type)) return false;
  if (auto* intrinsic = as<IntrinsicExpr>(expr)) return is_tensor_intrinsic(*intrinsic);
  switch (facts(expr->kind).derivative) {
    case KindFacts::Derivative::Tensors:
    // A dim as a value.
    case KindFacts::Derivative::Elements: return true;
    case KindFacts::Derivative::Parts: {
      bool all = true;
      for_each_child(expr, [&](ExprPtr child) { all = all && is_tensor_code(child); });
      return all;
    }
    case KindFacts::Derivative::Lifted:
    case KindFacts::Derivative::None: return false;
  }
  std::abort();
}

/// Whether it reads a field of a value that is there before `code`.
bool is_field_of_other(const Binding& b, const std::vector<Binding>& code) {
  auto* field = as<FieldExpr>(b.value);
  auto* of = field ? as<VarExpr>(field->tuple) : nullptr;
  return b.variable && of && std::ranges::count(code, of->variable, &Binding::variable) == 0;
}

std::string of_data_type(IntrinsicKind kind) {
  return "`" + std::string(to_string(kind)) + "` of a value of a data type";
}

}  // namespace

Program::Program(const PassContext& context, Origin origin, Carrier carrier)
    : context_(context),
      arena_(context.arena),
      build_(arena_, origin, carrier),
      structures_(build_, context.functions, origin) {}

std::optional<ExprPtr> Program::run(const FnExpr& function) {
  clauses_ = gradient_clauses(function.body);
  for (const Variable* param : function.params) {
    lift_parameter(param);
    if (!structures_.problem.empty())
      add_problem({function.origin, "a parameter that holds " + structures_.problem});
    structures_.problem.clear();
  }
  Type type = function.body->type;
  if (!is_of_tensors(type)) add_problem({function.body->origin, "a result of type " + to_string(type)});
  const Variable* result = bind("result", value(function.body));
  if (!underivable_.empty()) return std::nullopt;
  return build_.read(result);
}

ExprPtr Program::finished(ExprPtr result) {
  out_.insert(out_.begin(), outside_.begin(), outside_.end());
  out_.insert(out_.begin(), structures_.functions.begin(), structures_.functions.end());
  return build_.block(out_, result);
}

const Variable* Program::bind(std::string_view name, ExprPtr value) {
  const Variable* variable = build_.variable(name, value->type);
  out_.push_back({variable, value});
  return variable;
}

// --- variables: each has a lifted one; one of tensors alone stands beside it with its value

// `variable` is bound: binds its lifted one.
void Program::lift_known(const Variable* variable) {
  lifted_.emplace(variable, is_constant(variable->type)
                                ? variable
                                : bind(variable->name, structures_.lift(build_.read(variable))));
}
// A binder of the lifted program for one of the program.
const Variable* Program::lifted_binder(const Variable* variable) {
  const Variable* made =
      is_constant(variable->type) ? variable : build_.variable(variable->name, build_.lifted(variable->type));
  lifted_.emplace(variable, made);
  return made;
}
// Binds the values of variables whose lifted ones are bound.
void Program::values_of(std::span<const Variable* const> variables) {
  for (const Variable* v : variables)
    if (is_of_tensors(v->type) && !is_constant(v->type))
      out_.push_back({v, build_.primal(v->type, build_.read(lifted_.at(v)))});
}

// --- expressions

// Its own block.
ExprPtr Program::inside(ExprPtr expr, std::span<const Variable* const> bound) {
  std::vector<Binding> outer = std::exchange(out_, {});
  values_of(bound);
  ExprPtr result = value(expr);
  return build_.block(std::exchange(out_, std::move(outer)), result);
}

// The lifted value.
ExprPtr Program::value(ExprPtr expr) {
  // Variables, and those of a block, have lifted ones.
  if (!as<VarExpr>(expr) && !as<BlockExpr>(expr) && is_tensor_code(expr)) {
    if (is_constant(expr->type)) return expr;
    const Variable* made = build_.variable("t", expr->type);
    segment({{{made, expr}}}, {made});
    return build_.read(lifted_.at(made));
  }
  return visit(
      expr,
      overloaded{[&](const BlockExpr& e) { return of_block(e); },
                 [&](const VarExpr& e) { return of_variable(e); },
                 [&](const IfExpr& e) -> ExprPtr {
                   ExprPtr first = inside(e.then_arm), second = inside(e.else_arm);
                   return arena_.make<IfExpr>(head(e), e.condition, first, second);
                 },
                 [&](const MatchExpr& e) { return match(e); }, [&](const CallExpr& e) { return call(e); },
                 [&](const FnExpr& e) { return function(e); },
                 [&](const TupleExpr& e) -> ExprPtr {
                   return arena_.make<TupleExpr>(head(e), arena_.copy(values(e.fields)));
                 },
                 [&](const FieldExpr& e) -> ExprPtr {
                   return arena_.make<FieldExpr>(head(e), value(e.tuple), e.index, e.name);
                 },
                 [&](const ConstructExpr& e) -> ExprPtr {
                   const Constructor* c = build_.lifted(e.constructor, e.type);
                   return arena_.make<ConstructExpr>(head(e), c, c->name, arena_.copy(values(e.fields)));
                 },
                 [&](const RefExpr& e) -> ExprPtr { return arena_.make<RefExpr>(head(e), value(e.content)); },
                 [&](const RefReadExpr& e) -> ExprPtr {
                   return arena_.make<RefReadExpr>(head(e), value(e.reference));
                 },
                 [&](const RefWriteExpr& e) -> ExprPtr {
                   ExprPtr reference = value(e.reference);
                   return arena_.make<RefWriteExpr>(head(e), reference, value(e.content));
                 },
                 [&](const IntrinsicExpr& e) { return intrinsic(e); },
                 [&](const CheckDimsExpr& e) -> ExprPtr {
                   if (e.value) return refuse(&e, "checked dims of a value of a data type");
                   return &e;
                 },
                 [&](const NodeWithout<KindFacts::Derivative::Lifted> auto&) {
                   return refuse(expr, "this has no derivative");
                 }});
}
std::vector<ExprPtr> Program::values(std::span<const ExprPtr> exprs) {
  std::vector<ExprPtr> out;
  for (ExprPtr e : exprs) out.push_back(value(e));
  return out;
}
Expr Program::head(const Expr& e) const { return {e.kind, build_.lifted(e.type), e.origin}; }

ExprPtr Program::of_variable(const VarExpr& e) {
  if (!lifted_.contains(e.variable) && !lift_outside(e))
    return refuse(&e, e.type->kind == TypeKind::Function
                          ? "a function that is known only when the program runs"
                          : "a value from outside of the function, of type " + to_string(e.type));
  // A polymorphic function is used at other dims and types.
  return arena_.make<VarExpr>(head(e), lifted_.at(e.variable));
}

// From outside of the function: a constant, lifted once. What a reference holds could be read elsewhere.
bool Program::lift_outside(const VarExpr& e) {
  ExprPtr made = structures_.lift(build_.read(e.variable));
  if (!std::exchange(structures_.problem, {}).empty()) return false;
  const Variable* variable = is_constant(e.type) ? e.variable : build_.variable(e.variable->name, made->type);
  if (variable != e.variable) outside_.push_back({variable, made});
  lifted_.emplace(e.variable, variable);
  return true;
}

ExprPtr Program::match(const MatchExpr& e) {
  ExprPtr scrutinee = value(e.scrutinee);
  std::vector<MatchArm> arms;
  for (const MatchArm& arm : e.arms) {
    std::vector<const Variable*> bound;
    for_each_variable(arm.pattern, [&](const Variable* v) { bound.push_back(v); });
    PatternPtr pattern = lifted_pattern(arm.pattern);
    arms.push_back({pattern, inside(arm.body, bound)});
  }
  return arena_.make<MatchExpr>(head(e), scrutinee, arena_.copy(arms), e.partial);
}

PatternPtr Program::lifted_pattern(PatternPtr pattern) {
  Pattern copy = *pattern;
  copy.type = build_.lifted(pattern->type);
  if (copy.variable) copy.variable = lifted_binder(copy.variable);
  if (copy.constructor) {
    copy.constructor = build_.lifted(pattern->constructor, pattern->type);
    copy.name = copy.constructor->name;
  }
  std::vector<PatternPtr> parts;
  for (PatternPtr part : pattern->parts) parts.push_back(lifted_pattern(part));
  copy.parts = arena_.copy(parts);
  return arena_.make<Pattern>(copy);
}

ExprPtr Program::call(const CallExpr& e) {
  if (e.callee->kind == ExprKind::Global) return refuse(&e, "a call of a function that is not inlined");
  ExprPtr callee = value(e.callee);
  return arena_.make<CallExpr>(head(e), callee, arena_.copy(values(e.args)));
}

ExprPtr Program::function(const FnExpr& e) {
  std::vector<const Variable*> params;
  for (const Variable* param : e.params) params.push_back(lifted_binder(param));
  ExprPtr body = inside(e.body, e.params);
  return arena_.make<FnExpr>(head(e), arena_.copy(params), e.dim_vars, body, e.primitive, e.attributes);
}

ExprPtr Program::intrinsic(const IntrinsicExpr& e) {
  if ((e.intrinsic == IntrinsicKind::StopGradient || e.intrinsic == IntrinsicKind::ToDevice) &&
      !is_of_tensors(e.type))
    return refuse(&e, of_data_type(e.intrinsic));
  std::vector<ExprPtr> args;
  for (ExprPtr arg : e.args) {
    if (arg && !is_of_tensors(arg->type) && !is_constant(arg->type))
      return refuse(&e, of_data_type(e.intrinsic));
    args.push_back(arg ? build_.primal(arg->type, value(arg)) : nullptr);
  }
  ExprPtr made = arena_.make<IntrinsicExpr>(Expr{e}, e.intrinsic, arena_.copy(args), e.texts);
  if (is_constant(e.type)) return made;
  // What is loaded does not depend on anything.
  ExprPtr constant = structures_.lift(build_.read(bind("t", made)));
  if (!std::exchange(structures_.problem, {}).empty()) return refuse(&e, of_data_type(e.intrinsic));
  return constant;
}
// --- blocks: consecutive tensor code is one segment

ExprPtr Program::of_block(const BlockExpr& block) {
  std::vector<Binding> bindings(block.bindings.begin(), block.bindings.end());
  ExprPtr result = block.result;
  // It may be the end of a segment.
  if (is_tensor_code(result) && result->kind != ExprKind::Var) {
    bindings.push_back({build_.variable("t", result->type), result});
    result = build_.read(bindings.back().variable);
  }
  std::unordered_map<const Variable*, size_t> last_use;
  for (size_t i = 0; i <= bindings.size(); ++i)
    for (const Variable* v : free_variables(i < bindings.size() ? bindings[i].value : result))
      last_use[v] = i;
  for (size_t i = 0; i < bindings.size();) {
    std::vector<Binding> code;
    size_t end = i;
    for (; end < bindings.size(); ++end) {
      const Binding& b = bindings[end];
      if (is_tensor_code(b.value) || clauses_.contains(b.variable)) code.push_back(b);
      // A field is read before the segment, so that it does not end there.
      else if (!code.empty() && is_field_of_other(b, code))
        binding(b);
      else
        break;
    }
    if (code.empty()) {
      binding(bindings[i++]);
      continue;
    }
    std::vector<const Variable*> used;
    for (const Binding& b : code)
      if (b.variable && last_use[b.variable] >= end) used.push_back(b.variable);
    segment(code, used);
    i = end;
  }
  return value(result);
}

void Program::binding(const Binding& b) {
  // A function literal is visible inside itself.
  const Variable* made = b.variable ? lifted_binder(b.variable) : nullptr;
  ExprPtr of = value(b.value);
  out_.push_back({made, of});
  if (b.variable) values_of({&b.variable, 1});
}

ExprPtr Program::refuse(ExprPtr expr, std::string what) {
  add_problem({expr->origin, std::move(what)});
  return expr;
}
void Program::add_problem(const Underivable& problem) {
  // The same part of two inlined calls is one to its reader.
  auto same = [&](const Underivable& p) {
    return p.origin.declaration == problem.origin.declaration && p.origin.node == problem.origin.node &&
           p.what == problem.what;
  };
  if (std::ranges::none_of(underivable_, same)) underivable_.push_back(problem);
}

bool is_more_than_tensor_code(ExprPtr body) {
  auto* block = as<BlockExpr>(body);
  if (!block) return !is_tensor_code(body);
  // A function that is not called states a gradient, or nothing.
  const auto is_plain = [](const Binding& b) {
    return b.value->kind == ExprKind::Fn || is_tensor_code(b.value);
  };
  return !std::ranges::all_of(block->bindings, is_plain) || is_more_than_tensor_code(block->result);
}

}  // namespace quern::lifting
