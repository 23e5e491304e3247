#include "jit/schedule/statements.h"

#include <algorithm>

namespace quern::loops {

StmtPtr make(Stmt stmt) { return std::make_shared<const Stmt>(std::move(stmt)); }

ValuePtr constant(const Scalar& scalar) {
  Value v{ValueKind::Const, scalar.dtype};
  v.constant = scalar;
  return std::make_shared<const Value>(std::move(v));
}

ValuePtr value_of(int local, DType dtype) {
  Value v{ValueKind::Local, dtype};
  v.local = local;
  return std::make_shared<const Value>(std::move(v));
}

StmtPtr serial_loop(Dim var, Dim extent, Block body) {
  Stmt loop{StmtKind::For};
  loop.var = var;
  loop.extent = extent;
  loop.body = std::move(body);
  return make(std::move(loop));
}

void declare(int local, DType dtype, ValuePtr first, Block& body) {
  Stmt stmt{StmtKind::Declare};
  stmt.local = local;
  stmt.dtype = dtype;
  stmt.value = std::move(first);
  body.push_back(make(std::move(stmt)));
}

void open_reduction(const Reduction& r, Block& body) {
  declare(r.local, r.accumulator, constant(reduce_identity(r.kind, r.accumulator)), body);
  if (r.trap > 0) {
    Stmt require{StmtKind::Require};
    require.extent = dim_product(r.extents);
    require.trap = r.trap;
    body.push_back(make(std::move(require)));
  }
  if (r.index_local >= 0)
    declare(r.index_local, DType::index(), constant(Scalar::from_int(DType::index(), 0)), body);
}

void add_reduction(const Reduction& r, const ReductionLoop& loop, Block& body) {
  if (r.is_let) {
    for (const Reduction& nested : r.inner) add_reduction(nested, loop, body);
    return declare(r.local, r.accumulator, r.value, body);
  }
  open_reduction(r, body);
  Block inner;
  for (const Reduction& nested : r.inner) add_reduction(nested, loop, inner);
  Stmt reduce{StmtKind::Reduce};
  reduce.local = r.local;
  reduce.dtype = r.accumulator;
  reduce.reduce = r.kind;
  reduce.value = r.value;
  reduce.checks = r.checks;
  reduce.index_local = r.index_local;
  reduce.index_value = r.index_value;
  inner.push_back(make(std::move(reduce)));
  for (size_t k = r.vars.size(); k-- > 0;) inner = {loop(r.vars[k], r.extents[k], std::move(inner))};
  body.insert(body.end(), inner.begin(), inner.end());
}

Dim work_of(const Computation& c) {
  Dim work = dim_product(c.extents);
  for (const Reduction& r : c.reductions)
    for (const Dim extent : r.extents)
      if (std::none_of(c.vars.begin(), c.vars.end(), [&](Dim var) { return contains_var(extent, var); }))
        work = dim_mul(work, extent);
  return work;
}

}  // namespace quern::loops
