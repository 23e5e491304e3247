#pragma once
// Parts of a text that an editor can hide.

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern::ide {

enum class FoldKind : uint8_t {
  Brackets,  ///< the content of brackets; the closing one stays
  Comment,   ///< the lines of comments after the first one
  Imports,   ///< the lines of a run of imports after the first one
  Region,    ///< what follows `#[metadata]`
};

/// The hidden range begins and ends on different lines.
struct Fold {
  Range range;
  FoldKind kind;
  friend bool operator==(const Fold&, const Fold&) = default;
};

/// In text order; of those that begin on the same line, the longest. The text may contain any bytes.
std::vector<Fold> folds(std::string_view text);

}  // namespace quern::ide
