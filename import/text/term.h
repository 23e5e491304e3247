#pragma once
// What stands in the text for a value of a model.

#include <optional>
#include <string>
#include <vector>

#include "ir/type/type.h"
#include "ir/value/tensor.h"

namespace quern::import_text {

/// An expression, with what is known of it while the text is written. Its type is one of the language, over the dims that the
/// text names.
struct Term {
  Type type = nullptr;
  std::string text;  ///< an operand (`%relu1`, `%params.conv1.weight`), or "" until a constant is first used
  std::string name;  ///< of a constant that may become a weight: what the model calls it
  TensorPtr constant;  ///< its elements, where the model has them
  /// The elements of a shape, or of what is computed of shapes: an integer tensor of rank 0 or 1 whose elements are dims.
  std::optional<std::vector<Dim>> dims;

  size_t rank() const { return type->dims.size(); }
  DType dtype() const { return type->dtype; }
  Dim extent(size_t axis) const { return type->dims[axis]; }
};

/// The value of integers that are known.
Term dims_term(std::vector<Dim> dims, DType dtype, size_t rank = 1);
Term constant_term(TensorPtr constant, std::string name = "");
/// The integers of a constant of rank 0 or 1, or of dims that are all constant; nothing for others.
std::optional<std::vector<int64_t>> integers_of(const Term& value);
/// The elements as dims, where they are known.
std::optional<std::vector<Dim>> dims_of(const Term& value);
/// The element of a constant with one, as a number.
std::optional<double> number_of(const Term& value);

}  // namespace quern::import_text
