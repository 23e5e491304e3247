#include "jit/rules/rows.h"

#include <algorithm>

#include "jit/compute/statements.h"
#include "jit/rules/schedule_default.h"

namespace quern::loops {

namespace {

/// What stands in for an extent that is known at run time only.
constexpr int64_t kUsualExtent = 256;

/// The loop with the most steps.
size_t shared_loop(const std::vector<Dim>& extents) {
  size_t best = 0;
  for (size_t k = 1; k < extents.size(); ++k)
    if (as_const(extents[k]).value_or(kUsualExtent) > as_const(extents[best]).value_or(kUsualExtent))
      best = k;
  return best;
}

/// The value with the local in place of what the buffer holds at the offset; null where it reads anything
/// else of the buffer.
ValuePtr with_local(const ValuePtr& value, int buffer, Dim offset, const ValuePtr& local) {
  bool others = false;
  ValuePtr result = map_values(value, [&](const Value& v) {
    if (v.kind != ValueKind::Load || v.buffer != buffer) return ValuePtr();
    others = others || v.dim != offset || !v.computed.empty() || !v.checks.empty();
    return local;
  });
  return others ? nullptr : result;
}

bool is_alike(const Stmt& a, const Stmt& b) {
  return a.kind == StmtKind::For && b.kind == StmtKind::For && a.extent == b.extent && a.loop == b.loop &&
         a.width == b.width && a.loop == LoopKind::Vectorize;
}

/// A loop that stores what the next one reduces takes that in, so that it is not read again: `first` and
/// `second` in one, or null. The local is new.
StmtPtr in_one(const Stmt& first, const Stmt& second, int local) {
  if (!is_alike(first, second) || second.body.size() != 1) return nullptr;
  const Stmt& store = *first.body.back();
  Stmt reduce = *second.body.front();
  if (store.kind != StmtKind::Store || reduce.kind != StmtKind::Reduce || !reduce.checks.empty() ||
      is_arg(reduce.reduce))
    return nullptr;
  const ValuePtr stored = value_of(local, store.value->dtype);
  reduce.value =
      with_local(substitute(reduce.value, {{second.var, first.var}}), store.buffer, store.offset, stored);
  if (!reduce.value) return nullptr;
  Stmt both = first;
  both.body.pop_back();
  declare(local, store.value->dtype, store.value, both.body);
  Stmt kept = store;
  kept.value = stored;
  both.body.push_back(make(std::move(kept)));
  both.body.push_back(make(std::move(reduce)));
  return make(std::move(both));
}

/// A stage's statements after those of the stages before it.
void append(Block& body, const Block& stage, int& locals) {
  const bool joins = !body.empty() && stage.size() >= 2 && stage[0]->kind == StmtKind::Declare &&
                     stage[0]->value->kind == ValueKind::Const;
  const StmtPtr one = joins ? in_one(*body.back(), *stage[1], locals) : nullptr;
  if (!one) {
    body.insert(body.end(), stage.begin(), stage.end());
    return;
  }
  ++locals;
  body.back() = stage[0];
  body.push_back(one);
  body.insert(body.end(), stage.begin() + 2, stage.end());
}

}  // namespace

Kernel scheduled_rows(const RowComputation& rows, int vector_bytes) {
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
    Stmt loop = *serial_loop(rows.rows[k], rows.extents[k], std::move(kernel.body));
    if (k == shared) loop.before = dim_const(0);
    kernel.body = {make(std::move(loop))};
  }
  kernel.range = rows.extents[shared];
  kernel.work = dim_mul(kernel.work, dim_product(rows.extents));
  return kernel;
}

}  // namespace quern::loops
