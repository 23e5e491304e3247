#pragma once
// Lists and trees of the prelude by their contents, rather than as nested constructors.

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/value/value.h"

namespace quern {

/// The elements of a list: all, or those at both ends. The end of a very long list is not searched for.
struct ListView {
  static constexpr int64_t kMostWalked = 200'000;

  int64_t length = 0;    ///< or that of the walked part
  bool is_open = false;  ///< there are more; then `back` is empty
  std::vector<const Value*> front, back;
  bool has_gap() const { return is_open || static_cast<int64_t>(front.size() + back.size()) < length; }
};
/// All elements of a list if there are at most `most`, otherwise `edge` from either end; nothing if it is not
/// a list.
std::optional<ListView> list_of(const Value& value, int64_t most, int64_t edge);

/// The node of a tree, with its content and the list of its subtrees; null if it is not a tree.
const DataObject* tree_node(const Value& value);

}  // namespace quern
