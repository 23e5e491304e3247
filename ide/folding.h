#pragma once
// The parts of a text that an editor may fold away.

#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern::ide {

struct Folding {
  Range
      range;  ///< over more than one line: what brackets hold, without them, or comments that follow each other
  bool is_comment = false;
  friend bool operator==(const Folding&, const Folding&) = default;
};

/// In the order of their beginnings; outer ones before inner ones. Any bytes may stand in the text.
std::vector<Folding> foldings(std::string_view text);

}  // namespace quern::ide
