#include "jit/rules/sequence.h"

#include <algorithm>

#include "jit/compute/computation.h"
#include "jit/compute/statements.h"

namespace quern::loops {

namespace {

/// The statements with `f` of every dim that is read.
Block mapped(const Block& block, const DimFunction& f) {
  Block result;
  const auto of = [&](Dim& dim) { dim = dim ? f(dim) : nullptr; };
  for (const StmtPtr& stmt : block) {
    Stmt copy = *stmt;
    for (Dim* dim : {&copy.extent, &copy.before, &copy.offset}) of(*dim);
    for (Dim& index : copy.indices) of(index);
    for (BoundsCheck& check : copy.checks) check = map_dims(check, f);
    for (ComputedOffset& part : copy.computed) part = {map_dims(part.index, f), f(part.stride)};
    copy.value = map_dims(copy.value, f);
    copy.index_value = map_dims(copy.index_value, f);
    copy.body = mapped(copy.body, f);
    result.push_back(make(std::move(copy)));
  }
  return result;
}

/// The statements with their parts of the range `offset` steps later; of no range without it.
Block moved(const Block& block, Dim offset) {
  Block result;
  for (const StmtPtr& stmt : block) {
    Stmt copy = *stmt;
    if (copy.before) copy.before = offset ? dim_add(copy.before, offset) : nullptr;
    copy.body = moved(copy.body, offset);
    result.push_back(make(std::move(copy)));
  }
  return result;
}

/// The loop that is all of a kernel, and its range; or null.
const Stmt* range_loop(const Kernel& kernel) {
  if (kernel.body.size() != 1) return nullptr;
  const Stmt& loop = *kernel.body[0];
  const bool is_range = loop.kind == StmtKind::For && loop.before && loop.extent == kernel.range;
  return is_range ? &loop : nullptr;
}

/// Loops whose steps are about as many, by the name of their axis.
bool go_together(const std::vector<Kernel>& kernels) {
  const Stmt* first = range_loop(kernels[0]);
  return first && std::ranges::all_of(kernels, [&](const Kernel& kernel) {
           const Stmt* loop = range_loop(kernel);
           if (!loop || loop->var->name != first->var->name) return false;
           const auto more = as_const(dim_sub(loop->extent, first->extent));
           return !more || std::abs(*more) <= 1;
         });
}

/// All in the steps of one loop.
void put_together(const std::vector<Kernel>& kernels, Kernel& all) {
  Stmt together = *range_loop(kernels[0]);
  for (const Kernel& kernel : kernels) together.extent = dim_max(together.extent, range_loop(kernel)->extent);
  together.body.clear();
  for (const Kernel& kernel : kernels) {
    const Stmt& loop = *range_loop(kernel);
    Block body = mapped(loop.body, [&](Dim dim) {
      return quern::substitute(dim, DimMap{{loop.var, together.var}});
    });
    if (loop.extent != together.extent) {
      Stmt some{StmtKind::If};
      some.checks = {{together.var, nullptr, loop.extent, nullptr}};
      some.body = std::move(body);
      body = {make(std::move(some))};
    }
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
  // A part that is not shared would be done by all threads.
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
