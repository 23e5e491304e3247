#pragma once
// The models of stdlib/models that are compared with PyTorch's, one row each.

#include <string>
#include <vector>

#include "ir/value/tensor.h"

namespace quern::library_models {

/// How far the elements of a weight are to be spread by an initialiser: their standard deviation. `path` is as a file would
/// name it, without the parameter: `layer1.0.conv1.weight`.
using Deviation = double (*)(const std::string& path, const Shape& shape);
/// Of He et al., for weights of shape (outputs, inputs, …).
double he(const std::string& path, const Shape& shape);

/// A model on small inputs. The program's `@main` takes a record of weights and tensors, in any order, and gives tensors in a
/// tuple: its results and, behind them, inner activations and gradients; make_references.py has them under the same name. `@begin` takes a
/// seed and gives the record by the model's initialiser.
struct Row {
  std::string name;
  std::string program;
  Deviation deviation = he;
};

std::vector<Row> image_rows();
std::vector<Row> sequence_rows();

}  // namespace quern::library_models
