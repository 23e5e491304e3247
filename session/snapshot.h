#pragma once
// The state of knowledge about a source at one moment, for readers on other threads.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/infer/infer.h"
#include "frontend/syntax/syntax.h"
#include "session/db/ids.h"

namespace quern {

/// A declaration of a source. Anything not yet computed is null.
struct DeclarationSnapshot {
  DeclarationId id;
  PieceKind kind;
  std::string name;
  Range range;  ///< in the text
  std::string doc;
  std::shared_ptr<const ParseOutcome> parsed;
  std::shared_ptr<const Inferred> inferred;
  /// Whether `inferred` matches the text; otherwise it is of the last checked text, whose nodes have other
  /// ids.
  bool is_current = false;
};

/// Independent of later edits: any thread may hold and read one while the session continues.
struct Snapshot {
  std::shared_ptr<const std::string> text;
  std::vector<DeclarationSnapshot> declarations;  ///< in source order
};

}  // namespace quern
