#include "frontend/static/eval.h"

#include <fmt/format.h>

#include <charconv>

#include "frontend/static/builtins.h"
#include "frontend/static/metadata.h"
#include "frontend/syntax/literals.h"
#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"
#include "ir/base/internal_failure.h"

namespace quern {

namespace {
constexpr int kDepthLimit = 400;
constexpr int64_t kStepLimit = 1'000'000;

/// Whether an element of a list is one item.
bool is_item(SyntaxPtr element) {
  return !element || (!element->is(SyntaxKind::Spread) && !element->is(SyntaxKind::Generator));
}
}  // namespace

bool is_operand(SyntaxPtr expr) {
  return expr->is(SyntaxKind::Local) || expr->is(SyntaxKind::GraphName) || expr->is(SyntaxKind::Field) ||
         expr->is(SyntaxKind::Project);
}

void StaticEvaluator::report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes,
                             std::vector<Fix> fixes) {
  diagnostics_.push_back({kind, place(at), std::move(message), std::move(notes), std::move(fixes)});
}

std::optional<StaticValue> StaticEvaluator::evaluate(SyntaxPtr expr, const StaticEnv& env) {
  if (!expr || scope_.cancelled()) return std::nullopt;
  check_stack();
  if (++steps_ > kStepLimit || depth_ > kDepthLimit) {
    if (steps_ < 2 * kStepLimit)
      report(DiagnosticKind::StaticLimit, expr, "this compile-time computation does not end");
    steps_ = 2 * kStepLimit;
    return std::nullopt;
  }
  switch (expr->kind) {
    case SyntaxKind::Int:
    case SyntaxKind::Float: return number(expr);
    case SyntaxKind::Bool: return StaticValue(expr->text == "True");
    case SyntaxKind::String: return StaticValue(std::string(expr->text));
    case SyntaxKind::None: return StaticValue();
    case SyntaxKind::Meta: return meta(expr, env);
    case SyntaxKind::AnyDim: return StaticValue(dim_any());
    case SyntaxKind::HoleType:
      if (hole_dim) return StaticValue(hole_dim());
      report(DiagnosticKind::MissingOperand, expr, std::string(kHoleHere));
      return std::nullopt;
    case SyntaxKind::Name: return name(expr, env);
    case SyntaxKind::NamedType: return expr->children.empty() ? name(expr, env) : other(expr, env);
    case SyntaxKind::Local: {
      // A tuple of tensors denotes the list of its members' positions: `len(%xs)` is known.
      auto members = env.find("%" + std::string(expr->text));
      return members != env.end() ? std::optional(members->second) : other(expr, env);
    }
    case SyntaxKind::Paren: return evaluate(expr->child(0), env);
    case SyntaxKind::List:
    case SyntaxKind::Tuple: return list(expr, env);
    case SyntaxKind::Index: {
      // `%a[…]` reads a tensor; everything else indexes a list.
      SyntaxPtr base = expr->child(0);
      while (base->is(SyntaxKind::Index) || base->is(SyntaxKind::Paren)) base = base->child(0);
      return is_operand(base) || base->is(SyntaxKind::Comprehension) ? other(expr, env) : index(expr, env);
    }
    case SyntaxKind::Unary: return unary(expr, env);
    case SyntaxKind::Binary: return binary(expr, env);
    case SyntaxKind::Call: return call(expr, env);
    case SyntaxKind::UpTo: {
      auto last = dim(expr->child(0), env);
      return last ? std::optional(StaticValue(dim_add(*last, dim_const(1)))) : std::nullopt;
    }
    case SyntaxKind::If: {
      auto condition = boolean(expr->child(0), env);
      if (!condition) return std::nullopt;
      return evaluate(expr->child(*condition ? 1 : 2), env);
    }
    case SyntaxKind::Block:
      if (expr->children.size() == 1) return evaluate(expr->child(0), env);
      return other(expr, env);
    default: return other(expr, env);
  }
}

std::optional<StaticValue> StaticEvaluator::other(SyntaxPtr expr, const StaticEnv&) {
  if (expr->is(SyntaxKind::Error)) return std::nullopt;
  SyntaxPtr callee = expr->is(SyntaxKind::Call) ? expr->child(0) : nullptr;
  if (callee && callee->is(SyntaxKind::Name) && !find_static_builtin(callee->text) &&
      !scope_.op(callee->text)) {
    Suggestion meant = suggest(did_you_mean(callee->text, static_builtin_names()), place(callee));
    report(DiagnosticKind::UnknownStatic, callee,
           fmt::format("there is no compile-time function `{}`{}", callee->text, meant.text), {},
           std::move(meant.fixes));
    return std::nullopt;
  }
  report(DiagnosticKind::NotStatic, expr,
         expr == measured_ && is_operand(expr)
             ? "`len` is of tuples, and of lists known at compile time; the extents of a tensor are in its "
               "type: "
               "`def @f[n](%x: Tensor[(n,), float32]) { … n … }`"
             : "this has to be known at compile time: integers, dims, lists and `static` functions of them");
  return std::nullopt;
}

std::optional<StaticValue> StaticEvaluator::combine(SyntaxPtr expr, const StaticValue&, const StaticValue&) {
  return other(expr, {});
}

// An item of TVM's metadata: a named dim, which is `?` if no enclosing definition declares it; a number or a
// list of them as an attribute's value; or something kept as written, such as a device.
std::optional<StaticValue> StaticEvaluator::meta(SyntaxPtr expr, const StaticEnv& env) {
  if (auto declared = env.find(expr->text); declared != env.end()) return declared->second;
  if (is_dim_variable(expr) || expr->text.starts_with("tir.Any[")) return StaticValue(dim_any());
  if (size_t bracket = expr->text.find('['); expr->text.substr(0, bracket) == "VirtualDevice")
    return StaticValue(fmt::format("meta[VirtualDevice]{}", expr->text.substr(bracket)));
  auto tensor = meta_constant(expr, scope_, declaration_, diagnostics_);
  if (!tensor) return std::nullopt;
  auto numbers = numbers_of(*tensor);
  return numbers ? numbers : other(expr, {});
}

std::optional<StaticValue> StaticEvaluator::number(SyntaxPtr expr) {
  auto literal = parse_number(expr->text);
  if (!literal) {
    NumberProblem problem = number_problem(expr->text);
    report(problem.kind, expr, problem.message);
    return std::nullopt;
  }
  if (literal->dtype && !literal_as(*literal, *literal->dtype)) {
    report(DiagnosticKind::LiteralOutOfRange, expr,
           fmt::format("`{}` does not fit {}", expr->text, to_string(*literal->dtype)));
    return std::nullopt;
  }
  if (expr->is(SyntaxKind::Int)) return StaticValue::integer(literal->integer);
  return StaticValue(literal->real);
}

std::optional<StaticValue> StaticEvaluator::name(SyntaxPtr expr, const StaticEnv& env) {
  auto bound = env.find(expr->text);
  if (bound != env.end()) return bound->second;
  if (tvm && expr->text == "tvm") return tvm;
  if (auto dtype = parse_dtype(expr->text)) return StaticValue(*dtype);
  if (expr->text == "nullptr") return StaticValue();  // TVM's word for None
  if (expr->text == "cast") {
    // The text after it is not a type, and parses as comparisons: `cast<(1,)>(i)`.
    report(DiagnosticKind::InvalidIndexExpression, expr,
           "`cast` takes the name of a dtype between `<` and `>`, and one value: `cast<float32>(…)`");
    return std::nullopt;
  }
  std::vector<std::string> candidates;
  for (const auto& [known, _] : env) candidates.push_back(known);
  Suggestion meant = suggest(did_you_mean(expr->text, candidates), place(expr));
  report(DiagnosticKind::UnknownName, expr, fmt::format("unknown name `{}`{}", expr->text, meant.text), {},
         std::move(meant.fixes));
  return std::nullopt;
}

bool StaticEvaluator::append(SyntaxPtr element, const StaticEnv& env, StaticList& out) {
  if (element->is(SyntaxKind::Spread)) {
    auto pack = evaluate(element->child(0), env);
    if (!pack) return false;
    if (!pack->as_list()) {
      report(DiagnosticKind::NotStatic, element, "`..` takes a list, a shape or a pack");
      return false;
    }
    out.insert(out.end(), pack->as_list()->begin(), pack->as_list()->end());
    return true;
  }
  if (element->is(SyntaxKind::Generator)) {
    auto limit = evaluate(element->child(1), env);
    if (!limit) return false;
    if (!limit->as_int() || *limit->as_int() > 100'000) {
      report(DiagnosticKind::NotStatic, element->child(1), "the limit of `for` has to be a known integer");
      return false;
    }
    StaticEnv inner = env;
    for (int64_t k = 0; k < *limit->as_int(); ++k) {
      inner.insert_or_assign(element->text, StaticValue::integer(k));
      if (element->child(2)) {
        auto keep = boolean(element->child(2), inner);
        if (!keep) return false;
        if (!*keep) continue;
      }
      auto item = evaluate(element->child(0), inner);
      if (!item) return false;
      out.push_back(std::move(*item));
    }
    return true;
  }
  auto item = evaluate(element, env);
  if (!item) return false;
  out.push_back(std::move(*item));
  return true;
}

std::optional<StaticValue> StaticEvaluator::list(SyntaxPtr expr, const StaticEnv& env) {
  StaticList out;
  for (SyntaxPtr element : expr->children)
    if (!append(element, env, out)) return std::nullopt;
  return StaticValue::list(std::move(out));
}

std::optional<StaticValue> StaticEvaluator::index(SyntaxPtr expr, const StaticEnv& env) {
  auto base = evaluate(expr->child(0), env);
  if (!base) return std::nullopt;
  const StaticList* items = base->as_list();
  SyntaxPtr item = expr->child(1);
  if (!items || expr->children.size() != 2) {
    report(DiagnosticKind::NotStatic, expr, "only a list can be indexed here, with one position");
    return std::nullopt;
  }
  auto size = static_cast<int64_t>(items->size());
  auto bound = [&](SyntaxPtr node, int64_t missing) -> std::optional<int64_t> {
    if (!node) return missing;
    auto value = evaluate(node, env);
    if (!value) return std::nullopt;
    if (!value->as_int()) {
      report(DiagnosticKind::NotStatic, node, "a position in a list has to be a known integer");
      return std::nullopt;
    }
    int64_t at = *value->as_int() < 0 ? *value->as_int() + size : *value->as_int();
    return at;
  };
  if (item->is(SyntaxKind::Slice)) {
    auto first = bound(item->child(0), 0), last = bound(item->child(1), size);
    if (!first || !last) return std::nullopt;
    StaticList out;
    for (int64_t i = std::max<int64_t>(0, *first); i < std::min(*last, size); ++i)
      out.push_back((*items)[static_cast<size_t>(i)]);
    return StaticValue::list(std::move(out));
  }
  auto at = bound(item, 0);
  if (!at) return std::nullopt;
  if (*at < 0 || *at >= size) {
    report(DiagnosticKind::WrongAttribute, expr,
           fmt::format("position {} is outside this list of {}: {}", *at, size, to_string(*base)));
    return std::nullopt;
  }
  return (*items)[static_cast<size_t>(*at)];
}

std::optional<StaticValue> StaticEvaluator::unary(SyntaxPtr expr, const StaticEnv& env) {
  auto operand = evaluate(expr->child(0), env);
  if (!operand) return std::nullopt;
  if (expr->text == "not" && operand->as_bool()) return StaticValue(!*operand->as_bool());
  if (expr->text == "-" && operand->as_dim()) return StaticValue(dim_sub(dim_const(0), operand->as_dim()));
  if (expr->text == "-" && operand->as_float()) return StaticValue(-*operand->as_float());
  return combine(expr, *operand, *operand);
}

std::optional<StaticValue> StaticEvaluator::binary(SyntaxPtr expr, const StaticEnv& env) {
  std::string_view symbol = expr->text;
  if (symbol == "and" || symbol == "or") {
    auto left = boolean(expr->child(0), env);
    if (!left) return std::nullopt;
    if (*left == (symbol == "or")) return StaticValue(*left);
    auto right = boolean(expr->child(1), env);
    if (!right) return std::nullopt;
    return StaticValue(*right);
  }
  auto left = evaluate(expr->child(0), env);
  auto right = evaluate(expr->child(1), env);
  if (!left || !right) return std::nullopt;
  if (left->as_index_expr() || right->as_index_expr()) return combine(expr, *left, *right);
  if (symbol == "+" || symbol == "-" || symbol == "*" || symbol == "/" || symbol == "%")
    return arithmetic(expr, *left, *right);
  return compare(expr, *left, *right);
}

std::optional<StaticValue> StaticEvaluator::arithmetic(SyntaxPtr expr, const StaticValue& left,
                                                       const StaticValue& right) {
  char symbol = expr->text[0];
  if (Dim a = left.as_dim(), b = right.as_dim(); a && b) {
    if ((symbol == '/' || symbol == '%') && is_const(b, 0)) {
      report(DiagnosticKind::DivisionByZero, expr, "division by zero");
      return std::nullopt;
    }
    switch (symbol) {
      case '+': return StaticValue(dim_add(a, b));
      case '-': return StaticValue(dim_sub(a, b));
      case '*': return StaticValue(dim_mul(a, b));
      case '/': return StaticValue(dim_floordiv(a, b));
      default: return StaticValue(dim_floormod(a, b));
    }
  }
  if (left.as_list() && right.as_list() && symbol == '+') {
    StaticList out = *left.as_list();
    out.insert(out.end(), right.as_list()->begin(), right.as_list()->end());
    return StaticValue::list(std::move(out));
  }
  auto real = [](const StaticValue& v) -> std::optional<double> {
    if (v.as_float()) return *v.as_float();
    if (v.as_int()) return static_cast<double>(*v.as_int());
    return std::nullopt;
  };
  auto a = real(left), b = real(right);
  if (a && b && symbol != '%') {
    double result = symbol == '+' ? *a + *b : symbol == '-' ? *a - *b : symbol == '*' ? *a * *b : *a / *b;
    return StaticValue(result);
  }
  report(DiagnosticKind::NotStatic, expr,
         fmt::format("`{}` does not go with {} and {} at compile time", expr->text, to_string(left),
                     to_string(right)));
  return std::nullopt;
}

std::optional<bool> static_equal(const StaticValue& a, const StaticValue& b) {
  if (a == b) return true;
  if (Dim x = a.as_dim(), y = b.as_dim(); x && y) {
    if (as_const(dim_sub(x, y))) return false;  // the difference is a constant other than 0
    return std::nullopt;
  }
  const StaticList *left = a.as_list(), *right = b.as_list();
  if (left && right) {
    if (left->size() != right->size()) return false;
    bool open = false;
    for (size_t i = 0; i < left->size(); ++i) {
      auto one = static_equal((*left)[i], (*right)[i]);
      if (one && !*one) return false;
      if (!one) open = true;
    }
    if (open) return std::nullopt;
    return true;
  }
  return false;
}

static bool may_become_equal(const StaticValue& a, const StaticValue& b) {
  return a.as_dtype() && b.as_dtype() && a != b && (a.as_dtype()->is_infer() || b.as_dtype()->is_infer());
}

std::optional<StaticValue> StaticEvaluator::compare(SyntaxPtr expr, const StaticValue& left,
                                                    const StaticValue& right) {
  std::string_view symbol = expr->text;
  std::optional<bool> result;
  if (symbol == "==" || symbol == "!=") {
    result = static_equal(left, right);
    if (met_unsettled && may_become_equal(left, right)) *met_unsettled = true;
    if (result && symbol == "!=") result = !*result;
  } else if (left.as_float() || right.as_float()) {
    double a = left.as_float() ? *left.as_float() : static_cast<double>(left.as_int().value_or(0));
    double b = right.as_float() ? *right.as_float() : static_cast<double>(right.as_int().value_or(0));
    result = symbol == "<" ? a < b : symbol == "<=" ? a <= b : symbol == ">" ? a > b : a >= b;
  } else if (Dim a = left.as_dim(), b = right.as_dim(); a && b) {
    if (symbol == ">" || symbol == ">=") std::swap(a, b);
    bool strict = symbol == "<" || symbol == ">";
    Facts none;
    if (strict ? prove_less(a, b, none) : prove_less_equal(a, b, none)) result = true;
    if (!result && (strict ? prove_less_equal(b, a, none) : prove_less(b, a, none))) result = false;
  }
  if (result) return StaticValue(*result);
  report(DiagnosticKind::NotStatic, expr,
         fmt::format("whether {} {} {} is not known at compile time", to_string(left), symbol,
                     to_string(right)));
  return std::nullopt;
}

std::optional<StaticValue> StaticEvaluator::call(SyntaxPtr expr, const StaticEnv& env) {
  SyntaxPtr callee = expr->child(0);
  if (callee->is(SyntaxKind::GlobalName)) return call_static(expr, env);
  StaticBuiltin builtin =
      callee->is(SyntaxKind::Name) && callee->children.empty() ? find_static_builtin(callee->text) : nullptr;
  if (!builtin) return other(expr, env);
  StaticList args;
  if (callee->text == "len") measured_ = expr->child(1);
  for (SyntaxPtr arg : expr->children.subspan(1))
    if (!append(arg, env, args)) return std::nullopt;
  for (const StaticValue& arg : args)
    if (arg.as_index_expr() && (callee->text == "min" || callee->text == "max"))
      return combine(expr, args[0], args[1]);
  BuiltinOutcome outcome = builtin(args, instance_level);
  for (auto [a, b] : outcome.to_broadcast)
    if (!require || !require(DimRelation::Broadcast, a, b)) outcome.value.reset();
  if (!outcome.value) report(outcome.kind, expr, outcome.problem);
  if (outcome.value && answers_of_form && compares_form(callee->text))
    *answers_of_form += to_string(*outcome.value) + ",";
  return outcome.value;
}

std::optional<StaticValue> StaticEvaluator::call_static(SyntaxPtr call, const StaticEnv& env) {
  std::string name(call->child(0)->text);
  const Declaration* function = scope_.static_function(name);
  if (!function) {
    if (scope_.in_broken_import(name)) return std::nullopt;
    report(DiagnosticKind::UnknownStatic, call->child(0), fmt::format("there is no `static @{}`", name));
    return std::nullopt;
  }
  SyntaxPtr params = function->syntax->child(0);
  StaticList args;
  for (SyntaxPtr arg : call->children.subspan(1))
    if (!append(arg, env, args)) return std::nullopt;
  if (args.size() != params->children.size()) {
    report(
        DiagnosticKind::WrongArgumentCount, call,
        fmt::format("`@{}` takes {} arguments and is given {}", name, params->children.size(), args.size()));
    return std::nullopt;
  }
  StaticEnv inner;
  for (size_t i = 0; i < args.size(); ++i) inner.insert_or_assign(params->children[i]->text, args[i]);
  // Errors inside are reported at the call, which has the values that led to them.
  Diagnostics inside;
  StaticEvaluator evaluator(scope_.home(*function), function->id, inside);
  evaluator.instance_level = instance_level;
  evaluator.require = require;
  evaluator.answers_of_form = answers_of_form;
  evaluator.met_unsettled = met_unsettled;
  evaluator.depth_ = depth_ + 1;
  evaluator.steps_ = steps_;
  auto result = evaluator.evaluate(function->syntax->child(1), inner);
  steps_ = evaluator.steps_;
  if (!result && !inside.empty()) {
    std::vector<Note> notes{{inside[0].place, "in `static @" + name + "`"}};
    report(inside[0].kind, call, inside[0].message, std::move(notes));
  }
  return result;
}

std::optional<Dim> StaticEvaluator::dim(SyntaxPtr expr, const StaticEnv& env) {
  auto value = evaluate(expr, env);
  if (!value) return std::nullopt;
  if (Dim d = value->as_dim()) return d;
  report(DiagnosticKind::NotStatic, expr, fmt::format("a dim is wanted here, not {}", to_string(*value)));
  return std::nullopt;
}

std::optional<bool> StaticEvaluator::boolean(SyntaxPtr expr, const StaticEnv& env) {
  auto value = evaluate(expr, env);
  if (!value) return std::nullopt;
  if (value->as_bool()) return *value->as_bool();
  report(DiagnosticKind::NotStatic, expr, fmt::format("a bool is wanted here, not {}", to_string(*value)));
  return std::nullopt;
}

std::optional<DType> StaticEvaluator::dtype(SyntaxPtr expr, const StaticEnv& env) {
  if (expr->is(SyntaxKind::HoleType) && hole_dtype) return hole_dtype();
  if (expr->is(SyntaxKind::Name) && !env.contains(expr->text)) {
    if (auto written = parse_dtype(expr->text)) return written;
    std::optional<std::string> meant = dtype_meant_by(expr->text);
    Suggestion suggestion = suggest(meant, place(expr));
    report(DiagnosticKind::UnknownDType, expr,
           fmt::format("unknown dtype `{}`{}", expr->text, suggestion.text), {}, std::move(suggestion.fixes));
    return std::nullopt;
  }
  auto value = evaluate(expr, env);
  if (!value) return std::nullopt;
  if (value->as_dtype()) return *value->as_dtype();
  if (value->as_string())
    if (auto parsed = parse_dtype(*value->as_string())) return parsed;
  report(DiagnosticKind::NotStatic, expr, fmt::format("a dtype is wanted here, not {}", to_string(*value)));
  return std::nullopt;
}

void StaticEvaluator::not_a_dim(SyntaxPtr shape, const StaticValue& item) {
  report(DiagnosticKind::NotStatic, shape, fmt::format("a shape has dims, not {}", to_string(item)));
}

std::optional<std::vector<Dim>> StaticEvaluator::shape(SyntaxPtr expr, const StaticEnv& env) {
  std::vector<Dim> dims;
  if (expr->is(SyntaxKind::Tuple) && std::ranges::all_of(expr->children, is_item)) {
    std::optional<StaticValue> wrong;
    dims.reserve(expr->children.size());
    for (SyntaxPtr item : expr->children) {
      auto value = evaluate(item, env);
      if (!value) return std::nullopt;
      dims.push_back(value->as_dim());
      if (!dims.back() && !wrong) wrong = std::move(value);
    }
    if (!wrong) return dims;
    not_a_dim(expr, *wrong);
    return std::nullopt;
  }
  auto value = evaluate(expr, env);
  if (!value) return std::nullopt;
  if (Dim d = value->as_dim(); d && expr->is(SyntaxKind::Paren)) return std::vector<Dim>{d};
  if (!value->as_list()) {
    report(
        DiagnosticKind::NotStatic, expr,
        fmt::format("a shape is wanted here, not {}; write `({},)`", to_string(*value), to_string(*value)));
    return std::nullopt;
  }
  for (const StaticValue& item : *value->as_list()) {
    if (!item.as_dim()) {
      not_a_dim(expr, item);
      return std::nullopt;
    }
    dims.push_back(item.as_dim());
  }
  return dims;
}

}  // namespace quern
