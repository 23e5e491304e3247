#pragma once
// Where what a place names is declared, and where its type is.

#include <cstdint>
#include <optional>
#include <vector>

#include "ide/name_places.h"

namespace quern::ide {

/// A link from a place in a source to a declaration.
struct DeclarationLink {
  Range origin;  ///< the name that was asked for
  SourceId source;
  Range whole;  ///< the declaration; of what a file is, its begin
  Range name;   ///< in it
};

/// Of a name where it is declared, also of one that declares; of the path of an `import` the file. Nothing where
/// no name is.
std::optional<DeclarationLink> definition(Session& session, SourceId source, uint32_t offset);

/// The declarations of the data types that the type at a place is made of: its own; of a tuple those of its
/// elements, of a function that of its result, of a reference that of its content. Where the place names
/// something that is annotated with an alias, the alias.
std::vector<DeclarationLink> type_definitions(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
