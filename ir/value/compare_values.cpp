#include "ir/value/compare_values.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "ir/value/text/number_text.h"

namespace quern {

namespace {

std::string index_text(int64_t offset, const Shape& shape) {
  std::vector<int64_t> index(shape.size());
  for (size_t k = shape.size(); k-- > 0;) {
    index[k] = offset % shape[k];
    offset /= shape[k];
  }
  return index.empty() ? "" : fmt::format("[{}]", fmt::join(index, ", "));
}

/// Compares part by part; a part's place is written as in source: `.0[1, 2]`.
class Comparison {
 public:
  explicit Comparison(std::optional<Tolerance> tolerance) : tolerance_(tolerance) {}

  void compare(const Value& actual, const Value& expected, const std::string& place) {
    TensorPtr a = actual.as_tensor(), b = expected.as_tensor();
    if (a && b) return tensors(*a, *b, place);
    auto *x = actual.object_as<DataObject>(), *y = expected.object_as<DataObject>();
    if (x && y && x->constructor.tag != y->constructor.tag)
      return other(place, fmt::format("this is {}(…) where {}(…) is expected", x->constructor.name,
                                      y->constructor.name));
    const std::vector<Value>*left = actual.fields(), *right = expected.fields();
    if (!left || !right || left->size() != right->size())
      return other(place, "this is a value that cannot be compared");
    for (size_t i = 0; i < left->size(); ++i)
      compare((*left)[i], (*right)[i], fmt::format("{}.{}", place, i));
  }

  std::string summary() const {
    if (!first_other_.empty()) return first_other_;
    if (different_ == 0) return "";
    if (elements_ == 1) return worst_;
    return fmt::format("{} of {} element{} differ{}, {}", different_, elements_, elements_ == 1 ? "" : "s",
                       different_ == 1 ? "s" : "", worst_);
  }

 private:
  void other(const std::string& place, const std::string& what) {
    if (first_other_.empty()) first_other_ = what + (place.empty() ? "" : " at " + place);
  }

  void tensors(const HostTensor& a, const HostTensor& b, const std::string& place) {
    if (a.dtype() != b.dtype() || a.shape() != b.shape())
      return other(place, fmt::format("this is {} where {} is expected", type_to_string(a.dtype(), a.shape()),
                                      type_to_string(b.dtype(), b.shape())));
    elements_ += a.size();
    const int64_t lanes = a.dtype().lanes;
    for (int64_t i = 0; i < a.size(); ++i) {
      int64_t worst_lane = i * lanes;
      for (int64_t lane = worst_lane; lane < (i + 1) * lanes; ++lane)
        if (excess_of(a, b, lane) > excess_of(a, b, worst_lane)) worst_lane = lane;
      double excess = excess_of(a, b, worst_lane);
      if (excess <= 0) continue;
      ++different_;
      if (excess <= worst_excess_) continue;
      worst_excess_ = excess;
      std::string at = place + index_text(i, a.shape());
      if (lanes > 1) at += fmt::format("{}lane {}", at.empty() ? "" : " ", worst_lane % lanes);
      worst_ = fmt::format(
          "{}{}{} where {} is expected", a.size() > 1 || !place.empty() ? "the worst is " : "it is ",
          at.empty() ? "" : at + ": ", number_text(a, worst_lane), number_text(b, worst_lane));
    }
  }

  /// How far an element, or a lane of one, is outside the tolerance; 0 inside.
  double excess_of(const HostTensor& a, const HostTensor& b, int64_t i) const {
    if (!a.dtype().is_float()) {
      int64_t x = element_as_int(a, i), y = element_as_int(b, i);
      return x == y ? 0 : std::max(1.0, std::abs(static_cast<double>(x) - static_cast<double>(y)));
    }
    double x = element_as_double(a, i), y = element_as_double(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
    double off = std::abs(x - y);
    if (!std::isfinite(off)) return HUGE_VAL;
    double allowed = tolerance_ ? tolerance_->atol + tolerance_->rtol * std::abs(y) : 0;
    return std::max(0.0, off - allowed);
  }

  std::optional<Tolerance> tolerance_;
  int64_t elements_ = 0, different_ = 0;
  double worst_excess_ = 0;
  std::string worst_, first_other_;
};

}  // namespace

std::string difference_of_values(const Value& actual, const Value& expected,
                                 std::optional<Tolerance> tolerance) {
  Comparison comparison(tolerance);
  comparison.compare(actual, expected, "");
  const std::string summary = comparison.summary();
  if (summary.empty()) return "";
  return fmt::format("{}\nthe value:    {}\nthe expected: {}", summary, to_string(actual),
                     to_string(expected));
}

}  // namespace quern
