#include <fmt/format.h>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

// Sums of logarithms in another order; what is lost where they cancel.
constexpr uint64_t kUlps = 24;
constexpr double kAbsolute = 2e-5;

std::string reduction(Random& random) {
  return random.pick(std::vector<std::string>{"", ", reduction=\"sum\"", ", reduction=\"none\""});
}

/// A loss of two tensors of one shape, each written as `first` and `second` have it; with what `attribute`
/// adds.
Row of_pairs(
    const std::string& name, const std::string& first, const std::string& second,
    const std::function<std::string(Random&)>& attribute = [](Random&) { return ""; }) {
  return {
      name,
      [=](Random& random) {
        DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
        Shape shape = random.shape(0, 4, 1);
        return Arguments{
            {random.tensor(dtype, shape, Values::Moderate), random.tensor(dtype, shape, Values::Moderate)},
            fmt::format("{}({}, {}{}{})", name, first, second, attribute(random), reduction(random))};
      },
      kUlps, kAbsolute};
}

std::string delta(Random& random) {
  return random.chance(0.5) ? "" : fmt::format(", delta={:.2f}", random.real(0.5, 3));
}
std::string beta(Random& random) {
  return random.pick(std::vector<std::string>{"", ", beta=0.0", ", beta=2.5"});
}
std::string pos_weight(Random& random) {
  return random.chance(0.5) ? "" : fmt::format(", pos_weight={:.2f}", random.real(0.5, 3));
}
std::string log_target(Random& random) { return random.chance(0.5) ? "" : ", log_target=True"; }

TensorPtr labels(Random& random, const Shape& shape, int64_t classes, int64_t ignored) {
  TensorPtr made = HostTensor::make(DType::int32(), shape);
  for (int32_t& label : made->elements<int32_t>())
    label = static_cast<int32_t>(random.chance(0.2) ? ignored : random.integer(0, classes - 1));
  // The mean of none is NaN.
  if (made->size() > 0) made->elements<int32_t>()[0] = static_cast<int32_t>(classes - 1);
  return made;
}

/// A loss of logits or logarithms along an axis and labels, perhaps with weights.
Row of_labels(const std::string& name, const std::string& first, bool weighted, bool any_axis) {
  return {name,
          [=](Random& random) {
            DType dtype = random.pick(std::vector<DType>{DType::float32(), DType::float64()});
            Shape shape = random.shape(1, 4, 1), rest = shape;
            auto rank = static_cast<int64_t>(shape.size());
            bool other_axis = any_axis && random.chance(0.5);
            int64_t axis = other_axis ? random.integer(0, rank - 1) : std::min<int64_t>(1, rank - 1);
            rest.erase(rest.begin() + axis);
            int64_t classes = shape[static_cast<size_t>(axis)], ignored = random.chance(0.5) ? -100 : classes;
            Arguments made{
                {random.tensor(dtype, shape, Values::Moderate), labels(random, rest, classes, ignored)},
                fmt::format("{}({}, %b", name, first)};
            if (weighted) {
              made.tensors.push_back(random.tensor(dtype, {classes}, Values::Positive));
              made.expression += ", %c";
            }
            if (other_axis) made.expression += fmt::format(", axis={}", random.signed_axis(axis, rank));
            if (ignored != -100) made.expression += fmt::format(", ignore_index={}", ignored);
            if (any_axis && random.chance(0.3)) made.expression += ", label_smoothing=0.25";
            made.expression += reduction(random) + ")";
            return made;
          },
          kUlps, kAbsolute};
}

}  // namespace

std::vector<Row> loss_rows() {
  return {
      of_pairs("loss.mse", "%a", "%b"),
      of_pairs("loss.l1", "%a", "%b"),
      of_pairs("loss.huber", "%a", "%b", delta),
      of_pairs("loss.smooth_l1", "%a", "%b", beta),
      of_pairs("loss.bce", "sigmoid(%a)", "sigmoid(%b)"),
      of_pairs("loss.bce_with_logits", "%a", "sigmoid(%b)", pos_weight),
      of_pairs("loss.kl_div", "%a", "sigmoid(%b)", log_target),
      of_labels("loss.nll", "%a", true, true),
      of_labels("nn.nll_loss", "%a", true, false),
      of_labels("loss.cross_entropy", "%a", false, true),
      of_labels("loss.weighted_cross_entropy", "%a", true, true),
  };
}

}  // namespace quern::numeric
