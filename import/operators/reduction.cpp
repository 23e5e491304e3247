// Reductions over axes.

#include <fmt/format.h>

#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// `axis=[1], keepdims=True`, or nothing where there is nothing to reduce.
std::optional<std::string> reduced_axes(Call& call) {
  const auto axes = call.integers("axes", 1);
  std::string attributes;
  if (axes && !axes->empty())
    attributes = fmt::format(", axis={}", list_of(from_front(*axes, call.rank(0))));
  else if (call.flag("noop_with_empty_axes", false))
    return std::nullopt;
  if (call.flag("keepdims", true)) attributes += ", keepdims=True";
  return attributes;
}

/// `before` is what is reduced and `after` what becomes of it, as expressions of `$0` and of `{}`.
template <const char* kReduction, const char* kBefore, const char* kAfter>
void reduce(Call& call) {
  const auto attributes = reduced_axes(call);
  if (!attributes) return call.set(0, call.in(0));
  const std::string reduction = fmt::format("{}({}{})", kReduction, kBefore, *attributes);
  call.result(fmt::format(fmt::runtime(kAfter), reduction), {call.in(0)});
}

constexpr char kSum[] = "sum", kProd[] = "prod", kMean[] = "mean", kMax[] = "max", kMin[] = "min",
               kAny[] = "any", kAll[] = "all", kLogSumExp[] = "logsumexp";
constexpr char kSelf[] = "$0", kAbs[] = "abs($0)", kSquare[] = "square($0)";
constexpr char kPlain[] = "{}", kRoot[] = "sqrt({})", kLog[] = "log({})";

template <const char* kNumbers, const char* kBools>
void reduce_order(Call& call) {
  call.in(0).dtype().is_bool() ? reduce<kBools, kSelf, kPlain>(call) : reduce<kNumbers, kSelf, kPlain>(call);
}

template <const char* kReduction>
void reduce_place(Call& call) {
  const int64_t axis = call.axis("axis", 0, call.rank(0));
  call.result(fmt::format("cast({}($0, axis=[{}]{}{}), dtype=\"int64\")", kReduction, axis,
                          call.flag("keepdims", true) ? ", keepdims=True" : "",
                          call.flag("select_last_index", false) ? ", select_last_index=True" : ""),
              {call.in(0)});
}
constexpr char kArgMax[] = "argmax", kArgMin[] = "argmin";

void running_sum(Call& call) {
  const auto axes = call.integers_in(1);
  if (!axes || axes->size() != 1) throw Refusal("its axis is no single integer");
  const int64_t axis = from_front(axes->front(), call.rank(0));
  const std::string sum = fmt::format(
      "cumsum({}, axis={}{})", call.flag("reverse", false) ? fmt::format("reverse($0, axis={})", axis) : "$0",
      axis, call.flag("exclusive", false) ? ", exclusive=True" : "");
  call.result(call.flag("reverse", false) ? fmt::format("reverse({}, axis={})", sum, axis) : sum,
              {call.in(0)});
}

}  // namespace

std::span<const Operator> reduction_operators() {
  static const Operator kRows[] = {
      {"ArgMax", "", reduce_place<kArgMax>},
      {"ArgMin", "", reduce_place<kArgMin>},
      {"CumSum", "", running_sum},
      {"ReduceL1", "", reduce<kSum, kAbs, kPlain>},
      {"ReduceL2", "", reduce<kSum, kSquare, kRoot>},
      {"ReduceLogSum", "", reduce<kSum, kSelf, kLog>},
      {"ReduceLogSumExp", "", reduce<kLogSumExp, kSelf, kPlain>},
      {"ReduceMax", "", reduce_order<kMax, kAny>},
      {"ReduceMean", "", reduce<kMean, kSelf, kPlain>},
      {"ReduceMin", "", reduce_order<kMin, kAll>},
      {"ReduceProd", "", reduce<kProd, kSelf, kPlain>},
      {"ReduceSum", "", reduce<kSum, kSelf, kPlain>},
      {"ReduceSumSquare", "", reduce<kSum, kSquare, kPlain>},
  };
  return kRows;
}

}  // namespace quern::onnx
