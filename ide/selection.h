#pragma once
// The ranges around a place for the expanding selection of an editor.

#include <cstdint>
#include <vector>

#include "session/session.h"

namespace quern::ide {

/// Ranges around an offset, each inside of the next, from the smallest to the whole text: the name, the enclosing
/// syntax, the content of brackets and the brackets themselves, the declaration, the comment above it. For text that
/// does not parse, only the brackets. Never empty.
std::vector<Range> selections(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
