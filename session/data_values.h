#pragma once
// Data files as values of the language's types: a tensor, or a record whose fields are filled by dotted name.

#include <functional>
#include <optional>
#include <string>

#include "frontend/scope.h"
#include "ir/data_files.h"
#include "ir/result.h"
#include "ir/value.h"

namespace quern {

/// How a type's declaration is found.
using DataLookup = std::function<const DataDefinition*(Type type)>;

/// The value of `type` in the file at `path`: the tensor named `entry` (the only one when ""), or a record. A
/// missing field, another dtype or another shape is a Failure that names the entry, what the file has and
/// what the type says; `field` is then where the record's field is declared. A tensor of vectors is in a file
/// as one of their lanes, its last axis.
Result<Value> load_value(const std::string& path, std::string_view entry, Type type, const DataLookup& lookup,
                         std::optional<Place>* field = nullptr);

/// Writes a tensor, or the tensors of a tuple ("0", "1", …) or record (dotted names).
Result<Done> save_value(const std::string& path, const Value& value, Type type, const DataLookup& lookup);

}  // namespace quern
