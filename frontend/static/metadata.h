#pragma once
// The `#[metadata]` section of a Relay text file: TVM's JSON of an object graph, from which constants and
// attribute structs are read.
//
//     {"root": 1, "nodes": [{"type_key": ""}, {"type_key": "Map", "keys": ["relay.Constant"], "data": [2]},
//      {"type_key": "Array", "data": [3]}, {"type_key": "relay.Constant", "attrs": {"data": "0", …}}],
//      "b64ndarrays": ["P6G0lvBAXt0AAAAA…"], "attrs": {"tvm_version": "0.8.0"}}
//
// A struct member is text: a number, a string or a dtype literally, any other object by node number.
// An NDArray is in base64 (ir/io/ndarray.h).

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

/// A struct member in both readings of its text: the struct's C++ declaration decides.
struct MetadataMember {
  std::string text;
  std::optional<StaticValue> object;  ///< nothing if the text is not the number of a node with a value
};
struct MetadataEntry {
  std::shared_ptr<const HostTensor> constant;  ///< of a `relay.Constant` with a readable array
  std::map<std::string, MetadataMember, std::less<>> members;  ///< of any other entry
};

struct Metadata {
  std::map<std::string, std::vector<MetadataEntry>, std::less<>> entries;  ///< what `meta[kind][i]` is
  std::vector<SyntaxProblem> problems;  ///< places are relative to the JSON's begin
  std::optional<int> tvm;               ///< TVM 0.`tvm` wrote it
  bool readable = false;                ///< the JSON is TVM's
};

/// Reads the text after `#[metadata]`.
Metadata read_metadata(std::string_view json);

class Scope;
struct Declaration;
/// The constant `meta[relay.Constant][i]`; null after a diagnostic (or if the metadata are reported).
std::shared_ptr<const HostTensor> meta_constant(SyntaxPtr meta, Scope& scope, uint32_t declaration,
                                                Diagnostics& diagnostics);

/// `meta[relay.attrs.…][i]`: a struct in place of a call's attributes.
bool is_attribute_struct(SyntaxPtr meta);
/// Its values for the attributes that `op` declares, by name; nothing after a diagnostic (or if the metadata
/// are reported).
std::optional<std::vector<std::pair<std::string, StaticValue>>> meta_attributes(
    SyntaxPtr meta, const Declaration& op, Scope& scope, uint32_t declaration, Diagnostics& diagnostics);
/// `meta[tir.SizeVar][i]`: a dim with a name.
bool is_dim_variable(SyntaxPtr meta);
std::string name_of_dim(SyntaxPtr meta, const Metadata* metadata);
/// A number, or a list of them; nothing for a tensor of higher rank or of vectors.
std::optional<StaticValue> numbers_of(const HostTensor& tensor);

/// An NDArray from its bytes, or why it is invalid.
Result<TensorPtr> decode_ndarray(std::string_view bytes);
/// The bytes of base64 text; nothing if it is invalid.
std::optional<std::string> decode_base64(std::string_view text);

}  // namespace quern
