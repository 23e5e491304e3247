#pragma once
// Kernel statements: a struct per kind. Statements are immutable and shared.

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

/// The GPU index that a loop's index is bound to: of a block in the grid, or of a thread in its block.
enum class GridIndex : uint8_t { None, BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ };
/// `blockIdx.x`; empty for None.
std::string_view to_string(GridIndex index);
std::optional<GridIndex> find_grid_index(std::string_view text);

/// Sequential steps.
struct Serial {
  /// The loop covers the kernel's range from `before` on, and runs over the part of it that the caller
  /// requests.
  Dim before = nullptr;
  GridIndex bound = GridIndex::None;  ///< on a GPU each step runs on its own block or thread
};
/// `width` lanes at a time, with a masked tail. The body may hold serial loops whose extents do not depend on
/// the loop's variable, but no other vectorized one. Stores run along the lanes, and a local declared inside
/// has one value per lane.
///
/// A local declared outside and reduced inside (and not read there) has partial results that start at the
/// identity: one vector of lanes or, if the body has neither a loop nor a function of the Float signature nor
/// a power, min(4, extent / width) vectors (4 for a run-time extent), which take turns while all can; then
/// the first takes the rest. After the loop, neighbouring vectors are combined in pairs, then the upper half
/// of the lanes into the lower until one is left, and that one into the local: an order determined by body,
/// width and extent.
struct Vectorized {
  int width = 1;
  /// Each vector of lanes is separate code with a known index, so the lanes may be places of a tile.
  bool unrolled = false;
  int64_t most = 0;  ///< an upper bound on the extent of an unrolled loop, if it is unknown
};
/// `width` steps at a time, the rest one by one. If `width` is the extent, every step is separate code with a
/// known index.
struct Unrolled {
  int width = 1;
  /// Values loaded by a step are not kept in registers for later steps, since a tile needs the registers.
  bool fenced = false;
};
using Execution = std::variant<Serial, Vectorized, Unrolled>;

/// for var in 0..extent
struct For : StmtOf<StmtKind::For> {
  Dim var = nullptr;     ///< a fresh dim variable
  Dim extent = nullptr;  ///< over the kernel's dims and the variables of enclosing loops
  Execution execution{};
  Block body{};

  const Serial* serial() const { return std::get_if<Serial>(&execution); }
  const Vectorized* vectorized() const { return std::get_if<Vectorized>(&execution); }
};
/// Executes the body if no check fails; the checks are on dims, and uniform across lanes.
struct If : StmtOf<StmtKind::If> {
  std::vector<BoundsCheck> checks{};
  Block body{};
};
/// Executes the body, which copies one of two buffers into the other, unless both are the same memory
/// (KernelSite::under_result).
struct IfApart : StmtOf<StmtKind::IfApart> {
  int from = -1, to = -1;  ///< buffers
  Block body{};
};
/// A local with its initial value; with a `shape`, a tile whose places all get it.
struct Declare : StmtOf<StmtKind::Declare> {
  int local = -1;
  DType dtype{};
  ValuePtr value{};
  std::vector<int64_t> shape{};  ///< the last axis is in vectors of `width`
  int width = 1;
  /// A tile of zeros that is in matrix registers until settled, for this intrinsic and `terms` terms at once.
  DotIntrinsicPtr matrices{};
  int64_t terms = 0;
};
/// local = value; for a tile, at `indices`: each is known at code generation, except that the last may run
/// along the lanes.
struct Assign : StmtOf<StmtKind::Assign> {
  int local = -1;
  std::vector<Dim> indices{};
  ValuePtr value{};
};
/// From here on, a tile in `Declare::matrices` is an ordinary one.
struct Settle : StmtOf<StmtKind::Settle> {
  int local = -1;
};
/// Transposes a tile with as many vectors as each has groups of `width` lanes: group g of row r becomes group
/// r of row g. Rows from `rows` on, if set, are unused.
struct Transpose : StmtOf<StmtKind::Transpose> {
  int local = -1;
  int width = 1;
  std::optional<int64_t> rows{};
};
/// local = combine(local, value) by `reduce`, unless a check fails; for a tile, at `indices` as in an Assign.
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
/// Brings the cache line of buffer[offset] near, even if it is past the end of the buffer. Not inside a vectorized loop.
struct Prefetch : StmtOf<StmtKind::Prefetch> {
  int buffer = -1;
  Dim offset = nullptr;
};
/// buffer[offset + computed] = value, or combines it by `op`; if a check fails, the kernel stops with `trap`.
/// Not inside a vectorized loop.
struct Update : StmtOf<StmtKind::Update> {
  int buffer = -1;
  Dim offset = nullptr;
  std::vector<ComputedOffset> computed{};
  std::vector<BoundsCheck> checks{};
  int trap = 0;
  std::optional<ScalarOp> op{};
  ValuePtr value{};
};

/// Calls `f` with the statement as its own struct; a kind that `f` does not accept does not compile.
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

/// The statement as a struct of this kind; null if it is of another kind.
template <class T>
const T* as(const Stmt& stmt) {
  return stmt.kind == T::kKind ? static_cast<const T*>(&stmt) : nullptr;
}
template <class T>
const T* as(const StmtPtr& stmt) {
  return stmt ? as<T>(*stmt) : nullptr;
}

}  // namespace quern::loops
