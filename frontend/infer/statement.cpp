// Statements of the top level.

#include <fmt/format.h>

#include <functional>
#include <set>

#include "frontend/infer/gradual/open_dims.h"
#include "frontend/infer/infer.h"
#include "frontend/infer/inference.h"

namespace quern {

namespace {

// Keeps what a statement's polymorphic function literal needs for its copies.
void keep_literal(const Declaration& statement, Scope& scope, Inferred& result) {
  result.literal = std::make_shared<Declaration>(statement);
  std::set<std::string_view> seen{statement.syntax->text};
  std::function<void(SyntaxPtr)> walk = [&](SyntaxPtr s) {
    if (!s) return;
    if ((s->is(SyntaxKind::Local) || s->is(SyntaxKind::GraphName)) && seen.insert(s->text).second)
      if (auto variable = scope.shared_variable(s->text)) result.captured.push_back(std::move(variable));
    for (SyntaxPtr c : s->children) walk(c);
  };
  walk(literal_of(statement.syntax));
}

// `free_var %x: type;` of Relay's expression files: a variable whose value an input supplies.
Inferred infer_free_variable(const Declaration& statement, Scope& scope, Inference& inference) {
  SyntaxPtr s = statement.syntax;
  Inferred result;
  Type type = error_type();
  if (s->child(0) && !has_hole(s->child(0))) {
    StaticEvaluator evaluator(scope, statement.id, inference.context.diagnostics);
    type = resolve_type(s->child(0), inference.names.env, evaluator, scope, inference.context.diagnostics,
                        statement.id);
  } else {
    inference.context.report(
        DiagnosticKind::CannotInfer, s,
        fmt::format("the type of an input has to be written: `free_var %{}: type;`", s->text));
  }
  result.definition = {std::string(s->text), Scheme{{}, {}, type}, nullptr, inference.context.arena};
  result.variable = make_variable(*inference.context.arena, inference.context.arena->copy(s->text),
                                  open_any(type, s->text));
  result.diagnostics = std::move(inference.context.diagnostics);
  result.types.assign(s->id + 1, nullptr);
  result.types[s->id] = type;
  return result;
}

// `let %g = vmap(@f)`: its type is known where it is called, and a function that calls it is general.
bool report_function_over_rows(Inference& inference, SyntaxPtr value) {
  const bool maps = value->is(SyntaxKind::Call) && value->child(0)->is(SyntaxKind::Name) &&
                    value->child(0)->text == "vmap" && value->children.size() == 2;
  if (!maps) return false;
  SyntaxPtr function = value->child(1);
  std::vector<Fix> fixes;
  const bool is_global = function->is(SyntaxKind::GlobalName);
  const Declaration* head = is_global ? inference.context.scope.global(function->text) : nullptr;
  if (head && function->children.empty()) {
    std::string names;
    for (size_t i = 0; i < params_of(head->syntax)->children.size(); ++i)
      names += fmt::format("{}%x{}", i > 0 ? ", " : "", i > 0 ? std::to_string(i) : "");
    fixes.push_back({"bind a function that calls it",
                     {{inference.context.place(value),
                       fmt::format("fn ({0}) {{ vmap(@{1})({0}) }}", names, function->text)}}});
  }
  inference.context.report(
      DiagnosticKind::CannotInfer, value,
      "how many rows there are is known where this function is called; bind a function that "
      "calls it: `fn (%x) { vmap(@f)(%x) }`",
      {}, std::move(fixes));
  return true;
}

void report_unknown_type(Inference& inference, SyntaxPtr statement, SyntaxPtr value) {
  if (report_function_over_rows(inference, value)) return;
  SyntaxPtr callee = value->is(SyntaxKind::Call) ? value->child(0) : value;
  std::string message =
      "the type of this value cannot be determined; bind it with an annotation: `let %x: type = …`";
  if (callee != value && callee->is(SyntaxKind::GlobalName))
    message = fmt::format("what `@{}` gives has no type that could be determined: annotate its result",
                          callee->text);
  else if (statement->is(SyntaxKind::Let) && statement->text != "_")
    message = fmt::format("the type of this value cannot be determined; annotate it: `let %{}: type = …`",
                          statement->text);
  inference.context.report(DiagnosticKind::CannotInfer, value, message);
}

// A statement other than `free_var`.
class StatementInference {
 public:
  StatementInference(const Declaration& statement, Scope& scope, Inference& inference)
      : statement_(statement),
        scope_(scope),
        inference_(inference),
        context_(inference.context),
        s_(statement.syntax),
        is_let_(s_->is(SyntaxKind::Let)),
        is_graph_(s_->is(SyntaxKind::GraphLet)),
        is_pattern_(s_->is(SyntaxKind::LetPattern)),
        value_(is_pattern_                             ? s_->child(2)
               : is_let_                               ? s_->child(1)
               : is_graph_ || s_->is(SyntaxKind::Test) ? s_->child(0)
                                                       : s_) {}

  Inferred run() {
    type_value();
    solve(inference_);
    Inferred result;
    // A specialised function has no value itself; its copies do.
    ExprPtr body = scheme_.specialised ? nullptr : inference_.finisher.finish_statement(draft_);
    settle_scheme();
    if (scheme_.specialised && !has_errors(context_.diagnostics)) keep_literal(statement_, scope_, result);
    result.definition = {std::string(is_let_ || is_graph_ ? s_->text : ""), scheme_, nullptr, context_.arena};
    result.definition.body = !body || contains_errors(body) ? nullptr : body;
    if ((is_let_ && s_->text != "_") || is_graph_)
      result.variable = make_variable(*context_.arena, context_.arena->copy(s_->text),
                                      open_any(scheme_.type, s_->text), is_graph_);
    if (is_pattern_) result.pattern = finished_pattern();
    result.diagnostics = std::move(context_.diagnostics);
    result.late_calls = std::move(context_.late_calls);
    result.types = inference_.finisher.types_of(statement_.id);
    result.needs = std::move(context_.needs);
    if (is_let_ || is_graph_) {
      if (result.types.size() <= s_->id) result.types.resize(s_->id + 1, nullptr);
      result.types[s_->id] = scheme_.type;
    }
    return result;
  }

 private:
  void type_value() {
    // A function literal sees its own name: its statement is `{ let %f = fn …; %f }`.
    bool is_function = binds_function(s_);
    if (is_function) draft_ = inference_.walk.functions.statement(s_, scheme_);
    SyntaxPtr annotation = is_pattern_ ? s_->child(1) : is_let_ && !is_function ? s_->child(0) : nullptr;
    if (annotation) type_ = inference_.names.annotation(annotation);
    if (is_let_ || is_pattern_) inference_.files.annotations.emplace(value_, annotation);
    if (!is_function) draft_ = inference_.walk.infer(value_, type_);
    if (type_)
      inference_.assignments.expect(
          value_, type_, draft_->type, is_pattern_ ? "this value" : fmt::format("`%{}`", s_->text),
          {{context_.place(annotation), "it is declared here"}}, DiagnosticKind::AnnotationMismatch, draft_);
    else
      type_ = draft_->type;
    if (is_pattern_) pattern_ = inference_.walk.values.patterns.of_let(s_, type_);
    if (!s_->is(SyntaxKind::Test)) return;
    SyntaxPtr last = value_->children.empty() ? value_ : value_->children.back();
    inference_.assignments.expect(last, unit_type(), draft_->type, "the body of a test");
  }

  PatternPtr finished_pattern() {
    Arena& arena = *context_.arena;
    auto type = [this](Type written) { return inference_.checks.closed(context_.final_type(written), 0); };
    return map_pattern(
        arena, pattern_,
        [&](const Variable* variable) {
          return make_variable(arena, arena.copy(variable->name),
                               open_any(type(variable->type), variable->name));
        },
        type);
  }

  void settle_scheme() {
    Type settled = inference_.checks.closed(context_.final_type(type_), 0);
    // An error type comes from a mistake that is already reported.
    if (context_.unifier.resolve(type_)->has_infer && !has_errors(context_.diagnostics)) {
      settled = error_type();
      report_unknown_type(inference_, s_, value_);
    }
    scheme_.type = settled;
    finish_constraints(scheme_, context_);
  }

  const Declaration& statement_;
  Scope& scope_;
  Inference& inference_;
  Context& context_;
  SyntaxPtr s_;
  const bool is_let_, is_graph_, is_pattern_;
  SyntaxPtr value_;
  DraftPtr draft_ = nullptr;
  Type type_ = nullptr;
  PatternPtr pattern_ = nullptr;
  Scheme scheme_;
};

}  // namespace

Inferred infer_statement(const Declaration& statement, Scope& scope) {
  Inference inference(scope, statement.id);
  inference.context.warns = true;
  if (statement.syntax->is(SyntaxKind::FreeVar)) return infer_free_variable(statement, scope, inference);
  return StatementInference(statement, scope, inference).run();
}

}  // namespace quern
