#include "jit/rules/sequence.h"

#include <algorithm>

#include "jit/loops/build.h"
#include "jit/loops/walk.h"

namespace quern::loops {

namespace {

/// The statements with their parts of the range shifted by `offset` steps; without an offset, removed from
/// the range.
Block moved(const Block& block, Dim offset) {
  return map_loops(block, [&](For& loop) {
    auto* steps = std::get_if<Serial>(&loop.execution);
    if (steps && steps->before) steps->before = offset ? dim_add(steps->before, offset) : nullptr;
  });
}

/// The loop that constitutes the whole kernel and its range; or null.
const For* range_loop(const Kernel& kernel) {
  if (kernel.body.size() != 1) return nullptr;
  auto* loop = as<For>(kernel.body[0]);
  const bool is_range = loop && loop->serial() && loop->serial()->before && loop->extent == kernel.range;
  return is_range ? loop : nullptr;
}

/// Whether the loops have about as many steps, along the same axis by name.
bool go_together(const std::vector<Kernel>& kernels) {
  const For* first = range_loop(kernels[0]);
  return first && std::ranges::all_of(kernels, [&](const Kernel& kernel) {
           const For* loop = range_loop(kernel);
           if (!loop || loop->var->name != first->var->name) return false;
           const auto more = as_const(dim_sub(loop->extent, first->extent));
           return !more || std::abs(*more) <= 1;
         });
}

/// Puts all kernels into the steps of one loop.
void put_together(const std::vector<Kernel>& kernels, Kernel& all) {
  For together = *range_loop(kernels[0]);
  for (const Kernel& kernel : kernels) together.extent = dim_max(together.extent, range_loop(kernel)->extent);
  together.body.clear();
  for (const Kernel& kernel : kernels) {
    const For& loop = *range_loop(kernel);
    Block body = substitute(loop.body, {{loop.var, together.var}});
    if (loop.extent != together.extent)
      body = {only_if({{together.var, nullptr, loop.extent}}, std::move(body))};
    together.body.insert(together.body.end(), body.begin(), body.end());
    all.work = dim_add(all.work, kernel.work);
  }
  all.range = together.extent;
  all.body = {make(std::move(together))};
}

}  // namespace

Kernel in_sequence(const std::vector<Kernel>& kernels) {
  if (kernels.size() == 1) return kernels[0];
  Kernel all = kernels.back();
  all.body.clear();
  all.range = all.work = dim_const(0);
  for (const Kernel& kernel : kernels) all.locals = std::max(all.locals, kernel.locals);
  // All threads would execute a part that is not shared.
  const bool shared = std::ranges::all_of(kernels, [](const Kernel& k) { return k.range; });
  if (shared && go_together(kernels)) {
    put_together(kernels, all);
    return all;
  }
  for (const Kernel& kernel : kernels) {
    const Block body = moved(kernel.body, shared ? all.range : nullptr);
    all.body.insert(all.body.end(), body.begin(), body.end());
    if (!shared) continue;
    all.range = dim_add(all.range, kernel.range);
    all.work = dim_add(all.work, kernel.work);
  }
  if (!shared) all.range = all.work = nullptr;
  return all;
}

}  // namespace quern::loops
