#pragma once
// How far a tensor is from the expected one.

#include <string>
#include <vector>

#include "ir/value/tensor.h"
#include "ir/value/value.h"

namespace quern::numeric {

/// |got - wanted| <= relative * |wanted| + absolute.
struct Closeness {
  double relative = 0;
  double absolute = 0;
};

/// What results of this dtype are held to after `terms` additions: integers and bools are exact, float32 has
/// 1e-5 and 1e-6, float64 1e-12 and 1e-13, float16 (whose results were rounded to 11 bits, perhaps between
/// the steps of a composite operator) 4e-3 and 1e-3; both grow with the square root of `terms`.
Closeness closeness(DType dtype, int64_t terms);

/// "" where the tensors agree: same dtype and shape, and each element close, NaN with NaN and infinity with
/// the same infinity. Else what differs: the first such element and how many there are.
std::string difference(const HostTensor& got, const HostTensor& wanted, Closeness closeness);

/// How many floats lie between two of them (0 for equal ones, and for two NaNs); the distance of two
/// integers, and of bools.
uint64_t ulps_between(const HostTensor& a, const HostTensor& b, int64_t offset);

/// "" where the tensors agree within `ulps`, or where elements differ by at most `absolute`. As `difference`
/// otherwise.
std::string difference_in_ulps(const HostTensor& got, const HostTensor& wanted, uint64_t ulps,
                               double absolute);

/// The numbers of dtype float64 inside of a value, of whatever structure, from left to right.
std::vector<double> float64_numbers(const Value& value);

}  // namespace quern::numeric
