#pragma once
// The names of attributes that a call passes by position.

#include <cstdint>
#include <string>
#include <vector>

#include "session/session.h"

namespace quern::ide {

struct AttributeHint {
  uint32_t offset;   ///< where the value begins
  std::string name;  ///< `strides`
  friend bool operator==(const AttributeHint&, const AttributeHint&) = default;
};

/// The hints of a source within a range, in text order. None for a value that is a name equal to the attribute's.
std::vector<AttributeHint> attribute_hints(Session& session, SourceId source, Range within);

}  // namespace quern::ide
