#pragma once
// The callers and the callees of a function or an operator.

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
  Symbol symbol;  ///< without its children
};

struct Call {
  CallItem other;             ///< the caller or the callee
  std::vector<Range> places;  ///< of the called names, in the caller's source
};

/// The target of the name at an offset, if it can be called.
std::optional<CallItem> call_item(Session& session, SourceId source, uint32_t offset);
/// The callers of the target of the name at an offset.
std::vector<Call> incoming_calls(Session& session, SourceId source, uint32_t offset);
/// The callables named within an item, without the library's symbols such as `+`.
std::vector<Call> outgoing_calls(Session& session, SourceId source, Range item);

}  // namespace quern::ide
