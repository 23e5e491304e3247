// Writes the schedule that the default rules choose for a call as a clause.

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"
#include "ide/typed_syntax.h"
#include "session/run/compiler.h"

namespace quern::ide {

namespace {

bool has_reduction(ExprPtr expr) {
  bool found = expr->kind == ExprKind::Reduce;
  for_each_child(expr, [&](ExprPtr child) { found = found || has_reduction(child); });
  return found;
}

/// Whether a `schedule` may follow an expression as it is.
bool takes_schedule(SyntaxPtr parent, SyntaxPtr child) {
  if (!parent || parent->is(SyntaxKind::Block) || parent->is(SyntaxKind::GraphLet)) return true;
  return parent->is(SyntaxKind::Let) && parent->child(1) == child;
}

class ScheduleWriting {
 public:
  explicit ScheduleWriting(const Selection& selection) : selection_(selection), session_(selection.session) {
    for (size_t i = 0; i < selection.around.size(); ++i) {
      const SyntaxPtr node = selection.around[i];
      if (is_of_elements(node)) return;
      if (!node->is(SyntaxKind::Call) || !node->child(0)->is(SyntaxKind::Name)) continue;
      call_ = node;
      parent_ = i > 0 ? selection.around[i - 1] : nullptr;
    }
  }

  /// Only reductions are worth a schedule.
  bool is_possible() {
    const ExprPtr body = call_ ? typed_body(session_, selection_.at.whole) : nullptr;
    if (!body || (parent_ && parent_->is(SyntaxKind::Scheduled))) return false;
    called_ = as<OpCallExpr>(expr_of(body, selection_.at.declaration, call_));
    if (!called_ || called_->schedule) return false;
    const auto instance = session_.functions().instance(*called_->instance);
    const FnExpr* definition = instance->function;
    return definition && definition->body->kind == ExprKind::Comprehension && has_reduction(definition->body);
  }
  std::string title() const { return fmt::format("write the schedule of `{}`", called_->instance->name); }

  Result<Change> change() const {
    const std::optional<std::string> clause = chosen();
    if (!clause)
      return Failure{"the rules choose no schedule for this call: its loops are as they stand, or several"};
    const Range call = selection_.range_of(call_);
    uint32_t line = call.begin;
    while (line > 0 && selection_.text()[line - 1] != '\n' && selection_.text()[line - 1] != '\r') --line;
    const size_t blanks = std::string_view(selection_.text()).substr(line).find_first_not_of(" \t");
    const std::string between = line_end(selection_.text()) + selection_.text().substr(line, blanks);
    std::string text = " ";
    for (const char c : *clause) text += c == '\n' ? between : std::string(1, c);
    TextEdits edits{{{call.end, call.end}, text}};
    if (!takes_schedule(parent_, call_)) {
      edits[0].second += ")";
      edits.insert(edits.begin(), {{call.begin, call.begin}, "("});
    }
    const SeeThrough drop = [](Session&, TypedDeclarations& typed) {
      typed.drop_schedules();
      return true;
    };
    return same_program(session_, selection_.source, std::move(edits), drop, drop);
  }

 private:
  /// Nothing if the rules choose no schedule, or if there is more than one kernel.
  std::optional<std::string> chosen() const {
    const Inferred* inferred = session_.inferred(selection_.at.whole);
    Definition alone;
    alone.scheme.type = called_->type;
    alone.body = called_;
    alone.arena = inferred->definition.arena;
    const Result<std::string> text = Compiler(session_).stage_text(alone, "schedule");
    if (!text) return std::nullopt;
    constexpr std::string_view kClause = "schedule {";
    const size_t begin = text->find(kClause), end = text->find("\n}", begin);
    if (begin == std::string::npos || end == std::string::npos ||
        text->find(kClause, end) != std::string::npos)
      return std::nullopt;
    return text->substr(begin, end + 2 - begin);
  }

  const Selection& selection_;
  Session& session_;
  SyntaxPtr call_ = nullptr, parent_ = nullptr;
  const OpCallExpr* called_ = nullptr;
};

}  // namespace

void write_schedule(const Selection& selection, std::vector<Offer>& offers) {
  auto writing = std::make_shared<ScheduleWriting>(selection);
  if (writing->is_possible()) offers.push_back({writing->title(), [writing] { return writing->change(); }});
}

}  // namespace quern::ide
