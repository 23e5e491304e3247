#pragma once
// Data files as values of the language's types: a tensor, or a tuple or record whose parts are filled by
// dotted name.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/static/stored_tensors.h"
#include "ir/base/result.h"
#include "ir/io/data_files.h"
#include "ir/value/threefry.h"
#include "ir/value/value.h"

namespace quern {

/// The value of `type` in the file at `path`: the tensor named `entry` (the only one if ""), or a tuple or
/// record whose tensors' names begin with `entry`. Only these tensors are read. A missing tensor or a wrong
/// dtype or shape is a Failure that names the entry, what the file has and what the type requires; `field` is
/// then where the record's field is declared. A file holds a tensor of vectors as a tensor of lanes, its last
/// axis.
Result<Value> load_value(const std::string& path, std::string_view entry, Type type, const DataLookup& lookup,
                         std::optional<Place>* field = nullptr);

/// The value that `--input NAME=TEXT` gives: a number, or `True` or `False`, for a scalar; otherwise the value in the file
/// with that name, as of `load_value`.
Result<Value> input_value(const std::string& text, Type type, const DataLookup& lookup,
                          std::optional<Place>* field = nullptr);

/// The ids of the tokens of a text, by the vocabulary in a file (ir/tokens/tokenizer.h).
Result<Value> load_tokens(const std::string& path, const std::string& tokens, Type type);
/// Writes the text of such ids.
Result<Done> save_tokens(const std::string& path, const std::string& tokens, const Value& value, Type type);

/// A requested value and its name.
struct NamedType {
  std::string name;
  Type type;
};
struct LoadedByName {
  struct Loaded {
    std::optional<Value> value;
    std::vector<std::string> problems;  ///< its missing or mismatched tensors; empty if all are missing
    bool lacks_tensors = false;         ///< some are missing, others are there
  };
  std::vector<Loaded> values;       ///< one per request
  std::vector<std::string> unused;  ///< entries not used
};
/// Loads values by name from the entries of a file: a tensor from the entry with its name; a record or tuple
/// called `net` from the entries that begin with `net.` or, if there are none and it is the only request,
/// from all entries.
/// Entries of the values in `given`, which come from elsewhere, do not count as unused.
Result<LoadedByName> load_by_name(const std::string& path, const std::vector<NamedType>& wanted,
                                  const DataLookup& lookup, const std::vector<std::string>& given = {});

/// A random value of a type with known extents (ir/value/threefry.h).
Result<Value> random_value(Type type, const DataLookup& lookup, Threefry& numbers);

/// Draws curves (ir/io/picture_files.h) under their names into a file.
using DrawCurves = std::function<Result<Done>(const std::string& path, const Entries<TensorPtr>& curves)>;

/// Writes a tensor, or the tensors of a tuple ("0", "1", …) or record (dotted names); into a picture, their curves.
Result<Done> save_value(const std::string& path, const Value& value, Type type, const DrawCurves& draw);

}  // namespace quern
