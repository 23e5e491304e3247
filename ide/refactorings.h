#pragma once
// Changes of a text that keep its meaning, and repairs that need the whole program.

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

/// The inputs of refactorings besides the session.
struct RefactoringContext {
  KnownHints& hints;  ///< of the source
  /// Visits the files that a program could import, with paths and texts; null if there are none.
  std::function<void(const std::function<void(const std::string& path, const std::string& text)>&)> files;
};

/// A refactoring that is possible at the selection. Its edits are computed on request.
struct Refactoring {
  std::string_view name;  ///< of its row in the table
  RefactoringKind kind;
  std::string title;  ///< what it does, in the imperative: "inline `%x`"
};

/// Replacements of ranges, in text order.
using RefactoringEdits = std::vector<std::pair<Range, std::string>>;

/// The refactorings of the wanted kinds, in the order of the table.
std::vector<Refactoring> refactorings(Session& session, const SelectedRange& selected,
                                      const RefactoringContext& context,
                                      const std::function<bool(RefactoringKind)>& is_wanted);

/// The edits of a refactoring offered for the selection, or why it fails after all: in a trial, the program changed.
/// Invalidates syntax and types of the source that were obtained before.
Result<RefactoringEdits> edits_of(Session& session, const SelectedRange& selected,
                                  const RefactoringContext& context, std::string_view name,
                                  std::string_view title);

}  // namespace quern::ide
