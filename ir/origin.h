#pragma once

#include <cstdint>

namespace quern {

/// Where an expression comes from: a declaration of the session and a syntax node in it. Spans are looked up
/// there.
struct Origin {
  uint32_t declaration = 0;
  uint32_t node = 0;
  friend bool operator==(const Origin&, const Origin&) = default;
};

}  // namespace quern
