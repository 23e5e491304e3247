// What an index expression reads: its operands, and the extents of its binders.

#include <algorithm>
#include <utility>

#include "frontend/index/elaborator.h"

namespace quern {

namespace {

// Finds an expression's operands; names bound by an inner `let` are not operands.
class OperandSearch {
 public:
  std::vector<SyntaxPtr> found;
  std::vector<SyntaxPtr> extents;  ///< of binders, that read nothing which an inner `let` binds

  void walk(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::Block)) return walk_block(s);
    if (s->is(SyntaxKind::Binder) && s->child(0) && !reads_bound(s->child(0))) extents.push_back(s->child(0));
    if (!is_operand(s)) {
      for (SyntaxPtr c : s->children) walk(c);
      return;
    }
    bool bound = s->is(SyntaxKind::Local) && reads_bound(s);
    bool known = std::ranges::any_of(found, [&](SyntaxPtr other) { return same_operand(other, s); });
    if (!bound && !known) found.push_back(s);
  }

 private:
  bool reads_bound(SyntaxPtr s) const {
    if (s->is(SyntaxKind::Local)) return std::ranges::count(bound_, s->text) > 0;
    return std::ranges::any_of(s->children, [this](SyntaxPtr c) { return c && reads_bound(c); });
  }

  void walk_block(SyntaxPtr block) {
    size_t depth = bound_.size();
    for (SyntaxPtr statement : block->children) {
      walk(statement->is(SyntaxKind::Let) ? statement->child(1) : statement);
      for (SyntaxPtr binder : binders_of(statement)) bound_.push_back(binder->text);
    }
    bound_.resize(depth);
  }

  std::vector<std::string_view> bound_;
};

}  // namespace

std::vector<SyntaxPtr> tensor_operands(SyntaxPtr expr) {
  OperandSearch search;
  search.walk(expr);
  return std::move(search.found);
}

std::vector<SyntaxPtr> binder_extents(SyntaxPtr expr) {
  OperandSearch search;
  search.walk(expr);
  return std::move(search.extents);
}

}  // namespace quern
