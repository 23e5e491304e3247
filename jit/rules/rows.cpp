#include "jit/rules/rows.h"

#include <algorithm>

#include "jit/compute/statements.h"
#include "jit/loops/walk.h"
#include "jit/rules/row_pairs.h"
#include "jit/rules/schedule_default.h"

namespace quern::loops {

namespace {

/// The assumed value of an extent known only at run time.
constexpr int64_t kUsualExtent = 256;

/// The loop with the most steps.
size_t shared_loop(const std::vector<Dim>& extents) {
  size_t best = 0;
  for (size_t k = 1; k < extents.size(); ++k)
    if (as_const(extents[k]).value_or(kUsualExtent) > as_const(extents[best]).value_or(kUsualExtent))
      best = k;
  return best;
}

/// The value with reads of the buffer at the offset replaced by the local; null if it reads anything else
/// from the buffer.
ValuePtr with_local(const ValuePtr& value, int buffer, Dim offset, const ValuePtr& local) {
  bool others = false;
  ValuePtr result = replace<LoadValue>(value, [&](const LoadValue& load) -> ValuePtr {
    if (load.buffer != buffer) return nullptr;
    others = others || load.offset != offset || !load.computed.empty() || !load.checks.empty();
    return local;
  });
  return others ? nullptr : result;
}

bool is_alike(const For& a, const For& b) {
  return a.extent == b.extent && a.vectorized() && b.vectorized() &&
         a.vectorized()->width == b.vectorized()->width;
}

/// Merges a loop that stores with the next one that reduces the stored values, so that they are not reloaded;
/// null if impossible. `local` is a new local.
StmtPtr in_one(const For* first, const For* second, int local) {
  if (!first || !second || !is_alike(*first, *second) || second->body.size() != 1) return nullptr;
  auto* store = as<Store>(first->body.back());
  auto* reduce = as<Reduce>(second->body.front());
  if (!store || !reduce || !reduce->checks.empty() || is_arg(reduce->reduce)) return nullptr;
  const DType dtype = store->value->dtype;
  const ValuePtr stored = value_of(local, dtype);
  Reduce taken = *reduce;
  taken.value = with_local(substitute(reduce->value, {{second->var, first->var}}), store->buffer,
                           store->offset, stored);
  if (!taken.value) return nullptr;
  For both = *first;
  both.body.back() = declare(local, dtype, store->value);
  both.body.push_back(make(Store{.buffer = store->buffer, .offset = store->offset, .value = stored}));
  both.body.push_back(make(std::move(taken)));
  return make(std::move(both));
}

/// Appends a stage's statements.
void append(Block& body, const Block& stage, int& locals) {
  auto* first = body.empty() || stage.size() < 2 ? nullptr : as<Declare>(stage[0]);
  const bool joins = first && as<ConstValue>(first->value);
  const StmtPtr one = joins ? in_one(as<For>(body.back()), as<For>(stage[1]), locals) : nullptr;
  if (!one) {
    body.insert(body.end(), stage.begin(), stage.end());
    return;
  }
  ++locals;
  body.back() = stage[0];
  body.push_back(one);
  body.insert(body.end(), stage.begin() + 2, stage.end());
}

/// Stages of single numbers as one element, which binds the number of each stage to its local.
Computation as_element(const RowComputation& rows) {
  Computation element = rows.stages.back();
  std::vector<Reduction> reductions;
  for (const Computation& stage : rows.stages) {
    reductions.insert(reductions.end(), stage.reductions.begin(), stage.reductions.end());
    if (stage.takes_value < 0) continue;
    Reduction let{ReduceKind::Sum, {}, {}, stage.value};
    let.accumulator = stage.value->dtype;
    let.local = stage.takes_value;
    let.is_let = true;
    reductions.push_back(std::move(let));
  }
  element.reductions = std::move(reductions);
  element.vars = rows.rows;
  element.extents = rows.extents;
  element.dims = rows.dims;
  element.locals = rows.locals;
  return element;
}

/// Loops over the rows around the statements of one; the loop at `shared` is part of the kernel's range, from `before` on.
struct RowLoops {
  std::vector<Dim> rows, extents;
  size_t shared;

  StmtPtr around(Block body, Dim before) const {
    for (size_t k = rows.size(); k-- > 0;) {
      const Serial steps{.before = k == shared ? before : nullptr};
      body = {make(For{.var = rows[k], .extent = extents[k], .execution = steps, .body = std::move(body)})};
    }
    return body.front();
  }
};

/// Adds loops over pairs of rows, and over the row that is left, to the kernel. False if rows stay single.
bool add_pairs(const RowLoops& single, const Block& row, const MachineModel& machine, Kernel& kernel) {
  const Dim index = single.rows[single.shared], extent = single.extents[single.shared], two = dim_const(2);
  if (is_const(extent, 1)) return false;
  RowLoops pairs = single;
  const Dim pair = pairs.rows[single.shared] = dim_var(index->name);
  const Dim count = pairs.extents[single.shared] = dim_floordiv(extent, two);
  const Dim first = dim_mul(pair, two);
  const auto both =
      paired_rows(row, index, first, dim_add(first, dim_const(1)), kernel.locals, kernel.buffers, machine);
  if (!both) return false;
  kernel.body.push_back(pairs.around(*both, dim_const(0)));
  kernel.range = count;
  const Dim left = dim_floormod(extent, two);
  if (!is_const(left, 0)) {
    RowLoops last = single;
    const Dim one = last.rows[single.shared] = dim_var(index->name);
    last.extents[single.shared] = left;
    const Dim at = dim_add(dim_mul(count, two), one);
    kernel.body.push_back(last.around(substitute(row, {{index, at}}), count));
    kernel.range = dim_add(count, left);
  }
  kernel.locals *= 2;
  return true;
}

}  // namespace

Kernel scheduled_rows(const RowComputation& rows, const MachineModel& machine) {
  const int vector_bytes = machine.loop_bytes();
  const auto is_single = [](const Computation& stage) { return stage.vars.empty(); };
  if (std::ranges::all_of(rows.stages, is_single))
    return schedule_default(with_simple_loops(as_element(rows)), vector_bytes);
  Kernel kernel;
  kernel.buffers = rows.stages.back().buffers;
  kernel.dims = rows.dims;
  kernel.locals = rows.locals;
  kernel.work = dim_const(0);
  Block row;
  for (const Computation& stage : rows.stages) {
    const Computation simple = with_simple_loops(stage);
    append(row, loops_of(simple, vector_bytes), kernel.locals);
    kernel.work = dim_add(kernel.work, work_of(simple));
  }
  kernel.work = dim_mul(kernel.work, dim_product(rows.extents));
  const RowLoops loops{rows.rows, rows.extents, shared_loop(rows.extents)};
  if (add_pairs(loops, row, machine, kernel)) return kernel;
  kernel.body = {loops.around(row, dim_const(0))};
  kernel.range = rows.extents[loops.shared];
  return kernel;
}

}  // namespace quern::loops
