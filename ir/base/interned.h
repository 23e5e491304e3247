#pragma once
// How much the process has interned. Dims and types are never freed: equal ones are shared, and variables are
// reused when a text is processed again (ir/base/series.h), so memory grows with the number of distinct ones
// ever made, not with the number of edits.

#include <cstddef>

namespace quern {

struct Interned {
  size_t count = 0, bytes = 0;
};
Interned interned_dims();
Interned interned_types();

}  // namespace quern
