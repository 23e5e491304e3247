// Unbound names in an operator whose instances need a call.

#include "frontend/check/names.h"

#include <fmt/format.h>

#include <set>

#include "frontend/signature/signature.h"
#include "frontend/static/builtins.h"
#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"

namespace quern {

namespace {

class NameCheck {
 public:
  NameCheck(const Declaration& op, Scope& scope, Diagnostics& diagnostics)
      : op_(op), scope_(scope), diagnostics_(diagnostics) {
    SyntaxPtr params = params_of(op.syntax);
    if (SyntaxPtr declared = op.syntax->child(0)) bind_names(declared);
    for (SyntaxPtr p : params->children) {
      if (p->is(SyntaxKind::AttributeParam)) bound_.insert(std::string(p->text));
      if (p->is(SyntaxKind::TensorParam) && p->child(0)) bind_names(p->child(0));
    }
  }

  void signature() {
    for (SyntaxPtr clause : op_.syntax->child(3)->children) {
      if (clause->is(SyntaxKind::Where) || clause->is(SyntaxKind::StaticClause)) expression(clause->child(0));
      if (clause->is(SyntaxKind::StaticClause)) bound_.insert(std::string(clause->text));
    }
    for (SyntaxPtr body : op_.syntax->child(4)->children)
      if (body->child(0)) expression(body->child(0));
    type(op_.syntax->child(2));
  }
  /// The index expressions: compile-time names and index names.
  void bodies() {
    if (!op_.syntax->is(SyntaxKind::Op)) return;
    in_body_ = true;
    for (SyntaxPtr body : op_.syntax->child(4)->children) expression(body->child(1));
  }

 private:
  // Names in a parameter's type are bound by the argument.
  void bind_names(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Name) || s->is(SyntaxKind::FamilyType)) bound_.insert(std::string(s->text));
    for (SyntaxPtr c : s->children) bind_names(c);
  }
  void type(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::TensorType)) {
      expression(s->child(0));
      dtype(s->child(1));
    }
    if (s->is(SyntaxKind::TupleType))
      for (SyntaxPtr field : s->children) type(field);
    if (s->is(SyntaxKind::FamilyType)) {
      expression(s->child(1));
      bool added = bound_.insert(std::string(s->text)).second;
      type(s->child(0));
      if (added) bound_.erase(std::string(s->text));
    }
    if (s->is(SyntaxKind::CasesType))
      for (size_t i = 0; i < s->children.size(); ++i) {
        bool condition = i % 2 == 0 && i + 1 < s->children.size();
        if (condition)
          expression(s->child(i));
        else
          type(s->child(i));
      }
  }
  void dtype(SyntaxPtr s) {
    if (!s->is(SyntaxKind::Name)) return expression(s);
    if (bound_.contains(s->text) || parse_dtype(s->text)) return;
    Suggestion meant = suggest(dtype_meant_by(s->text), place(s));
    report(DiagnosticKind::UnknownDType, s, fmt::format("unknown dtype `{}`{}", s->text, meant.text), meant);
  }
  void expression(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Name) || s->is(SyntaxKind::BroadcastSpread)) return name(s);
    if (s->is(SyntaxKind::Call)) {
      callee(s->child(0));
      for (SyntaxPtr argument : s->children.subspan(1)) expression(argument);
      return;
    }
    std::set<std::string, std::less<>> outer = bound_;
    if (s->is(SyntaxKind::Generator)) {
      expression(s->child(1));
      bound_.insert(std::string(s->text));
      expression(s->child(0));
      expression(s->child(2));
    } else {
      for (SyntaxPtr c : s->children) expression(c);
    }
    // Binders are in scope to the end of their expression.
    if (s->is(SyntaxKind::Binder) || s->is(SyntaxKind::PackBinder)) {
      bound_.insert(std::string(s->text));
    } else if (!s->is(SyntaxKind::Binders)) {
      bound_ = std::move(outer);
    }
  }
  void name(SyntaxPtr s) {
    if (bound_.contains(s->text) || parse_dtype(s->text)) return;
    Suggestion meant = suggest(did_you_mean(s->text, {bound_.begin(), bound_.end()}), place(s));
    report(DiagnosticKind::UnknownName, s, fmt::format("unknown name `{}`{}", s->text, meant.text), meant);
  }
  void callee(SyntaxPtr s) {
    bool unknown = s->is(SyntaxKind::Name) && !find_static_builtin(s->text) && !scope_.op(s->text);
    if (unknown && !in_body_) {
      Suggestion meant = suggest(did_you_mean(s->text, static_builtin_names()), place(s));
      report(DiagnosticKind::UnknownStatic, s,
             fmt::format("there is no compile-time function `{}`{}", s->text, meant.text), meant);
    }
    if (!s->is(SyntaxKind::GlobalName)) return;
    if (scope_.static_function(s->text) || scope_.in_broken_import(s->text)) return;
    report(DiagnosticKind::UnknownStatic, s, fmt::format("there is no `static @{}`", s->text), {});
  }
  Place place(SyntaxPtr s) const { return {{op_.id, s->id}, {}}; }
  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, Suggestion meant) {
    diagnostics_.push_back({kind, place(at), std::move(message), {}, std::move(meant.fixes)});
  }

  const Declaration& op_;
  Scope& scope_;
  Diagnostics& diagnostics_;
  std::set<std::string, std::less<>> bound_;
  bool in_body_ = false;  ///< calls here are of scalar functions
};

}  // namespace

Diagnostics check_clause_names(const Declaration& op, Scope& scope) {
  Diagnostics diagnostics;
  NameCheck(op, scope, diagnostics).signature();
  return diagnostics;
}

Diagnostics check_body_names(const Declaration& op, Scope& scope) {
  Diagnostics diagnostics;
  NameCheck names(op, scope, diagnostics);
  names.signature();
  if (diagnostics.empty()) names.bodies();
  return diagnostics;
}

}  // namespace quern
