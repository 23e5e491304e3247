#include "frontend/infer/operators/operators.h"

#include <fmt/format.h>

#include "frontend/infer/gradual/open_dims.h"

namespace quern {

namespace {

// The matcher's hooks into inference, for one call. Dims already known equal are unified.
class CallHooks final : public TypeHooks {
 public:
  CallHooks(const OperatorCallDraft& call, Context& context, Names& names, DimChecks& checks)
      : call_(call), unifier_(context.unifier), names_(names), checks_(checks) {}

  Type resolve(Type type) override { return checks_.normalise(unifier_.resolve(type)); }
  Dim resolve(Dim dim) override { return checks_.normalise(unifier_.resolve(dim)); }
  DType resolve(DType dtype) override { return unifier_.resolve(dtype); }
  bool unify(Type a, Type b) override { return unifier_.unify(a, b); }
  bool unify(Dim a, Dim b) override { return unifier_.unify(a, b); }
  bool unify(DType a, DType b) override { return unifier_.unify(a, b); }
  bool require(DimRelation relation, Dim a, Dim b, bool strict) override {
    return checks_.require(relation, a, b, strict);
  }
  void asking(SyntaxPtr at, const Place& source, std::function<std::string()> what) override {
    checks_.site.origin = {call_.origin.declaration, at->id};
    checks_.site.source = source.origin;
    checks_.site.what = std::move(what);
  }
  std::string describe(DType dtype) override { return unifier_.describe(dtype); }
  std::string describe(Type type) override { return unifier_.describe(type); }
  std::vector<Note> origin_of_argument(size_t i) override {
    if (i >= call_.args.size()) return {};
    return names_.origin_of(call_.args[i], resolve(call_.args[i]->type));
  }

 private:
  const OperatorCallDraft& call_;
  Unifier& unifier_;
  Names& names_;
  DimChecks& checks_;
};

}  // namespace

OperatorCallDraft& Operators::make(const Declaration& op, SyntaxPtr at) {
  OperatorCallDraft& call = *drafts_.make<OperatorCallDraft>(origin(at), nullptr, &op);
  call.call.syntax = at;
  return call;
}

void Operators::relate(SyntaxPtr at, OperatorCallDraft& call, std::string wanting) {
  if (!call.type) call.type = unifier_.fresh_type();
  relations_.relate(at, &call, std::move(wanting), [this, &call] { return attempt(call); });
}

MatchOutcome Operators::match(const OperatorCallDraft& call) {
  CallHooks hooks(call, context_, names_, checks_);
  return match_signature(*call.op, call.call, scope_, hooks, diagnostics_, call.origin.declaration);
}

std::optional<SignatureBinding> Operators::match_again(const OperatorCallDraft& call) {
  MatchOutcome outcome = match(call);
  if (outcome.status != MatchStatus::Matched) return std::nullopt;
  return std::move(outcome.binding);
}

bool Operators::attempt(OperatorCallDraft& call) {
  size_t reported = diagnostics_.size();
  checks_.site.draft = call.args.empty() ? &call : call.args.back();
  MatchOutcome outcome = match(call);
  checks_.site = {};
  if (outcome.status == MatchStatus::Stuck) return false;
  if (outcome.status == MatchStatus::Matched) {
    call.matched = true;
    call.binding = std::move(outcome.binding);
    for (Type t : call.call.tensors) call.open |= resolve(t)->has_infer;
    assignments_.becomes(call.call.syntax, &call, open_result(call));
  } else {
    unifier_.unify(call.type, error_type());
  }
  if (!call.need.name.empty()) report_as_needed(call, reported);
  return true;
}

// Moves diagnostics since `from` to the use of the polymorphic function that needs the call.
void Operators::report_as_needed(const OperatorCallDraft& call, size_t from) {
  for (size_t i = from; i < diagnostics_.size(); ++i) {
    Diagnostic& d = diagnostics_[i];
    d.message = fmt::format("{} cannot be used with these types: {}", call.need.name, d.message);
    d.notes.push_back({Place{call.need.stated, {}}, fmt::format("{} needs it here", call.need.name)});
    broken_uses_.insert(call.need.use);
  }
}

// Opens each `?` of the result, which only the call's value determines, as for a function. The call becomes a
// separate draft below the opening, which replaces the waiting one. Returns the type of the result.
Type Operators::open_result(OperatorCallDraft& waiting) {
  Type result = waiting.binding.result;
  OperatorCallDraft* call = &waiting;
  if (has_open_dim(result)) {
    call = drafts_.make<OperatorCallDraft>(waiting.origin, result, waiting.op, waiting.args, waiting.call,
                                           waiting.need, waiting.binding, true, waiting.open);
    waiting.replacement = checks_.opened(call, result, waiting.op->name);
  }
  if (call->open) open_matches.push_back(call);
  return waiting.replacement ? waiting.replacement->type : result;
}

std::optional<Constraint> Operators::constraint_of(DraftPtr draft) {
  auto* call = as<OperatorCallDraft>(draft);
  if (!call || call->op->name.starts_with("@")) return std::nullopt;
  Origin origin = call->need.name.empty() ? call->origin : call->need.stated;
  SyntaxPtr syntax = call->call.syntax;
  bool infix = syntax->is(SyntaxKind::Binary) || syntax->is(SyntaxKind::Unary);
  return Constraint{call->op->name,
                    call->call.tensors,
                    call->call.attributes,
                    call->type,
                    origin,
                    std::string(infix ? syntax->text : "")};
}

}  // namespace quern
