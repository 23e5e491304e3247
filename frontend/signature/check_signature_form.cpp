// Checks the order and form of parameters and arguments.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/signature/check_form.h"

namespace quern {

namespace {

class SignatureForm {
 public:
  SignatureForm(uint32_t id, Diagnostics& diagnostics) : id_(id), diagnostics_(diagnostics) {}

  void declaration(SyntaxPtr s) {
    bool composite = s->is(SyntaxKind::Def) && !s->text.starts_with("@");
    if (composite || s->is(SyntaxKind::Op) || s->is(SyntaxKind::ExternOp)) typed(s->child(1));
    if (s->is(SyntaxKind::Static)) names(s->child(0));
    if (s->is(SyntaxKind::Def) || s->is(SyntaxKind::ExternOp)) not_lowered(s->child(3));
    visit(s);
  }

 private:
  void visit(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Params)) tensors_first(s->children);
    if (s->is(SyntaxKind::Call)) named_last(s);
    if (s->is(SyntaxKind::TensorParam)) one_pack(s->child(0));
    for (SyntaxPtr c : s->children) visit(c);
  }
  void not_lowered(SyntaxPtr clauses) {
    for (SyntaxPtr clause : clauses->children)
      if (clause->is(SyntaxKind::LoweringClause))
        report(DiagnosticKind::InvalidLowering, clause,
               "`lowering` stands in an `op`, whose index expression says what the intrinsic does");
  }
  // An operator's signature must be typed: nothing is inferred from its body.
  void typed(SyntaxPtr params) {
    for (SyntaxPtr p : params->children)
      if (p->is(SyntaxKind::TensorParam) && !p->child(0))
        report(DiagnosticKind::MissingSignature, p,
               fmt::format("a tensor of an operator says its type: `%{}: Tensor[s, t]`", p->text));
  }
  void names(SyntaxPtr params) {
    for (SyntaxPtr p : params->children)
      if (p->is(SyntaxKind::TensorParam))
        report(
            DiagnosticKind::UnexpectedToken, p,
            fmt::format("a `static` function takes values of the compile time, without `%`: `{}`", p->text));
  }
  void tensors_first(std::span<const SyntaxPtr> params) {
    SyntaxPtr attribute = nullptr;
    for (SyntaxPtr p : params) {
      if (p->is(SyntaxKind::AttributeParam)) attribute = p;
      if (!attribute || !p->is(SyntaxKind::TensorParam)) continue;
      report(
          DiagnosticKind::UnexpectedToken, attribute,
          fmt::format("attributes come after the tensors: `{}` goes behind `%{}`", attribute->text, p->text));
      return;
    }
  }
  void named_last(SyntaxPtr call) {
    bool named = false;
    for (SyntaxPtr argument : call->children.subspan(1)) {
      if (named && !argument->is(SyntaxKind::NamedArgument))
        return report(DiagnosticKind::UnexpectedToken, argument,
                      "arguments by position come before those by name, `name=…`");
      named |= argument->is(SyntaxKind::NamedArgument);
    }
  }
  // With several packs, the split of the dims is ambiguous.
  void one_pack(SyntaxPtr type) {
    if (!type) return;
    if (!type->is(SyntaxKind::TensorType)) {
      for (SyntaxPtr part : type->children) one_pack(part);
      return;
    }
    SyntaxPtr first = nullptr;
    for (SyntaxPtr item : type->child(0)->children) {
      if (!item || !item->is(SyntaxKind::Spread)) continue;
      if (first)
        return report(DiagnosticKind::UnexpectedToken, item,
                      "a parameter's shape has one pack: where the second begins is open");
      first = item;
    }
  }
  void report(DiagnosticKind kind, SyntaxPtr at, std::string message) {
    diagnostics_.push_back({kind, {{id_, at->id}, {}}, std::move(message), {}});
  }

  uint32_t id_;
  Diagnostics& diagnostics_;
};

}  // namespace

Diagnostics check_signature_form(SyntaxPtr declaration, uint32_t id) {
  Diagnostics diagnostics;
  SignatureForm(id, diagnostics).declaration(declaration);
  return diagnostics;
}

}  // namespace quern
