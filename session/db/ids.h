#pragma once
// The things of a session by their numbers.

#include <cstdint>
#include <string>

#include "frontend/parse/scanner.h"

namespace quern {

using SourceId = uint32_t;
using ModuleId = uint32_t;
using DeclarationId = uint32_t;

/// Where a declaration stands and what it is. From one text to the next it keeps its id where it has the same
/// kind and name and stands in the same place among the others (session/db/layout.h).
struct DeclarationInfo {
  SourceId source;
  ModuleId module;
  PieceKind kind;
  std::string name;
  DeclarationId part_of = 0;  ///< the definition whose body this is a chunk of (frontend/parse/body_chunks.h)
};

}  // namespace quern
