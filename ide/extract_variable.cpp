// Extracts the selected expression as the value of a `let`.

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"
#include "ide/typed_syntax.h"

namespace quern::ide {

namespace {

/// Whether evaluating it does nothing, whatever the types are.
bool is_atom(SyntaxPtr node) {
  switch (node->kind) {
    case SyntaxKind::Int:
    case SyntaxKind::Float:
    case SyntaxKind::Bool:
    case SyntaxKind::String:
    case SyntaxKind::Local:
    case SyntaxKind::GraphName:
    case SyntaxKind::GlobalName:
    case SyntaxKind::Name:
    case SyntaxKind::Meta: return true;
    default: return false;
  }
}

bool is_lazy(SyntaxPtr binary) { return binary->text == "and" || binary->text == "or"; }

class Extraction {
 public:
  explicit Extraction(const Selection& selection) : selection_(selection), session_(selection.session) {}

  bool is_possible() {
    expression_ = selection_.expression();
    if (!expression_ || !find_statement()) return false;
    if (selection_.range_of(expression_) == selection_.range_of(statement_) && !in_arm_) return false;
    return binds_nothing_between() && keeps_order();
  }

  Result<Change> change() const {
    SyntaxPtr inner = expression_;
    while (inner->is(SyntaxKind::Paren)) inner = inner->child(0);
    const std::string name = free_name(selection_.lexed(), LexemeKind::Local, name_after(inner));
    const Range whole = selection_.range_of(statement_), part = selection_.range_of(expression_);
    const std::string let =
        fmt::format("let %{} = {};", name, selection_.text_of(selection_.range_of(inner)));
    TextEdits edits;
    if (in_arm_) {
      edits = {
          {{whole.begin, whole.begin}, "{ " + let + " "}, {part, "%" + name}, {{whole.end, whole.end}, " }"}};
    } else {
      const auto indentation = indentation_at(selection_.text(), whole.begin);
      const std::string between = indentation ? line_end(selection_.text()) + *indentation : " ";
      edits = {{{whole.begin, whole.begin}, let + between}, {part, "%" + name}};
    }
    const IsBinding is_new = [name](const quern::Binding& binding) {
      return binding.variable && binding.variable->name == name;
    };
    return same_program(
        session_, selection_.source, std::move(edits), nullptr,
        [is_new](Session&, TypedDeclarations& typed) { return typed.put_value_in_place(is_new); });
  }

 private:
  /// Finds the enclosing statement, or the value of an arm, before which the `let` can be inserted.
  bool find_statement() {
    const auto from = std::ranges::find(selection_.around, expression_);
    for (auto node = from;; --node) {
      between_.push_back(*node);
      const bool is_root = node == selection_.around.begin();
      const SyntaxPtr parent = is_root ? nullptr : *(node - 1);
      in_arm_ = parent && parent->is(SyntaxKind::Arm) && parent->child(1) == *node;
      if (in_arm_ || (parent && parent->is(SyntaxKind::Block)) ||
          (is_root && session_.info(selection_.at.whole).kind == PieceKind::Statement)) {
        statement_ = *node;
        return true;
      }
      if (is_root || is_of_elements(parent) || (parent->is(SyntaxKind::Formatted) && has_escapes()))
        return false;
    }
  }
  bool has_escapes() const {
    return selection_.text_of(selection_.range).find('\\') != std::string_view::npos;
  }

  /// Whether the selection names nothing that the enclosing statement binds.
  bool binds_nothing_between() const {
    for (const FreeName& name : free_names(session_, selection_.at.declaration, expression_)) {
      const Origin declared = name.target.declared;
      if (declared.declaration == selection_.at.declaration && declared.node != statement_->id &&
          is_inside(statement_, declared.node))
        return false;
    }
    return true;
  }

  /// Whether it may be evaluated before the rest of the statement.
  bool keeps_order() const {
    const ExprPtr body = typed_body(session_, selection_.at.whole);
    const ExprPtr part = body ? expr_of(body, selection_.at.declaration, expression_) : nullptr;
    return part && (effects_of(session_, body, part).none() || is_evaluated_first());
  }
  bool is_evaluated_first() const {
    for (size_t i = 1; i < between_.size(); ++i) {
      const SyntaxPtr node = between_[i];
      switch (node->kind) {
        case SyntaxKind::Let:
        case SyntaxKind::GraphLet:
        case SyntaxKind::Paren:
        case SyntaxKind::Tuple:
        case SyntaxKind::Call:
        case SyntaxKind::NamedArgument:
        case SyntaxKind::Project:
        case SyntaxKind::Field:
        case SyntaxKind::Unary: break;
        case SyntaxKind::Binary:
          // The right operand may not be evaluated at all.
          if (is_lazy(node) && between_[i - 1] != node->child(0)) return false;
          break;
        default: return false;
      }
      for (SyntaxPtr child : node->children) {
        if (child == between_[i - 1]) break;
        const bool is_type = !child || (node->is(SyntaxKind::Let) && child == node->child(0));
        if (!is_type && !is_atom(child)) return false;
      }
    }
    return true;
  }

  const Selection& selection_;
  Session& session_;
  SyntaxPtr expression_ = nullptr, statement_ = nullptr;
  std::vector<SyntaxPtr> between_;  ///< from the selection to the statement
  bool in_arm_ = false;
};

}  // namespace

void extract_variable(const Selection& selection, std::vector<Offer>& offers) {
  auto extraction = std::make_shared<Extraction>(selection);
  if (extraction->is_possible())
    offers.push_back({"extract into a `let`", [extraction] { return extraction->change(); }});
}

}  // namespace quern::ide
