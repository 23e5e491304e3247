#pragma once
// How a file of tensors stores a value: its component tensors, by path names.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/static/scope.h"
#include "ir/base/result.h"

namespace quern {

/// Finds a type's declaration.
using DataLookup = std::function<const DataDefinition*(Type type)>;

/// A tensor of a value, or a part of unknown type (an unknown or a variable).
struct StoredTensor {
  std::string name;  ///< field names and part numbers, joined by `.`; "" for a single tensor
  Type type;
  std::string owner;           ///< the owner of this type, for messages
  std::optional<Place> field;  ///< declaration of the innermost enclosing field
};

/// The tensors of a value of `type` named `name`, in order. Fails if a file cannot hold such values: it
/// stores tensors by name, which works for records and tuples of them, but not for functions, references, a
/// choice among constructors or recursive types. The message is a clause.
Result<std::vector<StoredTensor>> stored_tensors(const std::string& name, Type type,
                                                 const DataLookup& lookup);

/// The types of a constructor's fields in a value of `type`.
std::vector<Type> field_types(const DataDefinition& data, const DataConstructor& constructor, Type type);

/// The name of a part of `name`; `field` is empty for a part that only has a number.
std::string part_name(const std::string& name, std::string_view field, size_t number);

}  // namespace quern
