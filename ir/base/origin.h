#pragma once

#include <cstdint>

namespace quern {

/// Where an expression comes from: a declaration of the session and a syntax node in it. Spans are looked up
/// through it.
struct Origin {
  uint32_t declaration = 0;
  uint32_t node = 0;
  uint32_t inlined = 0;  ///< the call that this expression replaces by inlining, or 0
  friend bool operator==(const Origin&, const Origin&) = default;
};
/// The number of an inlined call, for Origin::inlined; `call` may itself be in an inlined body.
uint32_t inlined_call(const Origin& call);
/// The call with that number.
Origin origin_of_inlined(uint32_t number);
/// The origin of an expression of a body that replaces `call`.
Origin inlined_at(Origin origin, const Origin& call);

}  // namespace quern
