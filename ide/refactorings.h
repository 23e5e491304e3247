#pragma once
// Changes of a text that keep what it means.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ide/type_hints.h"
#include "session/session.h"

namespace quern::ide {

struct Refactoring {
  std::string title;                                 ///< what it does, as an order: "remove the type of `%x`"
  std::vector<std::pair<Range, std::string>> edits;  ///< in the order of the text
};

/// What may be done where the selection is: annotations written or taken away. What takes one away was tried:
/// the declaration has the same typed program after it. None in declarations with errors. Syntax and types of
/// the source that were got before mean nothing after it.
std::vector<Refactoring> refactorings(Session& session, SourceId source, Range selected, KnownHints& known);

}  // namespace quern::ide
