#pragma once
// Parts of a text that an editor can hide.

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern::ide {

enum class FoldKind : uint8_t {
  Brackets,  ///< what stands between two brackets; the closing one stays
  Comment,   ///< the lines of comments after the first one
  Imports,   ///< those of a run of imports
  Region,    ///< what follows `#[metadata]`
};

/// What is hidden: it begins and ends on different lines.
struct Fold {
  Range range;
  FoldKind kind;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// In the order of the text, of those that begin on one line the longest. Any bytes may stand in the text.
std::vector<Fold> folds(std::string_view text);

}  // namespace quern::ide
