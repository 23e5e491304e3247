#pragma once
// How to make random arguments for each operator of the library.

#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include "ir/value/tensor.h"
#include "tests/support/cases.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {

/// Tensors %a, %b… and a call of the operator with them.
struct Arguments {
  std::vector<TensorPtr> tensors;
  std::string expression;
};

/// One operator: its arguments, and how far compiled results may be from the interpreter's (which rounds the
/// true value of a scalar function once). Results of integer and bool dtype are held to 0.
struct Row {
  std::string name;
  std::function<Arguments(Random&)> make;
  uint64_t ulps = 0;
  double absolute = 0;        ///< where a result may cancel: a difference this small is none
  StatedExtents stated = {};  ///< what the operator says of extents, where the others are unknown
};

inline void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// The float32 row twice: most tensors are of it.
inline const std::vector<DType> kFloats = {DType::float32(), DType::float32(), DType::float64(),
                                           DType::float16()};

/// The rows that are written here.
std::vector<Row> agreement_rows();
/// A row for each operator of the library: its own, or one made of the examples in its doc comment.
std::vector<Row> operator_rows();
Row example_row(const std::string& op);

// The parts of the table, by the files of the library.
std::vector<Row> elementwise_rows();
std::vector<Row> reduction_rows();
std::vector<Row> nn_rows();
std::vector<Row> transform_rows();
std::vector<Row> model_rows();
std::vector<Row> scan_rows();
std::vector<Row> parts_rows();
std::vector<Row> image_rows();
std::vector<Row> loss_rows();
std::vector<Row> random_rows();
std::vector<Row> activation_rows();
std::vector<Row> math_rows();
std::vector<Row> space_rows();
std::vector<Row> array_rows();
std::vector<Row> recurrent_rows();
std::vector<Row> vision_rows();
std::vector<Row> quantised_rows();
std::vector<Row> layout_rows();
std::vector<Row> shape_rows();
std::vector<Row> signal_rows();
std::vector<Row> linalg_rows();
std::vector<Row> dyn_rows();
std::vector<Row> packed_rows();

}  // namespace quern::numeric
