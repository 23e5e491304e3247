#include "passes/part_reductions.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

#include "passes/scalar_builder.h"

namespace quern {

namespace {

/// For results of few numbers: the number of points from which threads share a reduction. For any result: the
/// longest chain of rounded terms. The number of parts that these are cut into.
constexpr int64_t kFewNumbers = 8, kLong = 1 << 19, kLongChain = 1 << 16, kMostParts = 64, kFewestParts = 8;

/// The only reduction of an index expression, or null.
const ReduceExpr* only_reduction(ExprPtr body) {
  const ReduceExpr* found = nullptr;
  int count = 0;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    if (e->kind == ExprKind::Scan || e->kind == ExprKind::Scatter) count += 2;
    if (auto* reduce = as<ReduceExpr>(e)) {
      found = reduce;
      ++count;
    }
    for_each_child(e, walk);
  };
  walk(body);
  return count == 1 ? found : nullptr;
}

/// The largest tensor whose read uses more than one index variable of the reduction, or null.
const ReadExpr* largest_read(const ReduceExpr& reduce) {
  const ReadExpr* found = nullptr;
  constexpr int64_t kUnknown = std::numeric_limits<int64_t>::max();
  int64_t most = 0;
  std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
    for_each_child(e, walk);
    auto* read = as<ReadExpr>(e);
    if (!read) return;
    const auto is_in = [&](Dim var) {
      return std::ranges::any_of(read->indices, [&](ExprPtr index) {
        auto* value = as<DimValueExpr>(index);
        return value && contains_var(value->dim, var);
      });
    };
    const int64_t size = as_const(dim_product(read->tensor->type->dims)).value_or(kUnknown);
    if (std::ranges::count_if(reduce.vars, is_in) < 2 || size <= most) return;
    found = read;
    most = size;
  };
  walk(reduce.body);
  return found;
}

/// The index variables of a reduction in memory order: by the first axis of the largest tensor whose index
/// uses them, then the others in their original order.
std::vector<size_t> order_in_memory(const ReduceExpr& reduce) {
  std::vector<size_t> order(reduce.vars.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const ReadExpr* read = largest_read(reduce);
  const auto depends = [&](Dim extent) {
    return std::ranges::any_of(reduce.vars, [&](Dim var) { return contains_var(extent, var); });
  };
  if (!read || std::ranges::any_of(reduce.extents, depends)) return order;
  const auto axis = [&](size_t k) -> size_t {
    for (size_t at = 0; at < read->indices.size(); ++at) {
      auto* value = as<DimValueExpr>(read->indices[at]);
      if (value && contains_var(value->dim, reduce.vars[k])) return at + 1;
    }
    return 0;
  };
  std::ranges::stable_sort(order, {}, axis);
  return order;
}

/// How the steps of one index variable of a reduction are cut.
struct Cut {
  size_t variable;
  int64_t extent, parts, step;
};

/// Steps per part: equal parts if a number of parts between `parts` and twice that divides the extent.
int64_t step_of(int64_t extent, int64_t parts) {
  for (int64_t count = parts; count <= 2 * parts; ++count)
    if (extent % count == 0) return extent / count;
  return (extent + parts - 1) / parts;
}

/// The first loop with enough steps: `kMostParts`, or more if a part would have more than `longest` points.
std::optional<Cut> cut_of(const ReduceExpr& reduce, int64_t longest) {
  const auto points = as_const(dim_product(reduce.extents));
  if (!points || *points < longest) return std::nullopt;
  const int64_t most = std::max(kMostParts, *points / longest);
  for (size_t k = 0; k < reduce.vars.size(); ++k) {
    const int64_t extent = *as_const(reduce.extents[k]);
    const int64_t step = step_of(extent, most);
    const Cut cut{k, extent, (extent + step - 1) / step, step};
    if (cut.parts >= kFewestParts) return cut;
  }
  return std::nullopt;
}

/// A sum of products is a tile of sums, each over all terms (docs/kernels.md).
bool is_sum_of_products(const ReduceExpr& reduce) {
  auto* term = as<ScalarExpr>(reduce.body);
  return term && !term->is_cast && term->op == ScalarOp::Mul && term->args[0]->kind == ExprKind::Read &&
         term->args[1]->kind == ExprKind::Read;
}

class Parter {
 public:
  explicit Parter(Arena& arena) : arena_(arena) {}

  ExprPtr run(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    if (!block && expr->kind != ExprKind::Comprehension)
      return map_children(arena_, expr, [&](ExprPtr child) { return run(child); });
    std::vector<Binding> bindings;
    if (block)
      for (const Binding& b : block->bindings) {
        ExprPtr bound = value(b.value, bindings);
        bindings.push_back({b.variable, bound});
      }
    ExprPtr result = value(block ? block->result : expr, bindings);
    return block_of(arena_, bindings, result, expr->origin);
  }

 private:
  ExprPtr value(ExprPtr expr, std::vector<Binding>& bindings) {
    auto* whole = as<ComprehensionExpr>(expr);
    if (!whole) return run(expr);
    if (whole->schedule) return expr;
    const ReduceExpr* reduce = only_reduction(whole->body);
    const auto numbers = as_const(dim_product(whole->extents));
    if (!reduce || is_arg(reduce->reduce) || reduce->type->dtype.is_vector() || !numbers) return expr;
    const bool rounds = reduce->reduce == ReduceKind::Sum && reduce->type->dtype.is_float();
    if (*numbers > kFewNumbers && is_sum_of_products(*reduce)) return expr;
    expr = in_order(*whole, *reduce);
    if (*numbers > kFewNumbers && !rounds) return expr;
    whole = as<ComprehensionExpr>(expr);
    reduce = only_reduction(whole->body);
    const auto cut = cut_of(*reduce, rounds ? kLongChain : kLong);
    return cut ? in_parts(*whole, *reduce, *cut, bindings) : expr;
  }

  ExprPtr in_order(const ComprehensionExpr& whole, const ReduceExpr& reduce) {
    const std::vector<size_t> order = order_in_memory(reduce);
    if (std::ranges::is_sorted(order)) return &whole;
    std::vector<Dim> vars, extents;
    for (const size_t k : order) {
      vars.push_back(reduce.vars[k]);
      extents.push_back(reduce.extents[k]);
    }
    const ScalarBuilder build(arena_, whole.origin);
    return with_reduction(whole, reduce, build.reduce(reduce.reduce, vars, extents, reduce.body));
  }

  ExprPtr with_reduction(const ComprehensionExpr& whole, const ReduceExpr& from, ExprPtr to) {
    std::function<ExprPtr(ExprPtr)> put = [&](ExprPtr e) {
      return e == &from ? to : map_children(arena_, e, put);
    };
    return arena_.make<ComprehensionExpr>(Expr{whole}, whole.vars, whole.extents, put(whole.body));
  }

  ExprPtr in_parts(const ComprehensionExpr& whole, const ReduceExpr& reduce, const Cut& cut,
                   std::vector<Binding>& bindings) {
    const ScalarBuilder build(arena_, whole.origin);
    const DType element = reduce.body->type->dtype, accumulator = accumulator_dtype(element);
    const Dim part = dim_var("part"), step = dim_const(cut.step), parts = dim_const(cut.parts);
    std::vector<Dim> vars(reduce.vars.begin(), reduce.vars.end());
    std::vector<Dim> extents(reduce.extents.begin(), reduce.extents.end());
    const Dim begin = dim_mul(part, step), inside = dim_var(vars[cut.variable]->name);
    const DimMap moved{{vars[cut.variable], dim_add(begin, inside)}};
    vars[cut.variable] = inside;
    const bool even = cut.extent % cut.step == 0;
    extents[cut.variable] = even ? step : dim_min(step, dim_sub(dim_const(cut.extent), begin));
    ExprPtr body = build.copy(reduce.body, moved);
    if (accumulator != element) body = build.cast(body, accumulator);
    std::vector<Dim> places(whole.vars.begin(), whole.vars.end());
    std::vector<Dim> counts(whole.extents.begin(), whole.extents.end());
    places.insert(places.begin(), part);
    counts.insert(counts.begin(), parts);
    // With fresh binders: the rest of the expression keeps the existing ones.
    ExprPtr partial =
        build.copy(build.comprehension(places, counts, build.reduce(reduce.reduce, vars, extents, body)));
    const Variable* results = make_variable(arena_, "parts", partial->type);
    bindings.push_back({results, partial});
    ExprPtr tensor = read_of(arena_, results, whole.origin);
    const Dim each = dim_var("part");
    places.front() = each;
    const Dim each_of[] = {each}, count_of[] = {parts};
    ExprPtr sum = build.reduce(reduce.reduce, each_of, count_of, build.read(tensor, places));
    if (accumulator != element) sum = build.cast(sum, element);
    return with_reduction(whole, reduce, sum);
  }

  Arena& arena_;
};

}  // namespace

ExprPtr part_reductions(const PassContext& context, ExprPtr expr) { return Parter(context.arena).run(expr); }

}  // namespace quern
