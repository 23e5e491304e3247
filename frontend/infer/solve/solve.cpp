#include "frontend/infer/solve/solve.h"

#include <fmt/format.h>

#include <functional>

#include "frontend/infer/context/open_types.h"

namespace quern {

namespace {

class Solver : public Component {
 public:
  explicit Solver(Parts& parts)
      : Component(parts.context), parts_(parts), names_(parts.names), relations_(parts.relations) {}

  void run();

 private:
  void report_open(const Relation& relation);
  std::string missing_annotation(const Relation& relation, std::vector<Note>& notes);
  std::optional<std::string> open_parameter(SyntaxPtr at, std::vector<Note>& notes);
  void report_unsettled();

  Parts& parts_;
  Names& names_;
  Relations& relations_;
};

void Solver::run() {
  parts_.files.load_types();
  do relations_.run();
  while (unifier_.apply_defaults(relations_.awaiting_literals()) || unifier_.apply_defaults() ||
         unifier_.settle_broadcasts(false));
  for (const Relation& relation : relations_.all()) {
    // Types of files and of comparisons are reported where they are checked.
    DraftKind kind = relation.draft->kind;
    if (!relation.done && kind != DraftKind::Load && kind != DraftKind::Assertion) report_open(relation);
  }
  report_unsettled();
  parts_.files.check();
}

void Solver::report_open(const Relation& relation) {
  context_.declaration = relation.declaration;
  if (resolve(relation.draft->type)->is_error()) return;
  std::vector<Note> notes;
  std::string remedy = missing_annotation(relation, notes);
  report(DiagnosticKind::CannotInfer, relation.at,
         fmt::format("the type of {} cannot be determined here; annotate {}", relation.wanting, remedy),
         std::move(notes));
}

// An unannotated parameter of the polymorphic function in use.
std::optional<std::string> Solver::open_parameter(SyntaxPtr at, std::vector<Note>& notes) {
  Copies::Literal literal;
  if (const Declaration* def = at->is(SyntaxKind::GlobalName) ? scope_.global(at->text) : nullptr)
    literal = {params_of(def->syntax), def->id};
  else if (at->is(SyntaxKind::Local))
    literal = parts_.copies.literal_named(at->text);
  for (SyntaxPtr p : literal.params ? literal.params->children : std::span<const SyntaxPtr>())
    if (p->is(SyntaxKind::TensorParam) && !p->child(0)) {
      notes.push_back(
          {Place{{literal.declaration, p->id}, {}}, fmt::format("`%{}` has no type here", p->text)});
      return fmt::format("`%{}`", p->text);
    }
  return std::nullopt;
}

// The annotation that would settle an open relation: of a parameter of the function in use, or of a variable.
std::string Solver::missing_annotation(const Relation& relation, std::vector<Note>& notes) {
  if (auto parameter = open_parameter(relation.at, notes)) return *parameter;
  std::vector<DraftPtr> parts;
  if (auto* field = as<ProjectionDraft>(relation.draft)) parts.push_back(field->tuple);
  if (auto* call = as<OperatorCallDraft>(relation.draft)) parts = call->args;
  for (DraftPtr part : parts) {
    auto* var = form_of<VarExpr>(part);
    const Place* known = var ? names_.place_of(var->variable) : nullptr;
    if (!known || !has_open_part(resolve(part->type))) continue;
    notes.push_back({*known, fmt::format("`%{}` has no type here", var->variable->name)});
    return fmt::format("`%{}`", var->variable->name);
  }
  return "a parameter or a `let` that leads to it";
}

void Solver::report_unsettled() {
  for (auto& [a, b, number] : unifier_.unsettled()) {
    // An unknown, or the variable that generalisation made from it, has no user-given name.
    DimMap named;
    std::function<void(Dim)> name_unknowns = [&](Dim d) {
      if (resolve(d)->kind == DimKind::Infer) unifier_.unify(d, dim_var("k"));
      if (parts_.general.made(d)) named.emplace(d, dim_var("k"));
      for (Dim arg : d->args) name_unknowns(arg);
    };
    name_unknowns(resolve(a));
    name_unknowns(resolve(b));
    auto text = [&](Dim d) { return to_string(substitute(resolve(d), named)); };
    const DimChecks::PutOff& asked = parts_.checks.put_off(number);
    diagnostics_.push_back({DiagnosticKind::DimMismatch,
                            asked.place.origin.node ? asked.place : place(nullptr),
                            fmt::format("{}the dims {} and {} have to be equal, which is not known",
                                        asked.what, text(b), text(a)),
                            {}});
  }
}

}  // namespace

void solve(Parts& parts) { Solver(parts).run(); }

}  // namespace quern
