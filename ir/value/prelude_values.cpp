#include "ir/value/prelude_values.h"

#include <algorithm>

namespace quern {

namespace {

bool is_of_list(const Constructor& constructor) {
  return constructor.type == "List" && constructor.siblings.size() == 2 &&
         ((constructor.name == "Cons" && constructor.fields.size() == 2) ||
          (constructor.name == "Nil" && constructor.fields.empty()));
}

}  // namespace

std::optional<ListView> list_of(const Value& value, int64_t most, int64_t edge) {
  auto* cell = value.object_as<DataObject>();
  if (!cell || !is_of_list(cell->constructor)) return std::nullopt;
  const auto siblings = cell->constructor.siblings.data();
  const int64_t ends = std::max<int64_t>(1, edge), kept_in_front = std::max(most, ends);
  const auto next = [](const DataObject* c) { return c->fields[1].object_as<DataObject>(); };
  ListView view;
  const DataObject* behind = cell;  // trails by `ends` cells, once there are that many
  while (!cell->fields.empty()) {
    view.is_open = view.length >= std::max(most, ListView::kMostWalked);
    if (view.is_open) break;
    if (view.length < kept_in_front) view.front.push_back(cell->fields.data());
    if (view.length >= ends) behind = next(behind);
    ++view.length;
    cell = next(cell);
    if (!cell || cell->constructor.siblings.data() != siblings) return std::nullopt;
  }
  if (view.length <= most) return view;
  view.front.resize(std::min(view.front.size(), static_cast<size_t>(ends)));
  if (view.is_open) return view;
  const int64_t in_front = static_cast<int64_t>(view.front.size());
  for (int64_t at = std::max<int64_t>(0, view.length - ends); at < view.length; ++at, behind = next(behind))
    if (at >= in_front) view.back.push_back(behind->fields.data());
  return view;
}

const DataObject* tree_node(const Value& value) {
  auto* node = value.object_as<DataObject>();
  if (!node || node->constructor.type != "Tree" || node->constructor.name != "Rose" ||
      node->fields.size() != 2)
    return nullptr;
  return list_of(node->fields[1], 0, 1) ? node : nullptr;
}

}  // namespace quern
