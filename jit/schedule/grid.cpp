#include "jit/schedule/grid.h"

#include "jit/loops/walk.h"

namespace quern::loops {

std::map<GridIndex, Dim> launch_extents(const Kernel& kernel) {
  std::map<GridIndex, Dim> extents;
  for_each_stmt(kernel.body, [&](const Stmt& stmt) {
    auto* loop = as<For>(stmt);
    const Serial* steps = loop ? loop->serial() : nullptr;
    if (!steps || steps->bound == GridIndex::None) return;
    const auto [found, is_new] = extents.try_emplace(steps->bound, loop->extent);
    if (!is_new) found->second = simplify(dim_max(found->second, loop->extent), Facts());
  });
  return extents;
}

}  // namespace quern::loops
