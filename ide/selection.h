#pragma once
// What grows around a place as an editor selects more and more of a text.

#include <cstdint>
#include <vector>

#include "session/session.h"

namespace quern::ide {

/// Ranges around an offset, each inside of the next, from the smallest to the whole text: the name, what the
/// syntax has around it, what stands between brackets and they themselves, the declaration, the comment above
/// it. Of text that does not parse, the brackets. Never empty.
std::vector<Range> selections(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
