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
/// Of Glorot and Bengio for matrices, of He et al. for others.
double he_and_glorot(const std::string& path, const Shape& shape);

/// A model on small inputs. The program's `@main` takes a record of weights and tensors, in any order, and gives tensors in a
/// tuple: its results and, behind them, inner activations and gradients; make_references.py has them under the same name.
/// `@begin` takes a seed and gives the record by the model's initialiser.
struct Row {
  std::string name;
  std::string program;
  Deviation deviation = he;
};

/// A row whose program imports one file of stdlib/models as `model`. `type` is that of the weights, `x` the shape of the one
/// input, `%x`; `results` are expressions over it and over `%net`. `init` makes weights from a key.
Row row_of(const std::string& name, const std::string& file, const std::string& type, const std::string& x,
           const std::string& results, const std::string& init, Deviation deviation = he_and_glorot);

std::vector<Row> image_rows();
std::vector<Row> vision_rows();
std::vector<Row> sequence_rows();

}  // namespace quern::library_models
