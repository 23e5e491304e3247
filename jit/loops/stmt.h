#pragma once
// What kernels do: a struct for each kind of statement. Statements are immutable and shared.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "jit/loops/value.h"

namespace quern::loops {

enum class StmtKind : uint8_t {
#define QUERN_STMT(kind) kind,
#include "jit/loops/stmts.def"
#undef QUERN_STMT
};

struct Stmt {
  const StmtKind kind;

 protected:
  explicit Stmt(StmtKind kind) : kind(kind) {}
  Stmt(const Stmt&) = default;
  ~Stmt() = default;
};
using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

template <StmtKind Kind>
struct StmtOf : Stmt {
  static constexpr StmtKind kKind = Kind;
  StmtOf() : Stmt(Kind) {}
};

/// What the index of a loop is on a GPU: that of a block in the grid, or of a thread in its block.
enum class GridIndex : uint8_t { None, BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ };
/// `blockIdx.x`; empty for None.
std::string_view to_string(GridIndex index);
std::optional<GridIndex> find_grid_index(std::string_view text);

/// One step after the other.
struct Serial {
  /// Of the kernel's range, the part from `before` on: the loop runs over what the caller asks for of it.
  Dim before = nullptr;
  GridIndex bound = GridIndex::None;  ///< on a GPU every step is done by a block or thread of its own
};
/// `width` lanes at a time, the rest by a masked tail. The body may hold serial loops whose extents do not
/// depend on the loop's variable, but no other vectorized one. Stores run along the lanes, and a local
/// declared inside has a value per lane.
///
/// A local declared outside and reduced inside (it is not read there) keeps
/// partial results that start at the identity, one vector of lanes; where the body has neither a loop nor a
/// function of the Float signature nor a power, min(4, extent / width) of them (4 for a run-time extent)
/// that take turns as long as all can, after which the first takes the rest. After the loop neighbouring
/// vectors are combined in pairs, then the upper half of the lanes into the lower until one is left, and
/// that into the local: an order that follows from body, width and extent.
struct Vectorized {
  int width = 1;
  /// Each vector of lanes is code of its own and knows its index, so that the lanes may be places of a tile.
  bool unrolled = false;
  int64_t most = 0;  ///< of an unrolled one's extent that is not known, the largest that it can be
};
/// `width` steps at a time, the rest one by one. Where `width` is the extent, every step is code of its own
/// and knows its index.
struct Unrolled {
  int width = 1;
  /// What a step loads is not kept in registers for the next ones, which are needed for a tile.
  bool apart = false;
};
using Execution = std::variant<Serial, Vectorized, Unrolled>;

/// for var in 0..extent
struct For : StmtOf<StmtKind::For> {
  Dim var = nullptr;     ///< a dim variable of its own
  Dim extent = nullptr;  ///< over the kernel's dims and the variables of loops around
  Execution execution{};
  Block body{};

  const Serial* serial() const { return std::get_if<Serial>(&execution); }
  const Vectorized* vectorized() const { return std::get_if<Vectorized>(&execution); }
};
/// The body, where no check fails; the checks are of dims, and the same in all lanes.
struct If : StmtOf<StmtKind::If> {
  std::vector<BoundsCheck> checks{};
  Block body{};
};
/// A local with its first value; with a `shape` a tile, each of whose places gets it.
struct Declare : StmtOf<StmtKind::Declare> {
  int local = -1;
  DType dtype{};
  ValuePtr value{};
  std::vector<int64_t> shape{};  ///< places along the last axis are in vectors of `width`
  int width = 1;
  /// A tile of zeros is in registers of matrices, for this intrinsic and so many terms at once, until it is
  /// settled.
  DotIntrinsicPtr matrices{};
  int64_t terms = 0;
};
/// local = value; of a tile, at `indices`: each is known to the code, but that the last may run along the
/// lanes.
struct Assign : StmtOf<StmtKind::Assign> {
  int local = -1;
  std::vector<Dim> indices{};
  ValuePtr value{};
};
/// A tile in `Declare::matrices` is as any other from here on.
struct Settle : StmtOf<StmtKind::Settle> {
  int local = -1;
};
/// Of a tile of as many vectors as they have groups of `width` lanes: what was group g of row r is group r of
/// row g. Rows from `rows` on, where there is one, are nobody's.
struct Transpose : StmtOf<StmtKind::Transpose> {
  int local = -1;
  int width = 1;
  std::optional<int64_t> rows{};
};
/// local = combine(local, value) by `reduce`, unless a check fails; of a tile, at `indices` as of an Assign.
struct Reduce : StmtOf<StmtKind::Reduce> {
  int local = -1;
  std::vector<Dim> indices{};
  ReduceKind reduce = ReduceKind::Sum;
  ValuePtr value{};
  std::vector<BoundsCheck> checks{};
  /// ArgMax, ArgMin: the local (dtype index) that holds the position of the best so far, and the position of
  /// the value; a strictly better value replaces it, so ties keep the lowest.
  int index_local = -1;
  ValuePtr index_value{};
};
/// buffer[offset] = value
struct Store : StmtOf<StmtKind::Store> {
  int buffer = -1;
  Dim offset = nullptr;
  ValuePtr value{};
};
/// buffer[offset + computed] = value, or takes it in by `op`; where a check fails the kernel stops with
/// `trap`. Not inside a vectorized loop.
struct Update : StmtOf<StmtKind::Update> {
  int buffer = -1;
  Dim offset = nullptr;
  std::vector<ComputedOffset> computed{};
  std::vector<BoundsCheck> checks{};
  int trap = 0;
  std::optional<ScalarOp> op{};
  ValuePtr value{};
};

/// Calls `f` with the statement as its own struct; a kind that `f` does not take does not compile.
template <class F>
decltype(auto) visit(const Stmt& stmt, F&& f) {
  switch (stmt.kind) {
#define QUERN_STMT(kind) \
  case StmtKind::kind:   \
    return f(static_cast<const kind&>(stmt));
#include "jit/loops/stmts.def"
#undef QUERN_STMT
  }
  std::abort();
}

/// The statement as a struct of its kind; null where it is of another kind.
template <class T>
const T* as(const Stmt& stmt) {
  return stmt.kind == T::kKind ? static_cast<const T*>(&stmt) : nullptr;
}
template <class T>
const T* as(const StmtPtr& stmt) {
  return stmt ? as<T>(*stmt) : nullptr;
}

}  // namespace quern::loops
