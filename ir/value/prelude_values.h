#pragma once
// Lists and trees of the prelude as what they hold, rather than as constructors in one another.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/value/value.h"

namespace quern {

/// The elements of a list: all, or those at its ends. Of a very long one the end is not looked for.
struct ListView {
  static constexpr int64_t kMostWalked = 200'000;

  int64_t length = 0;    ///< or that of the part that was walked
  bool is_open = false;  ///< whether there are more: then none of the back is known
  std::vector<const Value*> front, back;
  bool has_gap() const { return is_open || static_cast<int64_t>(front.size() + back.size()) < length; }
};
/// A list's elements where there are at most `most`, else as many as `edge` from either end; nothing of what is
/// no list.
std::optional<ListView> list_of(const Value& value, int64_t most, int64_t edge);

/// The node of a tree: what it holds, and the list of its subtrees; null for what is no tree.
const DataObject* tree_node(const Value& value);

}  // namespace quern
