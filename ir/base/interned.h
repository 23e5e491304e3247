#pragma once
// How much the process has interned. Dims and types are never freed: equal ones are one, and variables are
// the same when a text is looked at again (ir/base/series.h), so that what they take grows with the different
// ones that were ever made, and not with the number of edits.

#include <cstddef>

namespace quern {

struct Interned {
  size_t count = 0, bytes = 0;
};
Interned interned_dims();
Interned interned_types();

}  // namespace quern
