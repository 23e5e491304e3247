#pragma once
// A refactoring as a row of the table: its search, and what the rows share.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ide/lexed_text.h"
#include "ide/name_places.h"
#include "ide/refactorings.h"
#include "ide/trial.h"

namespace quern::ide {

/// The selection, with the syntax around it. It is valid until the source's text changes, even for a trial.
class Selection {
 public:
  /// Nothing between declarations.
  static std::optional<Selection> of(Session& session, const SelectedRange& selected,
                                     const RefactoringContext& context);

  Session& session;
  const RefactoringContext& context;
  SourceId source;
  Range range;  ///< without the blanks at its ends
  SyntaxPath at;
  /// From the root of the declaration, or of the chunk, to the innermost node that contains the range.
  std::vector<SyntaxPtr> around;

  const std::string& text() const { return session.text(source); }
  const LexedText& lexed() const;
  std::string_view text_of(Range part) const {
    return std::string_view(text()).substr(part.begin, part.end - part.begin);
  }
  Range range_of(SyntaxPtr node) const { return session.range_of(Place{{at.declaration, node->id}, {}}); }
  /// Null if there is none, or if it is an error's.
  Type type_of(SyntaxPtr node) const;
  ModuleId module() const { return session.info(at.whole).module; }
  /// The expression that is selected exactly; null if there is none, and for a single name.
  SyntaxPtr expression() const;
  /// The beginning of the declaration, including the `///` lines above it.
  uint32_t begin_with_comment() const;

 private:
  Selection(Session& asked, const RefactoringContext& with) : session(asked), context(with), source(0) {}

  mutable std::optional<LexedText> lexed_;  ///< computed on first use
};

/// A possible refactoring. `change` is called while the selection is valid; it may still fail, with the reason.
struct Offer {
  std::string title;
  std::function<Result<Change>()> change;
};

using FindOffers = void (*)(const Selection& selection, std::vector<Offer>& offers);

// The rows' functions, each in a file of its own.
void write_types(const Selection& selection, std::vector<Offer>& offers);
void remove_types(const Selection& selection, std::vector<Offer>& offers);
void inline_variable(const Selection& selection, std::vector<Offer>& offers);
void graph_to_let(const Selection& selection, std::vector<Offer>& offers);
void extract_variable(const Selection& selection, std::vector<Offer>& offers);
void extract_function(const Selection& selection, std::vector<Offer>& offers);
void add_missing_arms(const Selection& selection, std::vector<Offer>& offers);
void repair_arguments(const Selection& selection, std::vector<Offer>& offers);
void import_module(const Selection& selection, std::vector<Offer>& offers);
void name_dim(const Selection& selection, std::vector<Offer>& offers);
void fuse_calls(const Selection& selection, std::vector<Offer>& offers);
void write_schedule(const Selection& selection, std::vector<Offer>& offers);
void write_all_types(const Selection& selection, std::vector<Offer>& offers);
void expand_gradient(const Selection& selection, std::vector<Offer>& offers);

}  // namespace quern::ide
