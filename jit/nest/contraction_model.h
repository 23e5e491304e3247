#pragma once
// The model of the rule for contractions: which index variables are rows and columns, the cost of tiles, and
// the cheapest choice.

#include <limits>
#include <optional>
#include <vector>

#include "jit/compute/computation.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

using Vars = std::vector<Dim>;

/// The extent, or a typical value for one known only at run time.
int64_t extent_or_usual(Dim extent);
/// The product of numbers that are not negative, saturating.
int64_t times(int64_t a, int64_t b);

/// The two reads of a contraction. Index variables of the result are `rows` where only the first read depends
/// on them, `columns` where only the second does, and `batch` where both do.
struct Roles {
  LoadValue left, right;
  Vars batch, rows, columns;
  int64_t width = 0;      ///< of a tile of columns, if fixed
  DotIntrinsicPtr dot{};  ///< the intrinsic that sums products of neighbours along `grouped`
  Dim grouped = nullptr;
  int64_t terms = 1;  ///< taken at once
  /// The intrinsic takes one signed and one unsigned factor, but the reads agree in sign: the top bit of the
  /// right read's elements is flipped, which adds or subtracts 128.
  bool turns_sign = false;
};

/// The rows and vectors of columns of an accumulator tile.
struct Tile {
  int64_t rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::max();  ///< of all tiles, per step of the reduction
};

/// The row loops of a tile: steps of `cut`, and all of `whole`, a short loop inside it.
struct TileRows {
  Dim cut = nullptr, whole = nullptr;
  int64_t inner = 1;  ///< the extent of `whole`
};

/// How the right read has its columns: as they are; in a form made once; or as they are, in blocks of the reduction's steps
/// that all rows take before the next one, with their sums in scratch memory.
enum class Panels : uint8_t { InPlace, Prepacked, Blocked };

/// For a computation with one reduction.
class ContractionModel {
 public:
  ContractionModel(const Computation& computation, const MachineModel& machine);

  /// The cheapest roles of the reads, or none if the computation is not a contraction or too small.
  std::optional<Roles> cheapest_roles() const;
  int64_t lanes() const { return lanes_; }
  int64_t width_of(const Roles& roles, int64_t vectors) const;
  static bool depends(const LoadValue& load, Dim var);
  Dim extent_dim(Dim var) const;
  int64_t extent_of(Dim var) const;
  int64_t count(const Vars& vars) const;
  /// The innermost row loop or, if that is short, possibly together with the one around it, whichever has
  /// cheaper tiles.
  TileRows tile_rows(const Roles& roles) const;
  bool is_known(Dim var) const;
  Tile best_tile(const Roles& roles, const TileRows& tile_rows) const;
  /// Contiguous columns in panels pay if each is read several times, or if they come from memory and are prepacked: panels
  /// stream, distant parts of rows do not. Those without a form, such as windows, are read in blocks where they are far.
  Panels panels(const Roles& roles, const Tile& tile, bool may_block) const;
  /// The increase of the index per step of the variable; 1 if that is not constant.
  static int64_t step_of(Dim index, Dim var);
  /// The left read's elements for one batch entry are interleaved with those for others, like channels of
  /// different groups: a pass over all rows per entry would read every cache line many times.
  bool shares_lines(const Roles& roles) const;
  /// The steps of a block.
  int64_t block_steps(const Roles& roles) const;
  /// Whether a panel of columns is finished for all rows before the next one: if the rows' operand stays in
  /// the cache, if the panels would not, or if the result's cache lines would not until their next elements.
  bool columns_outside(const Roles& roles, const TileRows& tile_rows) const;
  /// Whether the rows of a tile go through all panels of columns before the next ones: the panels stay in the cache, and
  /// the result, which does not, is written line after line.
  bool rows_outside(const Roles& roles, const Tile& tile) const;
  /// How many tiles of rows go through all panels of columns before the next ones, where the rows' operand exceeds the
  /// second-level cache: half of it keeps theirs. 0 where they are not cut into such blocks.
  int64_t tiles_of_a_block(const Roles& roles, const TileRows& tile_rows, const Tile& tile,
                           Panels panels) const;
  /// Whether the rows are packed as well, tile by tile: the reduction's steps are pages apart in their operand, and so in few
  /// sets of the caches.
  bool packs_left(const Roles& roles, const TileRows& tile_rows, const Tile& tile, Panels panels) const;
  /// Whether a step of a tile takes long enough for a prefetch and its test beside it.
  bool has_room_for_prefetches() const { return machine_.has_many_registers(); }
  /// Whether no two rows share elements of the left read, as windows do.
  bool reads_left_once(const Roles& roles) const;
  /// Whether the tensor is known to exceed the second-level cache.
  bool is_far(const Buffer& buffer) const;
  /// Whether masks have registers of their own. Otherwise a mask takes one of the sums', and its selection is part of the
  /// chain of additions.
  bool has_mask_registers() const { return machine_.has_many_registers(); }
  /// The row loop of a tile along which results are stored, transposed in registers; or null, if the lanes
  /// are contiguous or none are.
  Dim stored_along(const Roles& roles, const TileRows& tile_rows) const;
  /// Whether the result has the elements of both row loops of a tile one after another.
  bool follow_each_other(const TileRows& tile_rows) const;

 private:
  Roles roles_of(const LoadValue& left, const LoadValue& right) const;
  /// Chooses an intrinsic if it matches the products, the left read has contiguous groups of neighbours, and
  /// the right one can be packed into panels of them.
  void set_dot(Roles& roles) const;
  Dim grouped_along(const LoadValue& left, int group) const;
  int64_t terms_of(const Roles& roles, const DotIntrinsic& dot, Dim grouped) const;
  bool fits_registers(const Roles& roles, int64_t rows, int64_t vectors) const;
  static double cycles_of_matrices(int64_t rows, int64_t vectors);
  double settle_cycles(const Roles& roles, int64_t rows, int64_t vectors) const;
  /// Only the last column in lanes, with the others as outermost loops.
  static Roles with_one_column(Roles roles);
  const Buffer& buffer_of(const LoadValue& load) const {
    return c_.buffers[static_cast<size_t>(load.buffer)];
  }
  /// Puts groups with few columns side by side in lanes: as many as fit, if their left elements for one
  /// reduction step lie within a vector.
  Roles with_groups(Roles roles) const;
  int64_t depth() const;
  /// The number of steps of the reduction's loops.
  int64_t depth(const Roles& roles) const;
  /// For smaller ones, the loops around a tile would cost more than they save.
  bool is_worth_it(const Roles& roles) const;
  bool reads_rows_once(const Roles& roles) const;
  bool is_blocked(const Roles& roles, const Tile& tile) const;
  /// Whether the read along the columns can be packed.
  static bool is_packable(const Roles& roles);
  /// Whether the columns are contiguous in memory.
  bool is_dense(const Roles& roles) const;
  /// For all tiles.
  double cycles_of(const Roles& roles, const TileRows& rows) const;
  /// The cycles of a step: one cycle does two vector multiply-adds or two loads; each sum has a latency of
  /// four. Loads that overlap with arithmetic are not quite free.
  double cycles(const Roles& roles, int64_t rows, int64_t vectors) const;
  /// For a vector of a panel: panels that all fit half of the first-level cache stay there; others come from
  /// the second, or the third if one does not fit.
  double panel_cycles(const Roles& roles, int64_t vectors) const;
  /// For a step in which each row reads a cache line of its own, of a tensor that exceeds the second-level cache.
  double far_cycles(const Roles& roles, int64_t rows) const;
  /// For a step in which each row is loaded and transposed to its lanes.
  static double spread_cycles(int64_t rows);
  double cost_of(const Roles& roles) const;
  /// For packing the right read.
  double cost_of_form(const Roles& roles) const;
  /// Per vector of the result, in a tile of `rows` rows.
  double store_cycles(const Roles& roles, const TileRows& tile_rows, int64_t rows) const;
  /// Whether tiles write short runs of the result, each in a cache line of its own, of which all columns together
  /// have more than the first-level cache holds: the gradient of a convolution's weights, nine elements at a time.
  bool leaves_lines_open(const Roles& roles, const TileRows& tile_rows) const;
  /// The distance of neighbouring columns in the result, or null.
  Dim stored_apart(const Roles& roles) const;
  /// The number of a vector's lanes that are contiguous in the result.
  int64_t stored_run(const Roles& roles) const;
  Dim stride_of_store(Dim var) const;
  /// The number of elements of the right read's packed form.
  double form_size(const Roles& roles) const;
  /// Whether the form repeats elements of its tensor: a window moves over the tensor, which is then not a
  /// weight that is packed once.
  bool repeats(const Roles& roles) const;

  const Computation& c_;
  const MachineModel& machine_;
  int64_t lanes_ = 1;
};

}  // namespace quern::loops
