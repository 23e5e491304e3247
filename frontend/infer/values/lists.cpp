#include "frontend/infer/values/lists.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

namespace {

/// The symbol under which `infix` declares the operator that stacks the values of a list along a new first
/// axis.
constexpr std::string_view kListSymbol = "[]";

bool is_of_numbers(SyntaxPtr s) {
  if (s->is(SyntaxKind::List)) return std::ranges::all_of(s->children, is_of_numbers);
  return s->is(SyntaxKind::Int) || s->is(SyntaxKind::Float) || s->is(SyntaxKind::Bool);
}

}  // namespace

DraftPtr Lists::list(SyntaxPtr s) {
  if (is_of_numbers(s)) return literals_.tensor(s);
  const std::string name = scope_.infix(kListSymbol);
  const Declaration* op = name.empty() ? nullptr : scope_.op(name);
  if (!op) {
    report(DiagnosticKind::UnknownOperator, s, fmt::format("no operator is declared for `{}`", kListSymbol));
    return error(s);
  }
  OperatorCallDraft& call = parts_.operators.make(*op, s);
  call.args.push_back(tuples_.tuple(s, nullptr));
  call.call.tensors.push_back(call.args.back()->type);
  call.call.tensor_syntax.push_back(s);
  parts_.operators.relate(s, call, "what stands in the list");
  return &call;
}

}  // namespace quern
