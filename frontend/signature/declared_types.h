#pragma once
// What `type` declarations declare: data types and aliases, over types, dims and dtypes.

#include <span>
#include <string_view>

#include "frontend/signature/resolve_type.h"

namespace quern {

/// Name and parameters of a `type` declaration. Its identity is its text: the same text is the same type.
DataHeader make_data_header(const Declaration& declaration, Scope& scope);
/// The type of an alias declaration.
TypeAlias resolve_alias(const Declaration& declaration, Scope& scope, Diagnostics& diagnostics);
/// The constructors of a `type` declaration.
DataDefinition resolve_data(const Declaration& declaration, const DataHeader& header, Scope& scope,
                            Diagnostics& diagnostics);

/// The parameters of the data type or alias of this name; none if there is no such type.
std::span<const Type> parameters_of(std::string_view type_name, Scope& scope);

}  // namespace quern
