// Replaces a `?` or a repeated constant in a definition's parameters by a named dim.

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

/// The extents of a type that equal this constant.
void constants_in(SyntaxPtr node, std::string_view constant, std::vector<SyntaxPtr>& found) {
  if (!node) return;
  if (node->is(SyntaxKind::TensorType)) {
    const SyntaxPtr shape = node->child(0);
    if (shape && (shape->is(SyntaxKind::Tuple) || shape->is(SyntaxKind::Paren)))
      for (SyntaxPtr extent : shape->children)
        if (extent && extent->is(SyntaxKind::Int) && extent->text == constant) found.push_back(extent);
    return;
  }
  for (SyntaxPtr child : node->children) constants_in(child, constant, found);
}

class DimNaming {
 public:
  explicit DimNaming(const Selection& selection) : selection_(selection) {
    const std::vector<SyntaxPtr>& around = selection.around;
    if (around.size() < 4 || !around[0]->is(SyntaxKind::Def) || !around[1]->is(SyntaxKind::Params)) return;
    const SyntaxPtr extent = around.back(), shape = around[around.size() - 2];
    const bool in_shape =
        around[around.size() - 3]->is(SyntaxKind::TensorType) && around[around.size() - 3]->child(0) == shape;
    if (!in_shape) return;
    def_ = around[0];
    if (extent->is(SyntaxKind::AnyDim)) extents_.push_back(extent);
    if (!extent->is(SyntaxKind::Int)) return;
    constants_in(def_->child(1), extent->text, extents_);
    // A constant that is not repeated stays.
    if (extents_.size() < 2) extents_.clear();
    if (!extents_.empty()) constants_in(def_->child(2), extent->text, extents_);
  }

  bool is_possible() {
    if (extents_.empty() || count_errors(selection_.session, selection_.source) > 0) return false;
    constexpr std::array<std::string_view, 8> kNames{"n", "m", "k", "d", "h", "w", "c", "b"};
    auto is_free = [&](std::string_view name) {
      return free_name(selection_.lexed(), LexemeKind::Name, std::string(name)) == name;
    };
    const auto free = std::ranges::find_if(kNames, is_free);
    name_ = free == kNames.end() ? free_name(selection_.lexed(), LexemeKind::Name, "n") : *free;
    return find_parameters();
  }

  std::string title() const {
    return fmt::format("name the dim `{}`: `{}`", selection_.text_of(selection_.range_of(extents_[0])),
                       name_);
  }
  Result<Change> change() const {
    TextEdits edits{{{insertion_, insertion_}, has_parameters_ ? ", " + name_ : "[" + name_ + "]"}};
    for (SyntaxPtr extent : extents_) edits.push_back({selection_.range_of(extent), name_});
    return without_new_errors(selection_.session, selection_.source, std::move(edits));
  }

 private:
  /// Finds where to declare the name: after the last declared one, else after the definition's name.
  bool find_parameters() {
    if (const SyntaxPtr declared = def_->child(0); declared && !declared->children.empty()) {
      has_parameters_ = true;
      insertion_ = selection_.range_of(declared->children.back()).end;
      return true;
    }
    const LexedText& lexed = selection_.lexed();
    const uint32_t begin = selection_.range_of(def_).begin;
    for (size_t i = 0; i + 1 < lexed.lexemes.size(); ++i)
      if (lexed.lexemes[i].range.begin >= begin && lexed.word(i) == "def") {
        insertion_ = lexed.lexemes[i + 1].range.end;
        return true;
      }
    return false;
  }

  const Selection& selection_;
  SyntaxPtr def_ = nullptr;
  std::vector<SyntaxPtr> extents_;
  std::string name_;
  bool has_parameters_ = false;
  uint32_t insertion_ = 0;
};

}  // namespace

void name_dim(const Selection& selection, std::vector<Offer>& offers) {
  auto naming = std::make_shared<DimNaming>(selection);
  if (naming->is_possible()) offers.push_back({naming->title(), [naming] { return naming->change(); }});
}

}  // namespace quern::ide
