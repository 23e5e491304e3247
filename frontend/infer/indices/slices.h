#pragma once
// Slices in ordinary code: `%x[0]`, `%x[:, 1:]`, `%x[::2]`, `%x[-1]`, `%x[%i]`, `%x[..., 0]`, `%x[[0, 2]]`
// become index expressions over the tensor.

#include <optional>
#include <vector>

#include "frontend/infer/indices/extents.h"
#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/slice_range.h"

namespace quern {

class Slices : public WalkPart {
 public:
  Slices(Parts& parts, Walk& walk) : WalkPart(parts, walk), extents_(parts, walk) {}

  DraftPtr slice(SyntaxPtr s);

 private:
  struct Axes;
  struct Item;
  bool attempt(SyntaxPtr s, SliceDraft& waiting, const TypeEnv& names, const WrittenExtents& bounds);
  DraftPtr slice_of(SyntaxPtr s, const SliceDraft& slice, const WrittenExtents& bounds);
  DraftPtr member_of(SyntaxPtr s, DraftPtr tuple);
  bool can_be_sliced(SyntaxPtr s, const SliceDraft& slice, Type type);
  size_t positions_in(SyntaxPtr s, const SliceDraft& slice);
  std::vector<Item> items_of(SyntaxPtr s, const SliceDraft& slice, size_t rank);
  bool add_axis(SyntaxPtr s, DraftPtr tensor, size_t axis, const Item& position, Axes& axes);
  std::optional<SliceRange> range_of(SyntaxPtr item, Dim extent, Statics& statics);
  std::optional<Dim> known_position(SyntaxPtr item, DraftPtr tensor, size_t axis, Statics& statics);
  ExprPtr computed_position(SyntaxPtr item, DraftPtr position, Axes& axes);
  bool is_mask(DraftPtr position);
  size_t axes_of(DraftPtr position);
  bool add_mask(SyntaxPtr item, DraftPtr mask, Axes& axes);
  ExprPtr as_index(SyntaxPtr item, ExprPtr positions, const std::vector<Dim>& at, DType dtype);
  ExprPtr listed_position(SyntaxPtr item, DraftPtr list, Type type, Axes& axes);
  ExprPtr known_list(SyntaxPtr item, DraftPtr tensor, size_t axis, Axes& axes, bool& checked);
  DraftPtr list_of(SyntaxPtr item, const std::vector<Dim>& positions, Type type);

  Extents extents_;
};

}  // namespace quern
