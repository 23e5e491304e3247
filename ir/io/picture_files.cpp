#include "ir/io/picture_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

bool is_picture_file(std::string_view path) { return path.ends_with(".svg") || path.ends_with(".png"); }

Result<Done> check_curves(const std::string& path, const Entries<size_t>& ranks) {
  const bool is_matrix = ranks.size() == 1 && ranks[0].second == 2;
  const bool are_vectors =
      !ranks.empty() && std::ranges::all_of(ranks, [](const auto& entry) { return entry.second == 1; });
  if (is_matrix || are_vectors) return Done{};
  return Failure{
      fmt::format("Cannot draw '{}': it shows a vector, a matrix with a curve in each row, or a tuple or a "
                  "record of vectors.",
                  path)};
}

}  // namespace quern
