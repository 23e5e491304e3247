#include "frontend/signature/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/signature/match.h"

namespace quern {

SyntaxPtr params_of(SyntaxPtr op) { return op->child(1); }

size_t tensor_param_count(SyntaxPtr op) {
  size_t count = 0;
  for (SyntaxPtr p : params_of(op)->children) count += p->is(SyntaxKind::TensorParam);
  return count;
}

bool is_permuted_shape(SyntaxPtr shape) {
  return shape->is(SyntaxKind::Call) && shape->child(0)->text == "permute" && shape->children.size() == 3 &&
         shape->child(1)->is(SyntaxKind::Tuple);
}

MatchOutcome SignatureMatcher::run() {
  SyntaxPtr params = params_of(op_.syntax);
  size_t tensors = tensor_param_count(op_.syntax);
  if (call_.tensors.size() != tensors) {
    std::string missing;
    size_t position = 0;
    for (SyntaxPtr p : params->children)
      if (p->is(SyntaxKind::TensorParam) && position++ >= call_.tensors.size())
        missing += fmt::format("{}`%{}`", missing.empty() ? ": there is no " : ", no ", p->text);
    report(DiagnosticKind::WrongArgumentCount, call_.syntax,
           fmt::format("`{}` takes {} tensor argument{} and is given {}{}", op_.name, tensors,
                       tensors == 1 ? "" : "s", call_.tensors.size(), missing),
           {{Place{{op_.id, params->id}, {}}, fmt::format("`{}` is defined here", op_.name)}});
    return failed();
  }
  for (Type type : call_.tensors)
    if (contains_error(hooks_.resolve(type))) return failed();
  binding_.bound.reserve(2 * tensors);  // a pack and a dtype for each
  if (!attributes()) return failed();
  if (!late_.empty() && mentions_unknown_dims()) return {MatchStatus::Stuck, {}};
  size_t i = 0;
  for (SyntaxPtr p : params->children) {
    if (!p->is(SyntaxKind::TensorParam)) continue;
    operand_.argument = i;
    operand_.param = p;
    Status status = match(p->child(0), hooks_.resolve(call_.tensors[i++]));
    if (status == Status::Stuck) return {MatchStatus::Stuck, {}};
    if (status == Status::Failed) return failed();
  }
  Status rest = match_put_off();
  if (rest == Status::Stuck) return {MatchStatus::Stuck, {}};
  if (rest == Status::Failed) return failed();
  for (SyntaxPtr declared : late_) {
    auto value = inside_evaluator_.evaluate(declared->child(1), binding_.env);
    if (!value) {
      report_inside();
      return failed();
    }
    binding_.env.insert_or_assign(declared->text, *value);
  }
  asking(call_.syntax, [this] { return op_text(); });
  if (!clauses() || !result()) return failed();
  // Values that `static` clauses compute from this call's dims are recomputed for an instance from its dims.
  for (SyntaxPtr clause : op_.syntax->child(3)->children)
    if (clause->is(SyntaxKind::StaticClause)) binding_.env.erase(clause->text);
  return {MatchStatus::Matched, std::move(binding_)};
}

std::string SignatureMatcher::op_text() const {
  if (call_.syntax->is(SyntaxKind::List)) return "this list";
  bool infix = call_.syntax->is(SyntaxKind::Binary) || call_.syntax->is(SyntaxKind::Unary);
  return fmt::format("`{}`", infix ? call_.syntax->text : op_.name);
}

std::string SignatureMatcher::operand_text(size_t i) const {
  if (call_.syntax->is(SyntaxKind::Binary)) return i == 0 ? "the left operand" : "the right operand";
  if (call_.syntax->is(SyntaxKind::Unary)) return "the operand";
  size_t next = 0;
  for (SyntaxPtr p : params_of(op_.syntax)->children)
    if (p->is(SyntaxKind::TensorParam) && next++ == i) return fmt::format("`%{}`", p->text);
  return "this";
}

std::string SignatureMatcher::operand_text(const Operand& operand) const {
  if (!operand.member) return operand_text(operand.argument);
  if (call_.syntax->is(SyntaxKind::List)) return fmt::format("element {}", *operand.member);
  return fmt::format("`%{}.{}`", operand.param->text, *operand.member);
}

std::string SignatureMatcher::text_of_binder(std::string_view name) const {
  const auto binder = bound_by_.find(name);
  return binder == bound_by_.end() ? "" : operand_text(binder->second);
}

void SignatureMatcher::report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes,
                              std::vector<Fix> fixes) {
  diagnostics_.push_back(
      {kind, {{caller_, at->id}, {}}, std::move(message), std::move(notes), std::move(fixes)});
}

std::vector<Note> SignatureMatcher::argument_notes() {
  std::vector<Note> notes;
  for (size_t i = 0; i < call_.tensors.size(); ++i)
    for (Note& note : hooks_.origin_of_argument(i)) notes.push_back(std::move(note));
  return notes;
}

bool SignatureMatcher::report_inside() {
  if (inside_.empty()) return false;
  Diagnostic first = inside_[0];
  // A mistake in the definition itself, independent of the arguments, is reported there, once.
  bool is_name = first.kind == DiagnosticKind::UnknownName || first.kind == DiagnosticKind::UnknownType ||
                 first.kind == DiagnosticKind::UnknownDType || first.kind == DiagnosticKind::UnknownStatic ||
                 first.kind == DiagnosticKind::WrongArgumentCount ||
                 first.kind == DiagnosticKind::TensorTypeForm || first.kind == DiagnosticKind::MissingOperand;
  if (first.kind == DiagnosticKind::UnknownName && !empty_family_.empty()) {
    report(DiagnosticKind::WrongArgumentCount, call_.syntax,
           fmt::format("{}: {} is an empty tuple, and what the type of its members names has no value",
                       op_text(), empty_family_));
    return false;
  }
  if (is_name) {
    first.notes.push_back({Place{{caller_, call_.syntax->id}, {}}, "this call needs it"});
    diagnostics_.push_back(std::move(first));
    return false;
  }
  std::vector<Note> notes = argument_notes();
  report(first.kind, call_.syntax, fmt::format("{}: {}", op_text(), first.message), std::move(notes));
  return false;
}

void SignatureMatcher::asking(SyntaxPtr at, std::function<std::string()> what, SyntaxPtr source) {
  hooks_.asking(at, source ? Place{{op_.id, source->id}, {}} : Place{}, std::move(what));
}

MatchOutcome match_signature(const Declaration& op, const SignatureCall& call, Scope& scope, TypeHooks& hooks,
                             Diagnostics& diagnostics, uint32_t caller) {
  return SignatureMatcher(op, call, scope.home(op), hooks, diagnostics, caller).run();
}

}  // namespace quern
