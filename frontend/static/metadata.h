#pragma once
// The `#[metadata]` section of a Relay text file: TVM's JSON of a graph of objects, of which constants and
// structs of attributes are read.
//
//     {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
//      {"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0", …}}],
//      "b64ndarrays": ["P6G0lvBAXt0AAAAA…"], "attrs": {"tvm_version": "0.8.0"}}
//
// A member of a struct is text: a number, a string or a dtype as it is, any other object by its node's
// number.
//
// An NDArray is, in base64 and little-endian: magic 0xDD5E40F096B4A13F, 8 bytes reserved, device type and id
// (int32 each), rank (int32), dtype code and bits (1 byte each) and lanes (2 bytes), the extents (int64
// each), the number of bytes of the data (int64), the data, row-major.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/diagnostics.h"
#include "ir/base/result.h"
#include "ir/type/static_value.h"
#include "ir/value/tensor.h"

namespace quern {

/// A member of a struct, both ways that its text can be read: the struct's declaration in C++ decides.
struct MetadataMember {
  std::string text;
  std::optional<StaticValue> object;  ///< nothing where the text is no number of a node that has a value
};
struct MetadataEntry {
  std::shared_ptr<const HostTensor> constant;  ///< of a `relay.Constant` whose array can be read
  std::map<std::string, MetadataMember, std::less<>> members;  ///< of any other
};

struct Metadata {
  std::map<std::string, std::vector<MetadataEntry>, std::less<>> entries;  ///< what `meta[kind][i]` is
  std::vector<SyntaxProblem> problems;  ///< places are relative to the JSON's begin
  std::optional<int> tvm;               ///< TVM 0.`tvm` wrote it
  bool readable = false;                ///< the JSON is one of TVM's
};

/// Reads the text after `#[metadata]`.
Metadata read_metadata(std::string_view json);

class Scope;
struct Declaration;
/// The constant that `meta[relay.Constant][i]` is; null after a diagnostic (or where the metadata are
/// reported).
std::shared_ptr<const HostTensor> meta_constant(SyntaxPtr meta, Scope& scope, uint32_t declaration,
                                                Diagnostics& diagnostics);

/// `meta[relay.attrs.…][i]`: a struct in the place of a call's attributes.
bool is_attribute_struct(SyntaxPtr meta);
/// What it says of the attributes that `op` declares, by name; nothing after a diagnostic (or where the
/// metadata are reported).
std::optional<std::vector<std::pair<std::string, StaticValue>>> meta_attributes(
    SyntaxPtr meta, const Declaration& op, Scope& scope, uint32_t declaration, Diagnostics& diagnostics);
/// `meta[tir.SizeVar][i]`: a dim with a name.
bool is_dim_variable(SyntaxPtr meta);
std::string name_of_dim(SyntaxPtr meta, const Metadata* metadata);
/// A number, or a list of them; nothing for a tensor of higher rank or of vectors.
std::optional<StaticValue> numbers_of(const HostTensor& tensor);

/// An NDArray from its bytes, or why it is none.
Result<TensorPtr> decode_ndarray(std::string_view bytes);
/// The bytes of base64 text; nothing where it is none.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace quern
