#pragma once
// Who calls a function or an operator, and what it calls.

#include <cstdint>
#include <optional>
#include <vector>

#include "ide/name_places.h"
#include "ide/symbols.h"

namespace quern::ide {

/// A definition, an operator, a function of the compile-time language, or a variable with a function literal.
/// Callers may be statements and tests, too.
struct CallItem {
  SourceId source;
  Symbol symbol;  ///< without what it has inside
};

struct Call {
  CallItem other;             ///< the caller, or what is called
  std::vector<Range> places;  ///< of the names that are called, in the caller's source
};

/// What the name at an offset is, if it can be called.
std::optional<CallItem> call_item(Session& session, SourceId source, uint32_t offset);
/// Those that name what the name at an offset stands for.
std::vector<Call> incoming_calls(Session& session, SourceId source, uint32_t offset);
/// What is named between the ends of an item; of the library's symbols, such as `+`, nothing is said.
std::vector<Call> outgoing_calls(Session& session, SourceId source, Range item);

}  // namespace quern::ide
