#pragma once
// Ids of a session's objects.

#include <cstdint>
#include <string>

#include "frontend/parse/scanner.h"

namespace quern {

using SourceId = uint32_t;
using ModuleId = uint32_t;
using DeclarationId = uint32_t;

/// The location and kind of a declaration. It keeps its id across edits while it has the same kind and name
/// and the same place among the others (session/db/layout.h).
struct DeclarationInfo {
  SourceId source;
  ModuleId module;
  PieceKind kind;
  std::string name;
  DeclarationId part_of = 0;  ///< the definition of whose body this is a chunk (frontend/parse/body_chunks.h)
};

}  // namespace quern
