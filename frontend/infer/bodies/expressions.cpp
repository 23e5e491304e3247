#include "frontend/infer/bodies/expressions.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/internal_failure.h"

namespace quern {

DraftPtr Expressions::infer(SyntaxPtr s, Type wanted) {
  check_stack();
  if (!s || scope_.cancelled()) return error(s);
  DraftPtr draft = walk(s, wanted);
  context_.node_types.note(origin(s), draft->type);
  return draft;
}

DraftPtr Expressions::walk(SyntaxPtr s, Type wanted) {
  switch (s->kind) {
    case SyntaxKind::Int:
    case SyntaxKind::Float: return values.literals.number(s);
    case SyntaxKind::Bool: return values.literals.boolean(s, s->text == "True");
    case SyntaxKind::List: return values.lists.list(s);
    case SyntaxKind::Local:
    case SyntaxKind::GraphName: return calls_.names().local(s);
    case SyntaxKind::GlobalName: return calls_.names().global(s);
    case SyntaxKind::Name: return calls_.names().bare(s, wanted);
    case SyntaxKind::Paren: return infer(s->child(0), wanted);
    case SyntaxKind::Block: return blocks.block(s, wanted);
    case SyntaxKind::Tuple: return values.tuples.tuple(s, wanted);
    case SyntaxKind::Fn: return functions.literal(s);
    case SyntaxKind::Gradient: return functions.gradient_clause(s, wanted);
    case SyntaxKind::If: return if_else(s, wanted);
    case SyntaxKind::Call: return calls_.call(s, wanted);
    case SyntaxKind::Project: return values.fields.projection(s);
    case SyntaxKind::Field: return values.fields.field(s);
    case SyntaxKind::Index: return values.slices.slice(s);
    case SyntaxKind::Unary:
    case SyntaxKind::Binary: return infix(s);
    case SyntaxKind::Comprehension: return values.index_expressions.comprehension(s);
    case SyntaxKind::Scheduled: return scheduled(s, wanted);
    case SyntaxKind::Error: return error(s);
    case SyntaxKind::Meta: return values.literals.constant(s);
    case SyntaxKind::Match: return values.matches.match(s, wanted);
    case SyntaxKind::None: return calls_.names().bare(s);
    default: report_misplaced(s); return error(s);
  }
}

// Reports syntax in value position that is not a value.
void Expressions::report_misplaced(SyntaxPtr s) {
  struct Row {
    SyntaxKind syntax;
    DiagnosticKind kind;
    std::string_view message;
  };
  static constexpr Row kRows[] = {
      {SyntaxKind::String, DiagnosticKind::NoValueHere,
       "a string is no value here: strings are attributes, file names and labels of `print`"},
      {SyntaxKind::HoleType, DiagnosticKind::MissingOperand, kHoleHere},
      {SyntaxKind::FreeVar, DiagnosticKind::UnexpectedToken, "`free_var` stands at the top of a file"},
      {SyntaxKind::Scan, DiagnosticKind::InvalidIndexExpression,
       "a scan stands inside an index expression: `[i < n] => scan[k <= i] + …`"},
      {SyntaxKind::Scatter, DiagnosticKind::InvalidIndexExpression,
       "a scatter is the body of an index expression: `[i < n] => scatter[m < k] … at (…) = …`"},
      {SyntaxKind::Reduce, DiagnosticKind::InvalidIndexExpression,
       "a reduction stands inside an index expression: `[i < n] => sum[k] …`; over whole axes call the "
       "operator `sum(…, axis=[…])`"},
      {SyntaxKind::ReadElse, DiagnosticKind::InvalidIndexExpression,
       "`else` stands after a read inside an index expression: `[i < n] => %x[i - 1] else 0`"}};
  const auto* row = std::ranges::find(kRows, s->kind, &Row::syntax);
  if (row == std::end(kRows))
    report(DiagnosticKind::InvalidIndexExpression, s, "this has no value here");
  else
    report(row->kind, s, std::string(row->message));
}

DraftPtr Expressions::if_else(SyntaxPtr s, Type wanted) {
  DraftPtr condition = infer(s->child(0));
  assignments_.expect(s->child(0), scalar_type(DType::boolean()), condition->type, "the condition of `if`",
                      {}, DiagnosticKind::ConditionNotBool, condition);
  uint32_t first = 0, second = 0;
  DraftPtr then_arm = infer_arm(s->child(1), first, wanted);
  DraftPtr else_arm = infer_arm(s->child(2), second, wanted);
  DraftPtr branch = drafts_.form(origin(s), unifier_.fresh_type(), IfExpr{}, {condition, then_arm, else_arm});
  return assignments_.joined(branch, {then_arm, else_arm}, {first, second}, {s->child(1), s->child(2)});
}

// `a and b` is `if (a) { b } else { False }`, `a or b` is `if (a) { True } else { b }`.
DraftPtr Expressions::conditional(SyntaxPtr s, bool is_and) {
  uint32_t region = 0;
  DraftPtr arm = infer_arm(s->child(1), region);
  DraftPtr test = infer(s->child(0));
  Type boolean = scalar_type(DType::boolean());
  std::string what = fmt::format("the operand of `{}`", s->text);
  assignments_.expect(s->child(0), boolean, test->type, what, {}, DiagnosticKind::ConditionNotBool, test);
  assignments_.expect(s->child(1), boolean, arm->type, what, {}, DiagnosticKind::ConditionNotBool, arm);
  DraftPtr constant = values.literals.boolean(s, !is_and);
  return drafts_.form(origin(s), boolean, IfExpr{}, {test, is_and ? arm : constant, is_and ? constant : arm});
}

std::string Expressions::infix_name(SyntaxPtr s) {
  const bool is_unary = s->is(SyntaxKind::Unary) && s->text != "not";
  return scope_.infix((is_unary ? "unary " : "") + std::string(s->text));
}

DraftPtr Expressions::infix(SyntaxPtr s) {
  if (s->text == "and" || s->text == "or") return conditional(s, s->text == "and");
  if (s->text == "!") return values.references.read(s, s->child(0));
  if (s->text == ":=") return values.references.write(s, s->child(0), s->child(1));
  std::string name = infix_name(s);
  if (const Declaration* op = name.empty() ? nullptr : scope_.op(name))
    return calls_.operators().infix(s, *op);
  report(DiagnosticKind::UnknownOperator, s, fmt::format("no operator is declared for `{}`", s->text));
  return error(s);
}

DraftPtr Expressions::scheduled(SyntaxPtr s, Type wanted) {
  SyntaxPtr value = s->child(0);
  while (value->is(SyntaxKind::Paren)) value = value->child(0);
  const Declaration* op = nullptr;
  if (value->is(SyntaxKind::Call) && value->child(0)->is(SyntaxKind::Name))
    op = scope_.op(value->child(0)->text);
  if (value->is(SyntaxKind::Binary) || value->is(SyntaxKind::Unary)) op = scope_.op(infix_name(value));
  parts_.schedules.state(value, s->child(1), op);
  return infer(s->child(0), wanted);
}

}  // namespace quern
