#pragma once
// Reads along whole axes: each index is a place that no index variable moves, or goes through an axis evenly with one of them.

#include <optional>
#include <vector>

#include "ir/expr/expr.h"

namespace quern::onnx {

/// The index variables around a part of an index expression, the outermost first.
struct IndexSpace {
  std::vector<Dim> vars, extents;

  size_t size() const { return vars.size(); }
  void add(std::span<const Dim> more, std::span<const Dim> their_extents);
  void drop(size_t count);
  std::optional<size_t> place_of(Dim var) const;
  /// Whether one of them occurs in a dim.
  bool is_in(Dim dim) const;
};

struct ReadAxis {
  std::optional<size_t> place;  ///< of the variable that goes through the axis; nothing at one place of it
  Dim start = nullptr;          ///< the index at 0 of the variable, or the one place
  int64_t step = 1;
  bool is_whole = false;  ///< from the first element to the last, one by one
  bool varies = true;     ///< false for an axis of extent 1 that is the same for each value of the variable
};

/// The axes of a read, but for one that has an entry without a meaning; nothing for any other read, and where one variable
/// moves two indices.
std::optional<std::vector<ReadAxis>> read_axes(const ReadExpr& read, const IndexSpace& space,
                                               std::optional<size_t> without = std::nullopt);

/// The reads of a product; false if it is no product of reads alone, of one dtype.
bool factors_of(ExprPtr expr, std::vector<const ReadExpr*>& factors);

}  // namespace quern::onnx
