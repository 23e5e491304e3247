#include "jit/schedule/grid.h"

namespace quern::loops {

namespace {

void add_extents(const Block& body, std::map<GridIndex, Dim>& extents) {
  for (const StmtPtr& stmt : body) {
    if (stmt->bound != GridIndex::None) {
      const auto [found, is_new] = extents.try_emplace(stmt->bound, stmt->extent);
      if (!is_new) found->second = simplify(dim_max(found->second, stmt->extent), Facts());
    }
    add_extents(stmt->body, extents);
  }
}

}  // namespace

std::map<GridIndex, Dim> launch_extents(const Kernel& kernel) {
  std::map<GridIndex, Dim> extents;
  add_extents(kernel.body, extents);
  return extents;
}

}  // namespace quern::loops
