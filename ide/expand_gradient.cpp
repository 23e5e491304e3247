// The definition that `grad(@f)` derives, written out.

#include <fmt/format.h>

#include <algorithm>

#include "ide/gradient_text.h"
#include "ide/refactoring.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

class GradientExpansion {
 public:
  explicit GradientExpansion(const Selection& selection) : selection_(selection) {
    for (SyntaxPtr node : selection.around)
      if (node->is(SyntaxKind::Call) && node->child(0)->is(SyntaxKind::Name) &&
          node->child(0)->text == "grad" && node->children.size() == 2 &&
          node->child(1)->is(SyntaxKind::GlobalName) && node->child(1)->children.empty())
        call_ = node;
  }

  bool is_possible() {
    if (!call_ || !selection_.type_of(call_)) return false;
    function_ = call_->child(1)->text;
    if (function_.starts_with("@")) function_.erase(0, 1);
    const Definition* definition = selection_.session.definition(selection_.module(), function_);
    if (!definition) return false;
    std::string base = "grad_" + function_;
    std::ranges::replace(base, '.', '_');
    name_ = free_name(selection_.lexed(), LexemeKind::Global, base);
    if (const auto made = gradient_definition(*definition, name_)) definition_ = *made;
    return !definition_.empty();
  }
  std::string title() const { return fmt::format("write `grad(@{})` out", function_); }

  Result<Change> change() const {
    Session& session = selection_.session;
    const SourceId source = selection_.source;
    const uint32_t before = selection_.begin_with_comment();
    const Range call = selection_.range_of(call_);
    const std::string end = line_end(selection_.text());
    const ModuleId module = selection_.module();
    const size_t errors = count_errors(session, source);
    const std::string whole = edited(selection_.text(), {{{before, before}, definition_ + end}});
    std::optional<std::string> derived;
    with_text(session, source, whole, [&] {
      if (count_errors(session, source) == errors) derived = derived_definition(session, module, name_);
    });
    if (!derived) return Failure{fmt::format("what `grad(@{})` derives cannot be written", function_)};
    std::string text;
    for (const char c : *derived) text += c == '\n' ? end : std::string(1, c);
    return without_new_errors(session, source, {{{before, before}, text + end + end}, {call, "@" + name_}});
  }

 private:
  const Selection& selection_;
  SyntaxPtr call_ = nullptr;
  std::string function_, name_, definition_;
};

}  // namespace

void expand_gradient(const Selection& selection, std::vector<Offer>& offers) {
  auto expansion = std::make_shared<GradientExpansion>(selection);
  if (expansion->is_possible())
    offers.push_back({expansion->title(), [expansion] { return expansion->change(); }});
}

}  // namespace quern::ide
