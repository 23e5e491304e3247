// From loops to statements.

#include <algorithm>
#include <unordered_map>

#include "ir/result.h"
#include "jit/schedule/dot.h"
#include "jit/schedule/statements.h"

namespace quern::loops {

class NestWriter {
 public:
  explicit NestWriter(const Nest& nest) : nest_(nest), c_(nest.c_) {
    const auto is_reduced = [&](int loop) { return loop_at(loop).owner != Nest::kResult; };
    const auto& order = nest.order_;
    auto first = std::find_if(order.begin(), order.end(), is_reduced);
    outer_.assign(order.begin(), first);
    for (; first != order.end(); ++first) (is_reduced(*first) ? reduced_ : tile_).push_back(*first);
    if (nest.turned_ >= 0) outer_.resize(outer_.size() - 2);
  }

  Kernel write() {
    Kernel kernel;
    kernel.buffers = c_.buffers;
    kernel.dims = c_.dims;
    kernel.locals = c_.locals + (nest_.turned_ >= 0 ? 1 : 0);
    kernel.traps = c_.traps;
    kernel.body = loops(outer_, 0, {}, [this](const Place& place) {
      return nest_.turned_ >= 0 ? turned_tile(place) : element(place);
    });
    kernel.range = range_;
    if (range_) kernel.work = work_of(c_);
    return kernel;
  }

 private:
  /// The steps of a split that are alike: `count` of them from `start` on, each of `factor`.
  struct Steps {
    Dim count, start, factor;
  };
  /// What is known of the loops around a statement.
  struct Place {
    std::unordered_map<int, Dim> index;    ///< of loops
    std::unordered_map<int, Steps> steps;  ///< of splits
    Facts facts;
    Dim before = dim_const(0);      ///< how many steps of a split come before these
    std::vector<BoundsCheck> held;  ///< of the reduction's checks, as the computation says them
    DotIntrinsicPtr dot;            ///< does the steps of a loop around
  };
  using Inside = std::function<Block(const Place&)>;

  const Nest::Loop& loop_at(int loop) const { return nest_.table_[static_cast<size_t>(loop)]; }

  /// Loops of a tile are known to the code.
  LoopKind kind_of(int loop) const {
    const LoopKind kind = loop_at(loop).kind;
    const bool in_tile = std::count(tile_.begin(), tile_.end(), loop) != 0;
    return in_tile && kind == LoopKind::Serial ? LoopKind::Unroll : kind;
  }

  // --- indices ---

  Dim extent_of(int loop, const Place& place) const {
    const Nest::Loop& l = loop_at(loop);
    if (l.extent) return l.extent;
    const auto steps = place.steps.find(l.made_by);
    QUERN_CHECK(steps != place.steps.end());
    const bool is_outer = nest_.splits_[static_cast<size_t>(l.made_by)].outer == loop;
    return is_outer ? steps->second.count : steps->second.factor;
  }

  /// The loop's index, or null where the loops that it is made of do not have one yet.
  Dim index_of(int loop, const Place& place) const {
    if (const auto known = place.index.find(loop); known != place.index.end()) return known->second;
    for (size_t s = 0; s < nest_.splits_.size(); ++s) {
      const Nest::Split& split = nest_.splits_[s];
      if (split.loop != loop) continue;
      const Dim outer = index_of(split.outer, place);
      const Dim inner = index_of(split.inner, place);
      if (!outer || !inner) return nullptr;
      const Steps& steps = place.steps.at(static_cast<int>(s));
      return dim_add(dim_add(dim_mul(outer, steps.factor), inner), steps.start);
    }
    for (const Nest::Fuse& fuse : nest_.fuses_) {
      if (fuse.outer != loop && fuse.inner != loop) continue;
      const Dim fused = index_of(fuse.fused, place);
      if (!fused) return nullptr;
      const Dim extent = loop_at(fuse.inner).extent;
      return fuse.outer == loop ? dim_floordiv(fused, extent) : dim_floormod(fused, extent);
    }
    return nullptr;
  }

  DimMap indices(const Place& place) const {
    DimMap map;
    for (size_t k = 0; k < nest_.table_.size(); ++k)
      if (const Dim index = index_of(static_cast<int>(k), place)) map.emplace(nest_.table_[k].symbol, index);
    return map;
  }

  Dim here(Dim d, const DimMap& map, const Facts& facts) const {
    return simplify(quern::substitute(d, map), facts);
  }

  // --- loops ---

  std::vector<Steps> steps_of(const Nest::Split& split, const Place& place) const {
    std::vector<Steps> steps = even_steps(split, place);
    if (!loop_at(split.outer).peeled) return steps;
    const auto cut = [](Steps& from, int64_t first) {
      const int64_t count = *as_const(from.count);
      Steps rest = from;
      from.count = dim_const(first);
      rest.count = dim_const(count - first);
      rest.start = dim_add(from.start, dim_mul(from.count, from.factor));
      return rest;
    };
    const auto is_many = [](const Steps& s) { return as_const(s.count).value_or(0) > 1; };
    if (!steps.empty() && is_many(steps.front())) steps.insert(steps.begin() + 1, cut(steps.front(), 1));
    if (!steps.empty() && is_many(steps.back()))
      steps.push_back(cut(steps.back(), *as_const(steps.back().count) - 1));
    return steps;
  }

  std::vector<Steps> even_steps(const Nest::Split& split, const Place& place) const {
    const Dim extent = extent_of(split.loop, place), factor = dim_const(split.factor), zero = dim_const(0);
    const LoopKind inner = kind_of(split.inner);
    const auto known = as_const(extent);
    if (!known && inner == LoopKind::Unroll) return cascade(extent, split.factor);
    if (!known)
      return {{dim_floordiv(extent, factor), zero, factor},
              {dim_min(dim_floormod(extent, factor), dim_const(1)),
               dim_mul(dim_floordiv(extent, factor), factor), dim_floormod(extent, factor)}};
    std::vector<Steps> steps;
    const auto add = [&](int64_t count, int64_t start, int64_t size) {
      if (count > 0 && size > 0) steps.push_back({dim_const(count), dim_const(start), dim_const(size)});
    };
    if (inner == LoopKind::Unroll && *known > 0) {
      const int64_t count = (*known + split.factor - 1) / split.factor;
      const int64_t most = (*known + count - 1) / count, many = *known - count * (most - 1);
      add(many, 0, most);
      add(count - many, many * most, most - 1);
      return steps;
    }
    add(*known / split.factor, 0, split.factor);
    add(1, *known / split.factor * split.factor, *known % split.factor);
    return steps;
  }

  /// Steps that are all unrolled, over an extent that is known at run time only.
  static std::vector<Steps> cascade(Dim extent, int64_t factor) {
    std::vector<Steps> steps;
    Dim start = dim_const(0), left = extent;
    for (int64_t size = factor;; size = size > 4 ? 4 : 1) {
      const Dim each = dim_const(size), count = dim_floordiv(left, each);
      steps.push_back({count, start, each});
      if (size == 1) return steps;
      start = dim_add(start, dim_mul(count, each));
      left = dim_floormod(left, each);
    }
  }

  /// The loops from the k-th on around what `inside` makes.
  Block loops(const std::vector<int>& order, size_t k, const Place& place, const Inside& inside) {
    if (k == order.size()) return inside(place);
    const int loop = order[k];
    const int made_by = loop_at(loop).made_by;
    const bool is_outer = made_by >= 0 && nest_.splits_[static_cast<size_t>(made_by)].outer == loop;
    if (!is_outer) return one_loop(order, k, extent_of(loop, place), place, inside);
    Block all;
    Dim before = dim_const(0);
    for (const Steps& steps : steps_of(nest_.splits_[static_cast<size_t>(made_by)], place)) {
      Place here = place;
      here.steps[made_by] = steps;
      here.before = before;
      before = dim_add(before, steps.count);
      Block part = one_loop(order, k, steps.count, std::move(here), inside);
      all.insert(all.end(), part.begin(), part.end());
    }
    if (loop == nest_.parallel_) range_ = before;
    return all;
  }

  Block one_loop(const std::vector<int>& order, size_t k, Dim extent, Place place, const Inside& inside) {
    const int loop = order[k];
    const Nest::Loop& l = loop_at(loop);
    const bool ranged = loop == nest_.parallel_;
    if (l.dot && is_const(extent, l.dot->group)) {
      place.index[loop] = dim_const(0);
      place.dot = l.dot;
      return loops(order, k + 1, place, inside);
    }
    if (is_const(extent, 1) && l.kind != LoopKind::Vectorize && !ranged) {
      place.index[loop] = dim_const(0);
      return guarded(loop, std::move(place), [&](const Place& p) { return loops(order, k + 1, p, inside); });
    }
    Stmt stmt{StmtKind::For};
    stmt.var = dim_var(l.name);
    stmt.extent = extent;
    stmt.loop = kind_of(loop);
    stmt.width = static_cast<int>(l.width);
    const bool in_tile = std::count(tile_.begin(), tile_.end(), loop) != 0;
    if (stmt.loop == LoopKind::Unroll && (l.width == 0 || in_tile)) {
      constexpr int64_t kMost = 64;
      const auto all = as_const(extent);
      stmt.loop = all && *all <= kMost ? LoopKind::Unroll : LoopKind::Serial;
      stmt.width = stmt.loop == LoopKind::Unroll ? static_cast<int>(*all) : 1;
    }
    if (ranged) stmt.before = l.extent ? dim_const(0) : place.before;
    if (ranged && !range_) range_ = extent;
    stmt.apart = l.kind == LoopKind::Unroll && l.owner != Nest::kResult && fills_registers(place);
    stmt.unrolled = l.kind == LoopKind::Vectorize && in_tile;
    if (stmt.unrolled && !as_const(extent)) stmt.most = *tile_extent(loop, place);
    place.index[loop] = is_const(extent, 1) ? dim_const(0) : stmt.var;
    place.facts.add_index(stmt.var, extent);
    stmt.body =
        guarded(loop, std::move(place), [&](const Place& p) { return loops(order, k + 1, p, inside); });
    return {make(std::move(stmt))};
  }

  /// Whether a tile leaves few registers for anything else.
  bool fills_registers(const Place& place) const {
    constexpr int64_t kMany = 16;
    int64_t vectors = 1;
    for (const int loop : tile_) {
      const int64_t lanes = loop_at(loop).kind == LoopKind::Vectorize ? loop_at(loop).width : 1;
      vectors *= (tile_extent(loop, place).value_or(1) + lanes - 1) / lanes;
    }
    return vectors > kMany;
  }

  /// What a reduction's terms need, as soon as the loops that it depends on have their indices.
  Block guarded(int loop, Place place, const Inside& inside) {
    if (loop_at(loop).owner == Nest::kResult || loop_at(loop).kind == LoopKind::Vectorize)
      return inside(place);
    const Reduction& r = c_.reductions[static_cast<size_t>(loop_at(loop).owner)];
    if (r.checks.empty()) return inside(place);
    const DimMap map = indices(place);
    Stmt guard{StmtKind::If};
    for (const BoundsCheck& check : r.checks) {
      if (check.computed || contains(place.held, check)) continue;
      BoundsCheck now = check;
      now.index = here(check.index, map, place.facts);
      now.extent = here(check.extent, map, place.facts);
      if (is_open(now.index) || is_open(now.extent) || runs_in_lanes(now.index, place)) continue;
      place.held.push_back(check);
      const bool proved =
          prove_nonnegative(now.index, place.facts) && prove_less(now.index, now.extent, place.facts);
      if (!proved) guard.checks.push_back(now);
    }
    if (guard.checks.empty()) return inside(place);
    guard.body = inside(place);
    return {make(std::move(guard))};
  }

  /// Whether it depends on a loop that has no index yet.
  bool is_open(Dim d) const {
    return std::any_of(nest_.table_.begin(), nest_.table_.end(),
                       [&](const Nest::Loop& l) { return contains_var(d, l.symbol); });
  }

  bool runs_in_lanes(Dim d, const Place& place) const {
    for (const auto& [loop, index] : place.index)
      if (loop_at(loop).kind == LoopKind::Vectorize && index->kind == DimKind::Var && contains_var(d, index))
        return true;
    return false;
  }

  // --- statements ---

  Block element(const Place& place) {
    Block body;
    for (size_t r = 0; r < c_.reductions.size(); ++r) top_reduction(static_cast<int>(r), place, body);
    Block stores = loops(tile_, 0, place, [&](const Place& p) { return Block{make(store_at(p))}; });
    body.insert(body.end(), stores.begin(), stores.end());
    return body;
  }

  /// Loads a tile along one of its loops, and stores it along the other.
  Block turned_tile(const Place& place) {
    const int v = nest_.order_[nest_.order_.size() - 2], u = nest_.order_.back();
    const int64_t width = nest_.splits_[static_cast<size_t>(loop_at(v).made_by)].factor;
    Stmt tile{StmtKind::Declare};
    tile.local = c_.locals;
    tile.dtype = c_.buffers[static_cast<size_t>(nest_.turned_)].dtype;
    tile.shape = {width, width};
    tile.width = static_cast<int>(width);
    tile.value = constant(Scalar::from_int(tile.dtype, 0));
    Stmt turn{StmtKind::Turn};
    turn.local = tile.local;
    Stmt load{StmtKind::Assign};
    load.local = tile.local;
    Block body{make(std::move(tile))};
    Block loads = square(u, v, width, place, [&](const Place& p) {
      Stmt row = load;
      row.indices = {p.index.at(u), p.index.at(v)};
      row.value = value(turned_read(), indices(p), p);
      return Block{make(std::move(row))};
    });
    body.insert(body.end(), loads.begin(), loads.end());
    body.push_back(make(std::move(turn)));
    Block stores = square(v, u, width, place, [&](const Place& p) {
      Stmt store = store_at(p);
      store.value = with_turned(store.value, {p.index.at(v), p.index.at(u)});
      return Block{make(std::move(store))};
    });
    body.insert(body.end(), stores.begin(), stores.end());
    return body;
  }

  /// The steps of `rows`, unrolled, each over `columns` in lanes.
  Block square(int rows, int columns, int64_t width, Place place, const Inside& inside) const {
    Stmt row{StmtKind::For};
    row.var = dim_var(loop_at(rows).name);
    row.extent = dim_const(width);
    row.loop = LoopKind::Unroll;
    row.width = static_cast<int>(width);
    Stmt column{StmtKind::For};
    column.var = dim_var(loop_at(columns).name);
    column.extent = extent_of(columns, place);
    column.loop = LoopKind::Vectorize;
    column.width = static_cast<int>(width);
    column.unrolled = true;
    if (!as_const(column.extent)) column.most = width;
    const Dim all_rows = extent_of(rows, place);
    place.index[rows] = row.var;
    place.index[columns] = column.var;
    place.facts.add_index(row.var, all_rows);
    place.facts.add_index(column.var, column.extent);
    column.body = inside(place);
    row.body = {make(std::move(column))};
    if (as_const(all_rows)) {
      row.extent = all_rows;
      row.width = static_cast<int>(*as_const(all_rows));
    } else {
      Stmt some{StmtKind::If};
      some.checks = {{row.var, nullptr, all_rows, nullptr}};
      some.body = std::move(row.body);
      row.body = {make(std::move(some))};
    }
    return {make(std::move(row))};
  }

  ValuePtr turned_read() const {
    ValuePtr read;
    for_each_value(c_.value, [&](const Value& v) {
      if (v.kind == ValueKind::Load && v.buffer == nest_.turned_) read = std::make_shared<const Value>(v);
    });
    return read;
  }

  /// The value with the tile in the place of the buffer.
  ValuePtr with_turned(const ValuePtr& from, const std::vector<Dim>& place) const {
    if (!from) return nullptr;
    Value v = *from;
    if (v.kind == ValueKind::Load && v.buffer == nest_.turned_) {
      v = Value{ValueKind::Local, from->dtype};
      v.local = c_.locals;
      v.indices = place;
    }
    for (ValuePtr& arg : v.args) arg = with_turned(arg, place);
    v.otherwise = with_turned(v.otherwise, place);
    return std::make_shared<const Value>(std::move(v));
  }

  Stmt store_at(const Place& p) const {
    Stmt store{StmtKind::Store};
    const DimMap map = indices(p);
    store.buffer = output_of(c_.buffers);
    store.offset = here(c_.store_offset, map, p.facts);
    store.value = value(c_.value, map, p);
    return store;
  }

  void top_reduction(int number, const Place& place, Block& body) {
    const Reduction& r = c_.reductions[static_cast<size_t>(number)];
    const DimMap map = indices(place);
    if (tile_.empty()) {
      Reduction own = r;
      substitute(own, map);
      if (own.is_let || own.vars.empty()) return add_reduction(own, serial_loop, body);
      open_reduction(own, body);
    } else {
      declare_tile(r, place, body);
    }
    std::vector<int> order;
    for (const int loop : reduced_)
      if (loop_at(loop).owner == number) order.push_back(loop);
    Block terms = loops(order, 0, place, [&](const Place& inner) {
      return loops(tile_, 0, inner, [&](const Place& p) { return term(r, p); });
    });
    body.insert(body.end(), terms.begin(), terms.end());
  }

  Block term(const Reduction& r, const Place& place) {
    const DimMap map = indices(place);
    Block body;
    for (Reduction nested : r.inner) {
      substitute(nested, map);
      add_reduction(nested, serial_loop, body);
    }
    Stmt reduce{StmtKind::Reduce};
    reduce.local = r.local;
    reduce.indices = tile_indices(place);
    reduce.dtype = r.accumulator;
    reduce.reduce = r.kind;
    reduce.value = place.dot ? dot(r, map, place) : value(r.value, map, place, &r.checks);
    for (const BoundsCheck& check : r.checks)
      if (!contains(place.held, check)) reduce.checks.push_back(this->check(check, map, place));
    reduce.index_local = r.index_local;
    reduce.index_value = value(r.index_value, map, place);
    body.push_back(make(std::move(reduce)));
    return body;
  }

  ValuePtr dot(const Reduction& r, const DimMap& map, const Place& place) const {
    const auto factors = dot_factors(r.value, *place.dot);
    QUERN_CHECK(factors);
    Value v{ValueKind::Dot, r.accumulator};
    v.dot = place.dot;
    v.args = {value(factors->a, map, place, &r.checks), value(factors->b, map, place, &r.checks)};
    return std::make_shared<const Value>(std::move(v));
  }

  std::vector<Dim> tile_indices(const Place& place) const {
    std::vector<Dim> found;
    for (const int loop : tile_) found.push_back(place.index.at(loop));
    return found;
  }

  void declare_tile(const Reduction& r, const Place& place, Block& body) const {
    Stmt stmt{StmtKind::Declare};
    stmt.local = r.local;
    stmt.dtype = r.accumulator;
    stmt.value = constant(reduce_identity(r.kind, r.accumulator));
    for (const int loop : tile_) {
      const auto extent = tile_extent(loop, place);
      QUERN_CHECK(extent);
      stmt.shape.push_back(*extent);
      if (loop_at(loop).kind == LoopKind::Vectorize) stmt.width = static_cast<int>(loop_at(loop).width);
    }
    body.push_back(make(std::move(stmt)));
  }

  /// At most, where it is a part of a split.
  std::optional<int64_t> tile_extent(int loop, const Place& place) const {
    const auto known = as_const(extent_of(loop, place));
    const int made_by = loop_at(loop).made_by;
    if (known || made_by < 0) return known;
    return nest_.splits_[static_cast<size_t>(made_by)].factor;
  }

  // --- values ---

  BoundsCheck check(BoundsCheck check, const DimMap& map, const Place& place) const {
    if (check.index) check.index = here(check.index, map, place.facts);
    if (check.computed) check.computed = value(check.computed, map, place);
    check.extent = here(check.extent, map, place.facts);
    return check;
  }

  /// A value with the indices put in. `absence`: what is tested of the whole term, so that nobody looks at
  /// what a load gives where that fails.
  ValuePtr value(const ValuePtr& from, const DimMap& map, const Place& place,
                 const std::vector<BoundsCheck>* absence = nullptr) const {
    if (!from) return nullptr;
    Value v = *from;
    if (v.dim) v.dim = here(v.dim, map, place.facts);
    for (ValuePtr& arg : v.args) arg = value(arg, map, place, absence);
    for (ComputedOffset& c : v.computed) c = {value(c.index, map, place), here(c.stride, map, place.facts)};
    if (v.kind == ValueKind::Local && !tile_.empty()) v.indices = tile_indices(place);
    std::erase_if(v.checks, [&](const BoundsCheck& c) { return contains(place.held, c); });
    v.unseen = absence && !tile_.empty() && !v.checks.empty() &&
               std::all_of(v.checks.begin(), v.checks.end(),
                           [&](const BoundsCheck& c) { return !c.computed && contains(*absence, c); });
    for (BoundsCheck& c : v.checks) c = check(c, map, place);
    v.otherwise = value(v.otherwise, map, place);
    return std::make_shared<const Value>(std::move(v));
  }

  const Nest& nest_;
  const Computation& c_;
  std::vector<int> outer_, reduced_, tile_;
  Dim range_ = nullptr;
};

Kernel Nest::kernel() const { return NestWriter(*this).write(); }

}  // namespace quern::loops
