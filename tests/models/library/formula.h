#pragma once
// Weights and inputs that are not stored: each element is a function of its tensor's path and of its position. As in
// formula.py.

#include "ir/value/value.h"
#include "session/run/data_values.h"

namespace quern::library_models {

/// A value of a type made of tensors, tuples and records. Floats of rank 2 and more are evenly distributed in -b…b, where b is
/// the square root of 6 over the elements of a row; of lower rank, by the path's last part: 1 ± 0.1 for `weight`, 1 ± 0.5 for
/// `running_var`, else ± 0.1. Integers are in 0…9.
Value weights(const std::string& path, Type type, const DataLookup& lookup);

/// The `number`th input for a parameter of this name: floats in -1…1, integers in 0…9.
TensorPtr input(const std::string& name, int number, Type type);

}  // namespace quern::library_models
