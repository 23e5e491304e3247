#pragma once
// The `#[metadata]` section of a Relay text file: TVM's JSON of a graph of objects, of which the constants
// are read.
//
//     {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
//      {"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0", …}}],
//      "b64ndarrays": ["P6G0lvBAXt0AAAAA…"], "attrs": {"tvm_version": "0.8.0"}}
//
// An NDArray is, in base64 and little-endian: magic 0xDD5E40F096B4A13F, 8 bytes reserved, device type and id
// (int32 each), rank (int32), dtype code and bits (1 byte each) and lanes (2 bytes), the extents (int64
// each), the number of bytes of the data (int64), the data, row-major.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/diagnostics.h"
#include "frontend/syntax.h"
#include "ir/result.h"
#include "ir/tensor.h"

namespace quern {

struct Metadata {
  /// What `meta[kind][i]` is: the tensor of a `relay.Constant`; null for one whose array is reported, and for
  /// other kinds.
  std::map<std::string, std::vector<std::shared_ptr<const HostTensor>>, std::less<>> entries;
  std::vector<SyntaxProblem> problems;  ///< places are relative to the JSON's begin
  bool readable = false;                ///< the JSON is one of TVM's
};

/// Reads the text after `#[metadata]`.
Metadata read_metadata(std::string_view json);

class Scope;
/// The constant that `meta[relay.Constant][i]` is; null after a diagnostic (or where the metadata are
/// reported).
std::shared_ptr<const HostTensor> meta_constant(SyntaxPtr meta, Scope& scope, uint32_t declaration,
                                                Diagnostics& diagnostics);

/// An NDArray from its bytes, or why it is none.
Result<TensorPtr> decode_ndarray(std::string_view bytes);
/// The bytes of base64 text; nothing where it is none.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace quern
