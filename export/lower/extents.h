#pragma once
// Dims as values of a graph: numbers where they are known, else arithmetic on the extents of inputs.

#include <span>
#include <unordered_map>

#include "export/graph/graph_writer.h"
#include "ir/dim/dim.h"

namespace quern::onnx {

class Extents {
 public:
  /// From now on a variable is the extent of an axis of a tensor.
  void bind(Dim variable, const Name& tensor, size_t axis) { places_.try_emplace(variable, tensor, axis); }
  /// A dim as an int64 of rank 0. Fails (InternalFailure) for a variable without a place.
  Name value(Dim dim, GraphWriter& graph) const;
  /// Dims as a vector of int64.
  Name shape(std::span<const Dim> dims, GraphWriter& graph) const;
  /// The elements of a tensor under another shape, in which one unknown extent is -1.
  Name reshaped(const Name& tensor, std::span<const Dim> dims, GraphWriter& graph) const;
  /// As a vector with one element.
  Name vector(Dim dim, GraphWriter& graph) const;

 private:
  Name arithmetic(Dim dim, GraphWriter& graph) const;

  std::unordered_map<Dim, std::pair<Name, size_t>> places_;
};

}  // namespace quern::onnx
