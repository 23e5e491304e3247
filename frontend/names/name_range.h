#pragma once
// The range of a node's name in the text.

#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"

namespace quern {

/// The name that a node declares or uses, as written, without a sigil.
inline std::string_view written_name(SyntaxPtr node) {
  return node->text.starts_with("@") ? node->text.substr(1) : node->text;
}

/// The bytes of the name that a node declares or uses, without a sigil: `x` in `let %x = e`, `w` in `%r.w`,
/// `+` in `a + b`. Empty if it has none. `spans` holds the ranges of the tree's nodes, by id.
Range name_range(SyntaxPtr node, std::string_view text, const std::vector<Range>& spans);

}  // namespace quern
