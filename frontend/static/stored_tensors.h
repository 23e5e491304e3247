#pragma once
// What a file of tensors holds of a value: the tensors that it is made of, by the names that lead to them.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "frontend/static/scope.h"
#include "ir/base/result.h"

namespace quern {

/// How a type's declaration is found.
using DataLookup = std::function<const DataDefinition*(Type type)>;

/// A tensor of a value, or a part whose type is not known (an unknown or a variable).
struct StoredTensor {
  std::string name;  ///< names of fields and numbers of parts, with `.` between them; "" for a tensor alone
  Type type;
  std::string owner;           ///< what has this type, for messages
  std::optional<Place> field;  ///< where the innermost field that it belongs to is declared
};

/// The tensors of a value of `type`, called `name`, in order. Fails where a file cannot hold such values: it
/// keeps tensors under names, so a record or tuple of them has a place there, and a function, a reference, a
/// choice among constructors or a type that contains itself has none. The message is a clause.
Result<std::vector<StoredTensor>> stored_tensors(const std::string& name, Type type,
                                                 const DataLookup& lookup);

/// The types of a constructor's fields in a value of `type`.
std::vector<Type> field_types(const DataDefinition& data, const DataConstructor& constructor, Type type);

/// The name of a part of what is called `name`; `field` is empty for one that has a number alone.
std::string part_name(const std::string& name, std::string_view field, size_t number);

}  // namespace quern
