// Rewrites the selected calls as the one index expression that fusion makes of them.

#include <algorithm>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"
#include "ide/typed_syntax.h"
#include "passes/pipeline.h"

namespace quern::ide {

namespace {

size_t count_calls(SyntaxPtr node) {
  size_t count = node->is(SyntaxKind::Call) || node->is(SyntaxKind::Binary) ? 1 : 0;
  for (SyntaxPtr child : node->children)
    if (child) count += count_calls(child);
  return count;
}

class Fusing {
 public:
  explicit Fusing(const Selection& selection)
      : selection_(selection), session_(selection.session), expression_(selection.expression()) {}

  bool is_possible() {
    if (!expression_ || count_calls(expression_) < 2) return false;
    if (std::ranges::any_of(selection_.around, is_of_elements)) return false;
    const auto in_string = [](SyntaxPtr node) { return node->is(SyntaxKind::Formatted); };
    if (std::ranges::any_of(selection_.around, in_string)) return false;
    const ExprPtr body = typed_body(session_, selection_.at.whole);
    unfused_ = body ? expr_of(body, selection_.at.declaration, expression_) : nullptr;
    return unfused_ && unfused_->type->is_tensor() && !unfused_->type->dims.empty() &&
           effects_of(session_, body, unfused_).none() && fuse();
  }

  Result<Change> change() const {
    std::string text = session_.typed_text(definition(fused_.expr, fused_.arena), selection_.module()).text;
    text.erase(text.find_last_not_of(" \n;") + 1);
    const auto at = std::ranges::find(selection_.around, expression_);
    const SyntaxPtr parent = at == selection_.around.begin() ? nullptr : *(at - 1);
    if (parent && !is_delimited(parent, expression_)) text = "(" + text + ")";
    return same_program(session_, selection_.source, {{selection_.range_of(expression_), in_lines(text)}},
                        [unfused = unfused_, fused = fused_](Session&, TypedDeclarations& typed) {
                          return typed.replace(unfused, fused.expr, fused.arena);
                        });
  }

 private:
  Definition definition(ExprPtr body, std::shared_ptr<const Arena> arena) const {
    Definition alone;
    alone.scheme.type = unfused_->type;
    alone.body = body;
    alone.arena = std::move(arena);
    return alone;
  }
  /// Whether fusion makes one index expression of the calls.
  bool fuse() {
    const Inferred* inferred = session_.inferred(selection_.at.whole);
    fused_ = optimise(definition(unfused_, inferred->definition.arena), session_.functions(), "drop_fused");
    return fused_.expr && fused_.expr->kind == ExprKind::Comprehension;
  }
  std::string in_lines(const std::string& text) const {
    std::string lines;
    for (const char c : text) lines += c == '\n' ? line_end(selection_.text()) : std::string(1, c);
    return lines;
  }

  const Selection& selection_;
  Session& session_;
  SyntaxPtr expression_;
  ExprPtr unfused_ = nullptr;
  Optimised fused_;
};

}  // namespace

void fuse_calls(const Selection& selection, std::vector<Offer>& offers) {
  auto fusing = std::make_shared<Fusing>(selection);
  if (fusing->is_possible())
    offers.push_back({"fuse into one index expression", [fusing] { return fusing->change(); }});
}

}  // namespace quern::ide
