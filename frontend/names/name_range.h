#pragma once
// Where the name of a node stands in the text.

#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"

namespace quern {

/// The name that a node declares or uses as it is written, without a sigil.
inline std::string_view written_name(SyntaxPtr node) {
  return node->text.starts_with("@") ? node->text.substr(1) : node->text;
}

/// The bytes of the name that a node declares or uses, without a sigil: of `let %x = e` those of `x`, of
/// `%r.w` those of `w`, of `a + b` those of `+`. Empty where it has none. `spans`: of the tree's nodes, by id.
Range name_range(SyntaxPtr node, std::string_view text, const std::vector<Range>& spans);

}  // namespace quern
