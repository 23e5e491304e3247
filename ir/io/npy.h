#pragma once
// NumPy's .npy: a magic number, a header that is a Python dict, the elements (NEP 1, versions 1.0 to 3.0).

#include <string>
#include <utility>

#include "ir/io/data_formats.h"

namespace quern::data_detail {

struct NpyHeader {
  TensorHeader tensor;
  bool fortran_order = false;  ///< the first axis varies fastest
  bool big_endian = false;
};

/// Reads up to the first element, and checks that as many bytes follow as the header states.
Result<NpyHeader> read_npy_header(ByteSource& source);
/// Reads what follows the header.
Result<TensorPtr> read_elements(ByteSource& source, const NpyHeader& header);
/// Reads everything into row-major, little-endian order.
Result<TensorPtr> read_npy(ByteSource& source);
/// The preamble before the elements (version 1.0, a multiple of 64 bytes), for a dtype that NumPy has. Its
/// failures are clauses.
Result<std::string> npy_preamble(const HostTensor& tensor);

}  // namespace quern::data_detail
