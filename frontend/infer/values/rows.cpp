#include "frontend/infer/values/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "frontend/infer/gradual/open_dims.h"
#include "ir/type/row_types.h"

namespace quern {

namespace {

/// Whether a part of the type is unknown; dtypes may be.
bool is_partly_unknown(Type type) {
  return type->kind == TypeKind::Infer || std::ranges::any_of(type->args, is_partly_unknown);
}

/// A literal that is over dims takes them from its arguments: its type at some that are not known yet.
Type at_open_dims(DraftPtr function, Unifier& unifier) {
  Substitution own;
  if (auto* literal = form_of<FnExpr>(function))
    for (Dim var : literal->dim_vars) own.dims.emplace(var, unifier.fresh_dim());
  return substitute(unifier.resolve(function->type), own);
}

}  // namespace

// --- scan_over

DraftPtr OverRows::scan(SyntaxPtr s) {
  std::vector<SyntaxPtr> args;
  bool is_reverse = false;
  for (SyntaxPtr arg : s->children.subspan(1)) {
    if (!arg->is(SyntaxKind::NamedArgument)) {
      args.push_back(arg);
      continue;
    }
    auto value = names_.evaluator().evaluate(arg->child(0), names_.env.statics);
    if (!value) return error(s);
    const bool* flag = value->as_bool();
    if (arg->text != "reverse" || !flag) {
      report(DiagnosticKind::UnknownAttribute, arg,
             arg->text == "reverse"
                 ? "`reverse` of `scan_over` is true or false"
                 : fmt::format("`scan_over` has no attribute `{}`; it has reverse", arg->text));
      return error(s);
    }
    is_reverse = *flag;
  }
  if (args.size() != 3) {
    report(DiagnosticKind::WrongArgumentCount, s,
           "`scan_over` takes a function of a carry and a row, where to begin, and the tensors whose rows it "
           "goes over: `scan_over(fn (%sum, %x) { (%sum + %x, %sum) }, 0f, %xs)`");
    for (SyntaxPtr arg : args) give_up(infer(arg));
    return error(s);
  }
  uint32_t region = 0;
  DraftPtr function = infer_arm(args[0], region);
  Scan use{.at = s,
           .function_text = args[0],
           .over_text = args[2],
           .region = region,
           .type = at_open_dims(function, unifier_),
           .function = function,
           .initial = infer(args[1]),
           .over = infer(args[2]),
           .is_reverse = is_reverse,
           .callee = function};
  use.waiting = drafts_.make<WaitingDraft>(origin(s), unifier_.fresh_type());
  relations_.relate(s, use.waiting, "the rows", [=, this] { return attempt_rows(use); });
  return use.waiting;
}

// Nobody calls it then, and what it takes stays unknown.
void OverRows::give_up(DraftPtr function) {
  Type type = resolve(function->type);
  if (type->kind != TypeKind::Function) return;
  for (Type param : type->params())
    if (resolve(param)->kind == TypeKind::Infer) unifier_.unify(param, error_type());
}

bool OverRows::fail(const Scan& use, SyntaxPtr at, std::string message) {
  if (!message.empty()) report(DiagnosticKind::TypeMismatch, at, std::move(message));
  give_up(use.function);
  use.waiting->replacement = drafts_.error(use.waiting->origin);
  unifier_.unify(use.waiting->type, error_type());
  return true;
}

bool OverRows::attempt_rows(Scan use) {
  Type over = resolve(use.over->type), carry = resolve(use.initial->type);
  if (over->is_error() || carry->is_error()) return fail(use, use.at, "");
  if (is_partly_unknown(over) || carry->kind == TypeKind::Infer) return false;
  use.over = checks_.opened(use.over, over, "rows");
  over = resolve(use.over->type);
  Type row = row_type(over);
  Dim count = row_count(over);
  if (!row || !count)
    return fail(
        use, use.over_text,
        fmt::format("`scan_over` goes over the rows of tensors and of tuples of tensors, and this is {}",
                    unifier_.describe(over)));
  assignments_.expect(use.over_text, rows_type(row, count), over, "what `scan_over` goes over");
  Type function = resolve(use.type);
  if (function->kind == TypeKind::Function && function->params().size() != 2)
    return fail(
        use, use.function_text,
        fmt::format("`scan_over` calls its function with the carry and a row: two arguments, and this "
                    "takes {}",
                    function->params().size()));
  const Type params[] = {carry, row}, result = unifier_.fresh_type();
  if (!assignments_.expect(use.function_text, function_type(params, result), function,
                           "the function of `scan_over`"))
    return fail(use, use.at, "");
  const Variable* variables[] = {drafts_.variable("carry", carry), drafts_.variable("row", row)};
  std::vector<DraftPtr> args;
  for (const Variable* v : variables) args.push_back(drafts_.read(use.waiting->origin, v, v->type));
  if (!names_function(use.function)) {
    use.bound = drafts_.variable("step", use.function->type);
    use.callee = drafts_.read(use.waiting->origin, use.bound, use.function->type);
  }
  DraftPtr call = drafts_.call(use.waiting->origin, result, use.callee, args);
  relations_.relate(use.at, use.waiting, "the result of its function",
                    [this, use, call, params = std::vector<const Variable*>(variables, variables + 2)] {
                      return attempt_result(use, params, call);
                    });
  return true;
}

bool OverRows::attempt_result(const Scan& use, std::span<const Variable* const> params, DraftPtr call) {
  // Dims that a step opens are its own.
  Type result = checks_.closed(call->type, use.region), carry = resolve(params[0]->type);
  if (contains_error(result) || contains_error(carry)) return fail(use, use.at, "");
  if (is_partly_unknown(result) || is_partly_unknown(carry)) return false;
  if (result->kind != TypeKind::Tuple || result->args.size() != 2)
    return fail(use, use.function_text,
                fmt::format("the function of `scan_over` returns a pair, the next carry and a row of the "
                            "result (or `()`), and the result of this is {}",
                            unifier_.describe(result)));
  Type row = resolve(result->args[1]);
  if (!is_row_type(row) || leaves_dims_open(row))
    return fail(use, use.function_text,
                fmt::format("the rows of the result are tensors or tuples of tensors whose shapes are known, "
                            "and this function makes {}",
                            unifier_.describe(row)));
  const Type step = tuple_type(std::vector<Type>{carry, row});
  assignments_.expect(use.function_text, step, result, "the result of the function of `scan_over`", {},
                      DiagnosticKind::ResultMismatch, call);
  Type rows = rows_type(row, row_count(resolve(use.over->type)));
  Type whole = tuple_type(std::vector<Type>{carry, rows});
  std::vector<std::string_view> texts;
  if (use.is_reverse) texts.emplace_back("reverse");
  DraftPtr made =
      drafts_.form(use.waiting->origin, whole,
                   IntrinsicExpr{.intrinsic = IntrinsicKind::ScanOver, .texts = drafts_.copy(texts)},
                   {step_of(use, params, call, step), use.initial, use.over});
  const DraftBinding binding{use.bound, use.function};
  use.waiting->replacement = use.bound ? drafts_.block(use.waiting->origin, {&binding, 1}, made) : made;
  assignments_.becomes(use.at, use.waiting, whole);
  return true;
}

// The function itself where its type is that of a step.
DraftPtr OverRows::step_of(const Scan& use, std::span<const Variable* const> params, DraftPtr call,
                           Type step) {
  const Type types[] = {resolve(params[0]->type), resolve(params[1]->type)};
  const Type wanted = function_type(types, step);
  auto* literal = form_of<FnExpr>(use.function);
  if (literal && literal->dim_vars.empty() && call->checks.empty() && resolve(use.function->type) == wanted)
    return use.function;
  return drafts_.form(use.waiting->origin, wanted, FnExpr{.params = drafts_.copy(params)}, {call});
}

// --- vmap

DraftPtr OverRows::map(SyntaxPtr s) {
  if (s->children.size() != 2 || s->child(1)->is(SyntaxKind::NamedArgument)) {
    report(DiagnosticKind::WrongArgumentCount, s,
           "`vmap` takes a function: `vmap(@f)(%xs)`, which is called with rows for each of its arguments; "
           "what is the same for all of them is captured: `vmap(fn (%x) { @f(%w, %x) })(%xs)`");
    return error(s);
  }
  uint32_t region = 0;
  DraftPtr function = infer_arm(s->child(1), region);
  auto* draft =
      drafts_.make<DerivativeDraft>(origin(s), unifier_.fresh_type(), IntrinsicKind::Vmap, function);
  const Map use{s, draft, at_open_dims(function, unifier_), unifier_.fresh_dim(), region};
  relations_.relate(s, draft, "the function", [=, this] { return attempt_map(use); });
  return draft;
}

bool OverRows::fail(SyntaxPtr s, DerivativeDraft& draft, std::string message) {
  if (!message.empty())
    report(DiagnosticKind::TypeMismatch, s->child(1), std::move(message), names_.origin_of(draft.function));
  give_up(draft.function);
  Type known = resolve(draft.type);
  unifier_.unify(known->kind == TypeKind::Function ? known->result() : known, error_type());
  return true;
}

bool OverRows::attempt_map(const Map& use) {
  auto& [s, waiting, type, count, region] = use;
  DerivativeDraft& draft = *waiting;
  Type function = resolve(type);
  if (function->kind == TypeKind::Infer) return false;
  if (function->is_error()) return fail(s, draft, "");
  if (function->kind != TypeKind::Function)
    return fail(s, draft,
                fmt::format("`vmap` takes a function, and this is {}", unifier_.describe(function)));
  if (function->params().empty())
    return fail(s, draft,
                "`vmap` takes a function of at least one argument: its rows say how many there are");
  if (resolve(draft.type)->kind == TypeKind::Infer) {
    std::vector<Type> params;
    for (size_t i = 0; i < function->params().size(); ++i) params.push_back(unifier_.fresh_type());
    unifier_.unify(draft.type, function_type(params, unifier_.fresh_type()));
  }
  Type mapped = resolve(draft.type);
  bool waits = false;
  for (size_t i = 0; i < function->params().size(); ++i) {
    Type param = resolve(function->params()[i]), rows = resolve(mapped->params()[i]);
    // Either follows from the other.
    if (!is_partly_unknown(param)) {
      if (!is_row_type(param))
        return fail(s, draft,
                    fmt::format("`vmap` takes a function of tensors and tuples of them, and argument {} of "
                                "this is {}; what is the same for all rows is captured: "
                                "`vmap(fn (%x) {{ @f(%same, %x) }})(%xs)`",
                                i + 1, unifier_.describe(param)));
      assignments_.expect(s, rows_type(param, count), rows, fmt::format("argument {} of this", i + 1));
    } else if (!is_partly_unknown(rows)) {
      Type row = row_type(rows);
      if (!row)
        return fail(s, draft,
                    fmt::format("`vmap` maps over the leading axes of tensors, and argument {} is {}", i + 1,
                                unifier_.describe(rows)));
      assignments_.expect(s, rows_type(row, count), rows, fmt::format("argument {} of this", i + 1));
      assignments_.expect(s->child(1), row, param, "the function of `vmap`");
    } else {
      waits = true;
    }
  }
  Type result = checks_.closed(function->result(), region);
  if (contains_error(result)) return fail(s, draft, "");
  if (waits || is_partly_unknown(result)) return false;
  if (!is_row_type(result) || leaves_dims_open(result))
    return fail(s, draft,
                fmt::format("`vmap` takes a function whose result is a tensor or a tuple of tensors of known "
                            "shape, and the result of this is {}",
                            unifier_.describe(result)));
  unifier_.unify(mapped->result(), rows_type(result, count));
  return true;
}

template <>
DraftPtr OverRows::call<CalledWord::ScanOver>(SyntaxPtr s, Type) {
  return scan(s);
}
template <>
DraftPtr OverRows::call<CalledWord::Vmap>(SyntaxPtr s, Type) {
  return map(s);
}

}  // namespace quern
