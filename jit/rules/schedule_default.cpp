#include "jit/rules/schedule_default.h"

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "jit/compute/statements.h"
#include "jit/rules/results_in_lanes.h"

namespace quern::loops {

namespace {

// All accesses of the computation, for questions about strides.
struct Accesses {
  std::vector<Dim> offsets;    ///< of loads and of the store
  std::vector<Dim> elsewhere;  ///< dims in checks, values and computed parts
};

void collect(const std::vector<BoundsCheck>& checks, Accesses& out) {
  for (const BoundsCheck& c : checks) {
    if (c.index) out.elsewhere.push_back(c.index);
    out.elsewhere.push_back(c.extent);
  }
}

void collect(const ValuePtr& value, Accesses& out) {
  for_each_value(value, [&](const Value& v) {
    if (auto* load = as<LoadValue>(v)) out.offsets.push_back(load->offset);
    if (auto* index = as<IndexValue>(v)) out.elsewhere.push_back(index->dim);
    if (auto* checked = as<CheckedValue>(v)) collect(checked->checks, out);
  });
}

void collect(const Reduction& r, Accesses& out) {
  collect(r.value, out);
  collect(r.checks, out);
  if (r.index_value) collect(r.index_value, out);
  for (Dim d : r.extents) out.elsewhere.push_back(d);
  for (const Reduction& inner : r.inner) collect(inner, out);
}

// The stride class of an access along a variable.
enum class Step : uint8_t { None, One, Other };

Step step_of(Dim offset, Dim var) {
  if (!contains_var(offset, var)) return Step::None;
  auto linear = linear_in(offset, var);
  return linear && is_const(linear->coefficient, 1) ? Step::One : Step::Other;
}

class Scheduler {
 public:
  Scheduler(Computation computation, int vector_bytes)
      : c_(std::move(computation)), vector_bytes_(vector_bytes) {}

  Kernel run() {
    merge_loops();
    choose_vector_loop();
    const Dim work = work_of(c_);
    cut_into_parts();
    Kernel kernel;
    kernel.body = nest();
    kernel.buffers = c_.buffers;
    kernel.dims = c_.dims;
    kernel.locals = c_.locals;
    kernel.traps = c_.traps;
    if (const int from = copied_whole(); from >= 0)
      kernel.body = {make(IfApart{.from = from, .to = output_of(c_.buffers), .body = kernel.body})};
    if (c_.scatter) add_scatter(*c_.scatter, kernel.body);
    if (is_shared()) share(kernel, work);
    return kernel;
  }

  Computation merged() {
    merge_loops();
    return std::move(c_);
  }

  MergedLoops with_merged_results() {
    MergedLoops result;
    for (size_t k = c_.vars.size(); k >= 2; --k) {
      const MergedLoops::Pair pair{c_.vars[k - 2], c_.vars[k - 1]};
      if (as_const(c_.extents[k - 1]) && merge(c_.vars, c_.extents, k)) result.merged.push_back(pair);
    }
    result.computation = std::move(c_);
    return result;
  }

  Block part() {
    merge_loops();
    choose_vector_loop();
    return nest();
  }

 private:
  Block nest() {
    Block body = is_in_blocks_ ? block_of_results() : c_.running ? running_loop() : element();
    size_t inner = c_.vars.size() - (is_in_blocks_ ? 1 : 0);
    if (const std::vector<int64_t> cuts = this->cuts(); !cuts.empty()) {
      body = pieces(cuts);
      --inner;
    }
    for (size_t k = inner; k-- > 0;)
      if (c_.vars[k] != c_.running) body = {loop(c_.vars[k], c_.extents[k], std::move(body))};
    return body;
  }

  /// The positions along the innermost loop where reads enter or leave their tensors: parts of a
  /// concatenation, borders of padding.
  std::vector<int64_t> cuts() const {
    constexpr size_t kMost = 4;
    if (c_.vars.empty() || !c_.reductions.empty() || !c_.running_results.empty() ||
        vector_var_ != c_.vars.back())
      return {};
    const auto extent = as_const(c_.extents.back());
    if (!extent) return {};
    std::set<int64_t> found;
    for_each<CheckedValue>(c_.value, [&](const CheckedValue& v) {
      for (const BoundsCheck& check : v.checks) {
        if (!check.index || !contains_var(check.index, vector_var_)) continue;
        const auto along = linear_in(check.index, vector_var_);
        const auto start = along ? as_const(along->rest) : std::nullopt;
        const auto end = as_const(check.extent);
        if (!start || !end || !is_const(along->coefficient, 1)) continue;
        for (const int64_t cut : {-*start, *end - *start})
          if (cut > 0 && cut < *extent) found.insert(cut);
      }
    });
    if (found.size() > kMost) return {};
    return {found.begin(), found.end()};
  }

  /// The innermost loop in pieces between the cuts, within each of which bounds checks are decided.
  Block pieces(std::vector<int64_t> cuts) {
    cuts.push_back(*as_const(c_.extents.back()));
    const Computation whole = c_;
    const Dim var = vector_var_;
    Block body;
    int64_t begin = 0;
    for (const int64_t end : cuts) {
      Facts facts;
      vector_var_ = dim_var(var->name);
      facts.add_index(vector_var_, dim_const(end - begin));
      rewrite({{var, dim_add(vector_var_, dim_const(begin))}});
      c_.value = without_checks(c_.value, facts);
      body.push_back(loop(vector_var_, dim_const(end - begin), element()));
      c_ = whole;
      begin = end;
    }
    vector_var_ = var;
    return body;
  }

  /// Whether the steps of the outermost loop are independent.
  bool is_shared() const {
    return !c_.scatter && !c_.vars.empty() && c_.vars[0] != c_.running && c_.vars[0] != vector_var_;
  }

  void share(Kernel& kernel, Dim work) const {
    For outermost = *as<For>(kernel.body.front());
    outermost.execution = Serial{.before = dim_const(0)};
    kernel.body.front() = make(std::move(outermost));
    kernel.range = c_.extents[0];
    kernel.work = work;
  }

  /// Turns a single long loop in lanes into a loop over parts of it, and results that run in lanes after their sums into
  /// blocks of them.
  void cut_into_parts() {
    constexpr int64_t kPart = 8192, kFewestParts = 8;
    if (has_results_in_lanes(c_, vector_var_, width_)) {
      is_in_blocks_ = true;
      return cut_innermost(kBlockVectors * width_);
    }
    if (c_.scatter || c_.vars.size() != 1 || c_.vars[0] != vector_var_ || !c_.reductions.empty()) return;
    if (as_const(c_.extents[0]).value_or(kPart * kFewestParts) >= kPart * kFewestParts) cut_innermost(kPart);
  }

  void cut_innermost(int64_t steps) {
    const Dim var = c_.vars.back(), extent = c_.extents.back(), part = dim_const(steps);
    const Dim parts = dim_var("part"), count = dim_floordiv(dim_add(extent, dim_const(steps - 1)), part);
    const Dim start = dim_mul(parts, part);
    rewrite({{var, dim_add(start, var)}});
    c_.vars.insert(c_.vars.end() - 1, parts);
    c_.extents.insert(c_.extents.end() - 1, count);
    const bool even = is_const(dim_floormod(extent, part), 0);
    c_.extents.back() = even ? part : dim_min(part, dim_sub(extent, start));
  }

  Block block_of_results() {
    return results_in_lanes(c_, kBlockVectors * width_, width_, [this](Dim var, Dim extent, Block inner) {
      return loop(var, extent, std::move(inner));
    });
  }

  Accesses accesses() const {
    Accesses all;
    collect(c_.value, all);
    for (const Reduction& r : c_.reductions) collect(r, all);
    for (const RunningResult& r : c_.running_results) {
      collect(r.value, all);
      for (const Reduction& inner : r.inner) collect(inner, all);
    }
    all.offsets.push_back(c_.store_offset);
    return all;
  }

  // Merges neighbouring loops that every address traverses like one: a longer innermost loop fills vectors
  // better, and a sum over it has more partial results.
  void merge_loops() {
    merge_loops(c_.vars, c_.extents);
    for (Reduction& r : c_.reductions)
      if (!is_arg(r.kind) && r.inner.empty()) merge_loops(r.vars, r.extents);
  }

  void merge_loops(std::vector<Dim>& vars, std::vector<Dim>& extents) {
    for (size_t k = vars.size(); k >= 2; --k) merge(vars, extents, k);
  }

  /// Merges the loops k - 2 and k - 1 if every access traverses them like one.
  bool merge(std::vector<Dim>& vars, std::vector<Dim>& extents, size_t k) {
    const Dim outer = vars[k - 2], inner = vars[k - 1];
    if (outer == c_.running || inner == c_.running || !runs_as_one(outer, inner, extents[k - 1]))
      return false;
    extents[k - 1] = dim_mul(extents[k - 2], extents[k - 1]);
    vars.erase(vars.begin() + static_cast<ptrdiff_t>(k) - 2);
    extents.erase(extents.begin() + static_cast<ptrdiff_t>(k) - 2);
    rewrite({{outer, dim_const(0)}});
    return true;
  }

  bool runs_as_one(Dim outer, Dim inner, Dim extent) const {
    const Accesses all = accesses();
    const auto moves_on = [&](Dim offset) {
      const auto slow = linear_in(offset, outer);
      const auto fast = slow ? linear_in(slow->rest, inner) : std::nullopt;
      return fast && !contains_var(slow->coefficient, inner) &&
             slow->coefficient == dim_mul(fast->coefficient, extent);
    };
    return std::ranges::all_of(all.offsets, moves_on) && std::ranges::none_of(all.elsewhere, [&](Dim d) {
             return contains_var(d, outer) || contains_var(d, inner);
           });
  }

  void rewrite(const DimMap& map) {
    c_.value = substitute(c_.value, map);
    c_.store_offset = quern::substitute(c_.store_offset, map);
    for (Reduction& r : c_.reductions) substitute(r, map);
    for (RunningResult& r : c_.running_results) {
      r.value = substitute(r.value, map);
      for (Reduction& inner : r.inner) substitute(inner, map);
    }
  }

  // The cost of a step of the loop over `var` per element, in units of a vector load: lanes share contiguous
  // accesses, but not strided ones.
  double cost(Dim var, Dim extent, int width) const {
    double total = 0;
    for (Dim offset : accesses().offsets) {
      switch (step_of(offset, var)) {
        case Step::None: total += 0.25; break;
        case Step::One: total += 1; break;
        case Step::Other: total += 0.75 * width; break;
      }
    }
    auto count = as_const(extent);
    if (!count || *count <= 0) return total;
    int64_t vectors = (*count + width - 1) / width;
    return total * static_cast<double>(vectors) * width / static_cast<double>(*count);
  }

  void choose_vector_loop() {
    int width = loops::lanes_of(c_, vector_bytes_);
    if (width < 2) return;
    double best = 0;
    // Iterations with different inner loop bounds cannot be lanes; nor can the steps of a running result.
    if (!c_.vars.empty() && c_.vars.back() != c_.running && !bounds_a_loop(c_.vars.back())) {
      vector_var_ = c_.vars.back();
      best = cost(vector_var_, c_.extents.back(), width);
      auto count = as_const(c_.extents.back());
      if (count && *count < 2) vector_var_ = nullptr;
    }
    width_ = width;
    const Dim results = vector_var_;
    for (const Reduction& r : c_.reductions) {
      if (!may_run_in_lanes(r)) continue;
      double along = cost(r.vars.back(), r.extents.back(), width);
      if (vector_var_ && along >= best) continue;
      vector_var_ = r.vars.back();
      best = along;
    }
    if (vector_var_ == results) return;
    for (const Reduction& r : c_.reductions)
      if (may_run_in_lanes(r) && (r.vars.back() == vector_var_ || is_contiguous(r)))
        sums_in_lanes_.emplace(r.vars.back(), lanes_of(r));
  }

  /// Of a sum's terms, which the arithmetic of its result does not narrow.
  int lanes_of(const Reduction& r) const {
    Computation terms;
    terms.value = r.value;
    return loops::lanes_of(terms, vector_bytes_);
  }

  bool may_run_in_lanes(const Reduction& r) const {
    if (r.vars.empty() || !r.inner.empty() || bounds_a_loop(r.vars.back())) return false;
    const int width = lanes_of(r);
    return as_const(r.extents.back()).value_or(width) >= width;
  }

  static bool is_contiguous(const Reduction& r) {
    Accesses all;
    collect(r, all);
    return std::ranges::none_of(all.offsets,
                                [&](Dim offset) { return step_of(offset, r.vars.back()) == Step::Other; });
  }

  bool bounds_a_loop(Dim var) const {
    std::function<bool(const Reduction&)> bounds = [&](const Reduction& r) {
      auto has_var = [&](Dim extent) { return contains_var(extent, var); };
      return std::any_of(r.extents.begin(), r.extents.end(), has_var) ||
             std::any_of(r.inner.begin(), r.inner.end(), bounds);
    };
    for (const RunningResult& r : c_.running_results)
      if (std::any_of(r.inner.begin(), r.inner.end(), bounds)) return true;
    return std::any_of(c_.reductions.begin(), c_.reductions.end(), bounds);
  }

  // The element at the result's index variables.
  Block element() {
    Block body;
    for (const Reduction& r : c_.reductions) add_reduction(r, body);
    if (c_.takes_value >= 0) {
      body.push_back(declare(c_.takes_value, c_.value->dtype, c_.value));
      return body;
    }
    body.push_back(
        make(Store{.buffer = output_of(c_.buffers), .offset = c_.store_offset, .value = c_.value}));
    return body;
  }

  // The loop that running results follow, with their initial values. An exclusive result adds each element
  // one step later, at the first position that includes it: the last position's contribution may be out of
  // bounds.
  Block running_loop() {
    Dim var = c_.running, extent = nullptr;
    for (size_t k = 0; k < c_.vars.size(); ++k)
      if (c_.vars[k] == var) extent = c_.extents[k];
    Block body;
    bool late = false;
    for (const RunningResult& r : c_.running_results) {
      body.push_back(declare(r.local, r.accumulator, constant(reduce_identity(r.kind, r.accumulator))));
      late |= !r.inclusive;
    }
    if (!late) {
      body.push_back(loop(var, extent, running_step(var, nullptr)));
      return body;
    }
    Dim one = dim_const(1), first = dim_var(std::string(var->name) + "0");
    body.push_back(loop(first, dim_min(extent, one), running_step(dim_const(0), nullptr)));
    body.push_back(
        loop(var, dim_max(dim_sub(extent, one), dim_const(0)), running_step(dim_add(var, one), var)));
    return body;
  }

  // One position of the running loop; `before` is the position before it, null at the first.
  Block running_step(Dim at, Dim before) {
    Block body;
    for (const RunningResult& r : c_.running_results) {
      Dim taken = r.inclusive ? at : before;
      if (!taken) continue;
      DimMap map{{c_.running, taken}};
      for (Reduction inner : r.inner) {
        substitute(inner, map);
        add_reduction(inner, body);
      }
      body.push_back(make(Reduce{.local = r.local, .reduce = r.kind, .value = substitute(r.value, map)}));
    }
    DimMap map{{c_.running, at}};
    for (Reduction r : c_.reductions) {
      substitute(r, map);
      add_reduction(r, body);
    }
    body.push_back(make(Store{.buffer = output_of(c_.buffers),
                              .offset = quern::substitute(c_.store_offset, map),
                              .value = substitute(c_.value, map)}));
    return body;
  }

  /// The buffer that a scatter's initial values are a copy of, or -1.
  int copied_whole() const {
    auto* load = c_.scatter && c_.reductions.empty() ? as<LoadValue>(*c_.value) : nullptr;
    const bool is_copy = load && load->computed.empty() && load->checks.empty() &&
                         load->offset == c_.store_offset &&
                         load->dtype == c_.buffers[static_cast<size_t>(output_of(c_.buffers))].dtype;
    return is_copy ? load->buffer : -1;
  }

  void add_scatter(const Scatter& s, Block& kernel) {
    Block body;
    for (const Reduction& r : s.reductions) add_reduction(r, body);
    body.push_back(make(Update{.buffer = output_of(c_.buffers),
                               .offset = s.offset,
                               .computed = s.computed,
                               .checks = s.checks,
                               .trap = s.trap,
                               .op = s.op,
                               .value = s.value}));
    for (size_t k = s.vars.size(); k-- > 0;) body = {loop(s.vars[k], s.extents[k], std::move(body))};
    kernel.insert(kernel.end(), body.begin(), body.end());
  }

  void add_reduction(const Reduction& r, Block& body) const {
    loops::add_reduction(
        r, [this](Dim var, Dim extent, Block inner) { return loop(var, extent, std::move(inner)); }, body);
  }

  StmtPtr loop(Dim var, Dim extent, Block body) const {
    if (const auto sum = sums_in_lanes_.find(var); sum != sums_in_lanes_.end())
      return vector_loop(var, extent, sum->second, std::move(body));
    return var == vector_var_ ? vector_loop(var, extent, width_, std::move(body))
                              : serial_loop(var, extent, std::move(body));
  }

  static constexpr int64_t kBlockVectors = 2;  ///< of results that wait for their sums

  Computation c_;
  int vector_bytes_;
  bool is_in_blocks_ = false;  ///< the innermost loop runs within `block_of_results`
  Dim vector_var_ = nullptr;
  std::unordered_map<Dim, int> sums_in_lanes_;  ///< loops of sums in lanes, and how many
  int width_ = 1;
};

}  // namespace

int lanes_of(const Computation& computation, int vector_bytes) {
  size_t widest = 4;
  const auto widen = [&](const ValuePtr& value) {
    for_each_value(value, [&](const Value& v) {
      if (as<LoadValue>(v) || as<ApplyValue>(v) || as<CastValue>(v))
        widest = std::max(widest, v.dtype.bytes());
    });
  };
  widen(computation.value);
  for (const Reduction& r : computation.reductions) widen(r.value);
  for (const RunningResult& r : computation.running_results) widen(r.value);
  return std::max<int>(1, vector_bytes / static_cast<int>(widest));
}

Computation with_merged_loops(Computation computation) {
  return Scheduler(std::move(computation), 0).merged();
}

MergedLoops with_merged_results(Computation computation) {
  return Scheduler(std::move(computation), 0).with_merged_results();
}

Kernel schedule_default(const Computation& computation, int vector_bytes) {
  return Scheduler(computation, vector_bytes).run();
}

Block loops_of(const Computation& computation, int vector_bytes) {
  return Scheduler(computation, vector_bytes).part();
}

}  // namespace quern::loops
