#include "jit/rules/rows.h"

#include <algorithm>

#include "jit/compute/statements.h"
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

}  // namespace

Kernel scheduled_rows(const RowComputation& rows, int vector_bytes) {
  const auto is_single = [](const Computation& stage) { return stage.vars.empty(); };
  if (std::ranges::all_of(rows.stages, is_single))
    return schedule_default(with_simple_loops(as_element(rows)), vector_bytes);
  Kernel kernel;
  kernel.buffers = rows.stages.back().buffers;
  kernel.dims = rows.dims;
  kernel.locals = rows.locals;
  kernel.work = dim_const(0);
  for (const Computation& stage : rows.stages) {
    const Computation simple = with_simple_loops(stage);
    append(kernel.body, loops_of(simple, vector_bytes), kernel.locals);
    kernel.work = dim_add(kernel.work, work_of(simple));
  }
  const size_t shared = shared_loop(rows.extents);
  for (size_t k = rows.rows.size(); k-- > 0;) {
    const Serial steps{.before = k == shared ? dim_const(0) : nullptr};
    kernel.body = {make(For{
        .var = rows.rows[k], .extent = rows.extents[k], .execution = steps, .body = std::move(kernel.body)})};
  }
  kernel.range = rows.extents[shared];
  kernel.work = dim_mul(kernel.work, dim_product(rows.extents));
  return kernel;
}

}  // namespace quern::loops
