#include "ir/io/picture_files.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

bool is_picture_file(std::string_view path) { return path.ends_with(".svg") || path.ends_with(".png"); }

bool is_drawn(std::string_view path, const Entries<SavedTensor>& tensors) {
  if (!is_picture_file(path)) return false;
  if (!is_data_file(path) || tensors.size() != 1) return true;
  const auto [dtype, rank] = tensors.front().second;
  const bool is_of_pixels = dtype == DType::uint8() || dtype == DType{DTypeCode::UInt, 16};
  return !is_of_pixels || (rank != 2 && rank != 3);
}

Result<Done> check_curves(const std::string& path, const Entries<SavedTensor>& tensors) {
  const bool is_matrix = tensors.size() == 1 && tensors[0].second.rank == 2;
  const bool are_vectors = !tensors.empty() && std::ranges::all_of(tensors, [](const auto& entry) {
    return entry.second.rank == 1;
  });
  if (is_matrix || are_vectors) return Done{};
  return Failure{
      fmt::format("Cannot draw '{}': it shows a vector, a matrix with a curve in each row, or a tuple or a "
                  "record of vectors{}.",
                  path, is_data_file(path) ? "; an image is of uint8 or uint16" : "")};
}

}  // namespace quern
