#pragma once
// Tensors in files: NumPy's .npy and .npz, and .safetensors. Readers never trust a length that a file states:
// a truncated or lying file is a Failure that names the file, the entry and what is wrong.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/result.h"
#include "ir/tensor.h"

namespace quern {

/// What a file says about one of its tensors, without its data.
struct TensorHeader {
  DType dtype;
  Shape shape;
};

/// The entries of a file by name, in the file's order; a .npy has one entry, named "".
template <class T>
using Entries = std::vector<std::pair<std::string, T>>;

/// Reads the headers alone. The kind of file goes by its ending: .npy, .npz, .safetensors.
Result<Entries<TensorHeader>> read_tensor_headers(const std::string& path);
/// Reads everything.
Result<Entries<TensorPtr>> read_tensors(const std::string& path);
/// Writes atomically (a temporary file beside it, then rename). A .npy takes exactly one entry. The formats
/// have no vectors: their lanes are written as a last axis of the lane dtype.
Result<Done> write_tensors(const std::string& path, const Entries<TensorPtr>& entries);

}  // namespace quern
