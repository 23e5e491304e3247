#pragma once
// The declaration of the name at a place, and of its type.

#include <cstdint>
#include <optional>
#include <vector>

#include "ide/name_places.h"

namespace quern::ide {

/// A link from a place in a source to a declaration.
struct DeclarationLink {
  Range origin;  ///< the name that was asked for
  SourceId source;
  Range whole;  ///< the declaration; for a file, its beginning
  Range name;   ///< in it
};

/// The declaration of a name, also if the name itself declares; for the path of an `import`, the file. Nothing if
/// there is no name.
std::optional<DeclarationLink> definition(Session& session, SourceId source, uint32_t offset);

/// The declarations of the data types at a place: of its type; for a tuple, of its elements; for a function, of its
/// result; for a reference, of its content. If the place names something annotated with an alias, the alias.
std::vector<DeclarationLink> type_definitions(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
