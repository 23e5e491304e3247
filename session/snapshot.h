#pragma once
// What is known of a source at one moment, for readers on other threads.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/infer/infer.h"
#include "frontend/syntax/syntax.h"
#include "session/db/ids.h"

namespace quern {

/// A declaration of a source. What was not computed by then is null.
struct DeclarationSnapshot {
  DeclarationId id;
  PieceKind kind;
  std::string name;
  Range range;  ///< in the text
  std::string doc;
  std::shared_ptr<const ParseOutcome> parsed;
  std::shared_ptr<const Inferred> inferred;
  /// Whether `inferred` is of the text; else it is of the last one that was checked, whose nodes have other
  /// numbers.
  bool is_current = false;
};

/// Values that no later edit touches: any thread may hold and read one while the session goes on.
struct Snapshot {
  std::shared_ptr<const std::string> text;
  std::vector<DeclarationSnapshot> declarations;  ///< in the order of the text
};

}  // namespace quern
