#pragma once
// The names of attributes that a call gives by their places.

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

/// Those of a source within a range, in the order of the text. None where the value is a name that says the
/// same.
std::vector<AttributeHint> attribute_hints(Session& session, SourceId source, Range within);

}  // namespace quern::ide
