#pragma once

#include <cstdint>

namespace quern {

/// Where an expression comes from: a declaration of the session and a syntax node in it. Spans are looked up
/// there.
struct Origin {
  uint32_t declaration = 0;
  uint32_t node = 0;
  uint32_t inlined = 0;  ///< the call that an optimiser put this expression in the place of, or 0
  friend bool operator==(const Origin&, const Origin&) = default;
};
/// The number of an inlined call, for Origin::inlined; `call` may itself stand in an inlined body.
uint32_t inlined_call(const Origin& call);
/// The call of that number.
Origin origin_of_inlined(uint32_t number);
/// The origin of an expression of a body that is put in the place of `call`.
Origin inlined_at(Origin origin, const Origin& call);

}  // namespace quern
