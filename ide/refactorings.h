#pragma once
// Changes of a text that keep what it means, and repairs that only a look at the whole program finds.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ide/type_hints.h"
#include "ir/base/result.h"
#include "session/session.h"

namespace quern::ide {

enum class RefactoringKind : uint8_t { QuickFix, Extract, Inline, Rewrite, Source };

/// What is selected in a source; an empty range is a cursor.
struct SelectedRange {
  SourceId source;
  Range range;
};

/// What refactorings look at beside the session.
struct RefactoringContext {
  KnownHints& hints;  ///< of the source
  /// The files that a program could import; nothing where there are none. Called with paths and texts.
  std::function<void(const std::function<void(const std::string& path, const std::string& text)>&)> files;
};

/// What may be done where the selection is. Its edits are worked out when they are asked for.
struct Refactoring {
  std::string_view name;  ///< of its row in the table
  RefactoringKind kind;
  std::string title;  ///< what it does, as an order: "inline `%x`"
};

/// A text in the place of a range, in the order of the text.
using RefactoringEdits = std::vector<std::pair<Range, std::string>>;

/// What is offered of the kinds that are wanted, in the order of the table.
std::vector<Refactoring> refactorings(Session& session, const SelectedRange& selected,
                                      const RefactoringContext& context,
                                      const std::function<bool(RefactoringKind)>& is_wanted);

/// The edits of what was offered for the selection, or why it cannot be done after all: it was tried, and the
/// text would be another program. Syntax and types of the source that were got before mean nothing after it.
Result<RefactoringEdits> edits_of(Session& session, const SelectedRange& selected,
                                  const RefactoringContext& context, std::string_view name,
                                  std::string_view title);

}  // namespace quern::ide
