#pragma once
// What makes programs faster and changes no result: each measure can be left out, to see what it brings.

#include <string>
#include <string_view>
#include <vector>

#include "jit/cache/kernel_cache.h"

namespace quern {

/// Their names: passes of the pipeline, `prepacked` (forms of weights are kept), `in_place` (results take the memory of
/// operands) and `storage` (results that do not outlive their call share a block).
std::vector<std::string> measures();
/// Programs compiled with these options do without one of them.
void leave_out(std::string_view measure, CompilerOptions& options);

}  // namespace quern
