#include "tests/support/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

namespace quern::numeric {

namespace {

/// The same types, and each element as `agrees` has it.
std::string compare(const HostTensor& got, const HostTensor& wanted,
                    const std::function<bool(int64_t)>& agrees) {
  std::string got_type = type_to_string(got.dtype(), got.shape());
  std::string wanted_type = type_to_string(wanted.dtype(), wanted.shape());
  if (got_type != wanted_type) return fmt::format("is {} and has to be {}", got_type, wanted_type);
  int64_t first = -1, count = 0;
  for (int64_t i = 0; i < wanted.size(); ++i) {
    if (agrees(i)) continue;
    if (first < 0) first = i;
    ++count;
  }
  if (count == 0) return "";
  return fmt::format("{} of {} elements of {} differ, first element {}: {:.9g} instead of {:.9g}", count,
                     wanted.size(), wanted_type, first, element_as_double(got, first),
                     element_as_double(wanted, first));
}

/// Bits of a float as an integer that grows by 1 from each float to the next.
template <class Bits>
int64_t ordered(Bits bits) {
  constexpr Bits kSign = Bits{1} << (sizeof(Bits) * 8 - 1);
  auto magnitude = static_cast<int64_t>(bits & static_cast<Bits>(~kSign));
  return (bits & kSign) != 0 ? -magnitude : magnitude;
}

template <class Bits>
uint64_t ulps(const HostTensor& a, const HostTensor& b, int64_t offset) {
  auto at = static_cast<size_t>(offset);
  int64_t x = ordered(a.elements<Bits>()[at]), y = ordered(b.elements<Bits>()[at]);
  return x > y ? static_cast<uint64_t>(x) - static_cast<uint64_t>(y)
               : static_cast<uint64_t>(y) - static_cast<uint64_t>(x);
}

}  // namespace

Closeness closeness(DType dtype, int64_t terms) {
  if (!dtype.is_float()) return {};
  double scale = std::sqrt(static_cast<double>(std::max<int64_t>(terms, 1)));
  if (dtype == DType::float64()) return {1e-12 * scale, 1e-13 * scale};
  if (dtype == DType::float32()) return {1e-5 * scale, 1e-6 * scale};
  return {4e-3 * scale, 1e-3 * scale};
}

std::string difference(const HostTensor& got, const HostTensor& wanted, Closeness closeness) {
  bool exact = !wanted.dtype().is_float();
  return compare(got, wanted, [&](int64_t i) {
    if (exact) return element_as_int(got, i) == element_as_int(wanted, i);
    double g = element_as_double(got, i), w = element_as_double(wanted, i);
    if (std::isnan(w) || std::isnan(g)) return std::isnan(w) && std::isnan(g);
    if (std::isinf(w) || std::isinf(g)) return g == w;
    return std::fabs(g - w) <= closeness.relative * std::fabs(w) + closeness.absolute;
  });
}

uint64_t ulps_between(const HostTensor& a, const HostTensor& b, int64_t offset) {
  if (!a.dtype().is_float()) {
    auto x = static_cast<uint64_t>(element_as_int(a, offset)),
         y = static_cast<uint64_t>(element_as_int(b, offset));
    return std::min(x - y, y - x);
  }
  bool a_nan = std::isnan(element_as_double(a, offset)), b_nan = std::isnan(element_as_double(b, offset));
  if (a_nan || b_nan) return a_nan && b_nan ? 0 : std::numeric_limits<uint64_t>::max();
  if (a.dtype().bits == 64) return ulps<uint64_t>(a, b, offset);
  if (a.dtype().bits == 32) return ulps<uint32_t>(a, b, offset);
  return ulps<uint16_t>(a, b, offset);
}

std::string difference_in_ulps(const HostTensor& got, const HostTensor& wanted, uint64_t ulps,
                               double absolute) {
  return compare(got, wanted, [&](int64_t i) {
    if (ulps_between(got, wanted, i) <= ulps) return true;
    return std::fabs(element_as_double(got, i) - element_as_double(wanted, i)) <= absolute;
  });
}

std::vector<double> float64_numbers(const Value& value) {
  std::vector<double> numbers;
  if (const std::vector<Value>* fields = value.fields()) {
    for (const Value& field : *fields) {
      const std::vector<double> inner = float64_numbers(field);
      numbers.insert(numbers.end(), inner.begin(), inner.end());
    }
  } else if (TensorPtr tensor = value.as_tensor(); tensor && tensor->dtype() == DType::float64()) {
    const auto elements = tensor->elements<double>();
    numbers.assign(elements.begin(), elements.end());
  }
  return numbers;
}

}  // namespace quern::numeric
