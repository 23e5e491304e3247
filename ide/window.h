#pragma once
// The part of a source's text that a request about a place reads, so that it takes as long in a long text as in a
// short one.

#include <cstdint>
#include <vector>

#include "session/session.h"

namespace quern::ide {

/// From the beginning of the declaration at an offset, or the last one before it, up to the next one. Includes whole
/// declarations before it, up to a few thousand bytes: more is known about those than their names.
Range window_at(Session& session, SourceId source, uint32_t offset);

/// Splits a source's text between its declarations: the n-th part begins with the n-th declaration, the first one with
/// the text.
std::vector<Range> windows_of(Session& session, SourceId source);

}  // namespace quern::ide
