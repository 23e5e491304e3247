#pragma once
// Data files as values of the language's types: a tensor, or a tuple or record whose parts are filled by
// dotted name.

#include <optional>
#include <string>
#include <vector>

#include "frontend/static/stored_tensors.h"
#include "ir/base/result.h"
#include "ir/io/data_files.h"
#include "ir/value/threefry.h"
#include "ir/value/value.h"

namespace quern {

/// The value of `type` in the file at `path`: the tensor named `entry` (the only one when ""), or a tuple or
/// record, whose tensors have names that begin with `entry`. Only these tensors are read. A missing one,
/// another dtype or another shape is a Failure that names the entry, what the file has and what the type
/// says; `field` is then where the record's field is declared. A tensor of vectors is in a file as one of
/// their lanes, its last axis.
Result<Value> load_value(const std::string& path, std::string_view entry, Type type, const DataLookup& lookup,
                         std::optional<Place>* field = nullptr);

/// A value that is wanted under a name.
struct NamedType {
  std::string name;
  Type type;
};
struct LoadedByName {
  struct Loaded {
    std::optional<Value> value;
    std::vector<std::string>
        problems;  ///< its tensors that are missing or do not fit; none where all are missing
  };
  std::vector<Loaded> values;       ///< one for each that is wanted
  std::vector<std::string> unused;  ///< entries that nothing takes
};
/// Values by their names, from all entries of a file: a tensor from the entry of its name; of a record or tuple called
/// `net` the entries that begin with `net.` or, where it is the only one and there are none, all.
Result<LoadedByName> load_by_name(const std::string& path, const std::vector<NamedType>& wanted,
                                  const DataLookup& lookup);

/// A value of random numbers, of a type whose extents are known (ir/value/threefry.h).
Result<Value> random_value(Type type, const DataLookup& lookup, Threefry& numbers);

/// Writes a tensor, or the tensors of a tuple ("0", "1", …) or record (dotted names).
Result<Done> save_value(const std::string& path, const Value& value, Type type);

}  // namespace quern
