#pragma once
// What the rule for contractions knows: which index variables are rows and which are columns, what tiles of
// them cost, and which are the cheapest.

#include <limits>
#include <optional>
#include <vector>

#include "jit/compute/computation.h"
#include "jit/loops/machine_model.h"

namespace quern::loops {

using Vars = std::vector<Dim>;

/// The extent, or what stands in for one that is known at run time only.
int64_t extent_or_usual(Dim extent);

/// The two reads of a contraction. Index variables of the result are `rows` where only the first read depends
/// on them, `columns` where only the second does, and `batch` where both do.
struct Roles {
  LoadValue left, right;
  Vars batch, rows, columns;
  int64_t width = 0;      ///< of a tile of columns, where that is not the tile's to choose
  DotIntrinsicPtr dot{};  ///< what adds up products of neighbours along `grouped`
  Dim grouped = nullptr;
  int64_t terms = 1;  ///< that it takes at once
  /// The intrinsic takes one factor with a sign and one without, and the reads agree: of the right read's
  /// elements the highest bit is flipped, which adds or subtracts 128.
  bool turns_sign = false;
};

/// How many rows and vectors of columns an accumulator tile has.
struct Tile {
  int64_t rows = 1, vectors = 1;
  double cycles = std::numeric_limits<double>::max();  ///< of all tiles, for a step of the reduction
};

/// The row loops that a tile is made of: steps of `cut`, and all of `whole`, a short one inside of it.
struct TileRows {
  Dim cut = nullptr, whole = nullptr;
  int64_t inner = 1;  ///< the extent of `whole`
};

/// Of a computation with one reduction.
class ContractionModel {
 public:
  ContractionModel(const Computation& computation, const MachineModel& machine);

  /// The roles of the reads that cost least, or none where the computation is no contraction or too small.
  std::optional<Roles> cheapest_roles() const;
  int64_t lanes() const { return lanes_; }
  int64_t width_of(const Roles& roles, int64_t vectors) const;
  static bool depends(const LoadValue& load, Dim var);
  Dim extent_dim(Dim var) const;
  int64_t extent_of(Dim var) const;
  int64_t count(const Vars& vars) const;
  /// The innermost row loop; or, where that is short, the one around it with it. Whichever has the cheaper
  /// tiles.
  TileRows tile_rows(const Roles& roles) const;
  bool is_known(Dim var) const;
  Tile best_tile(const Roles& roles, const TileRows& tile_rows) const;
  /// Panels of columns that lie side by side pay where each is read several times, and where they come from
  /// memory: panels stream, and parts of rows that are far apart do not.
  bool is_packed(const Roles& roles, const Tile& tile) const;
  /// By how much the index grows with the variable; 1 where that is no constant.
  static int64_t step_of(Dim index, Dim var);
  /// What the left read needs for one of the batch lies between what it needs for others, as channels of a
  /// group between those of other groups: a pass over all rows for each would read every line many times.
  bool shares_lines(const Roles& roles) const;
  /// Whether all rows are done for a panel of columns before the next: where what the rows read stays in the
  /// cache, or the panels would not.
  bool columns_outside(const Roles& roles) const;
  /// The row loop of a tile along which results are stored, transposed in registers; or null, where the lanes
  /// follow each other or none do.
  Dim stored_along(const Roles& roles, const TileRows& tile_rows) const;

 private:
  Roles roles_of(const LoadValue& left, const LoadValue& right) const;
  /// Chooses an intrinsic, where the products are what one takes, the left read has groups of neighbours side
  /// by side, and the right one can be given as panels of them.
  void set_dot(Roles& roles) const;
  Dim grouped_along(const LoadValue& left, int group) const;
  int64_t terms_of(const Roles& roles, const DotIntrinsic& dot, Dim grouped) const;
  bool fits_registers(const Roles& roles, int64_t rows, int64_t vectors) const;
  static double cycles_of_matrices(int64_t rows, int64_t vectors);
  double settle_cycles(const Roles& roles, int64_t rows, int64_t vectors) const;
  /// The last column alone in lanes, and loops over the others around everything.
  static Roles with_one_column(Roles roles);
  /// Groups that have few columns side by side in lanes: as many as fit, where what they read of the left for
  /// one step of the reduction lies within a vector.
  Roles with_groups(Roles roles) const;
  int64_t depth() const;
  /// Steps of the reduction's loops.
  int64_t depth(const Roles& roles) const;
  /// Below, the loops around a tile would cost more than they save.
  bool is_worth_it(const Roles& roles) const;
  bool reads_rows_once(const Roles& roles) const;
  /// The read along the columns can be given in another form.
  static bool is_packable(const Roles& roles);
  /// The columns lie side by side in memory.
  bool is_dense(const Roles& roles) const;
  /// Of all tiles.
  double cycles_of(const Roles& roles, const TileRows& rows) const;
  /// The cycles of a step: two multiplications and additions of vectors, or two loads, in one; each sum waits
  /// four for the one before; a panel's vectors come from the second cache, or the third where the panel does
  /// not fit. Loads that go with the arithmetic are not quite free.
  double cycles(const Roles& roles, int64_t rows, int64_t vectors) const;
  /// Of a step whose rows are each loaded and transposed to their lanes.
  static double spread_cycles(int64_t rows);
  double cost_of(const Roles& roles) const;
  /// Of a vector of the result, in a tile of so many rows.
  double store_cycles(const Roles& roles, const TileRows& tile_rows, int64_t rows) const;
  /// How far neighbouring columns are apart in the result; or null.
  Dim stored_apart(const Roles& roles) const;
  /// How many of a vector's lanes follow each other in the result.
  int64_t stored_run(const Roles& roles) const;
  Dim stride_of_store(Dim var) const;
  /// Elements of the form that the right read would be given in.
  double form_size(const Roles& roles) const;
  /// The form has elements of its tensor more than once: a window moves over the tensor, which is then no
  /// weight that is packed once.
  bool repeats(const Roles& roles) const;

  const Computation& c_;
  const MachineModel& machine_;
  int64_t lanes_ = 1;
};

}  // namespace quern::loops
