#pragma once
// The loop-nest IR: what a schedule makes of a primitive function and what codegen turns into machine code.
//
// A Kernel has buffers (inputs, the output, then other forms of inputs) and run-time dims; its body is a list
// of statements over loops. Index arithmetic is made of dims (ir/dim/dim.h) whose variables are loop
// variables and the kernel's dims, so strides and contiguity are read off by `linear_in`. Text form
// (print_kernel):
//
//     kernel(a: float32[n, 64], b: float32[64], out: float32[n]) dims(n) {
//       for i in 0..n {
//         acc0: float32 = 0
//         for r in 0..64 vectorize 16 {
//           acc0 += a[64*i + r] * b[r]
//         }
//         out[i] = max(acc0, 0)
//       }
//     }
//
// `acc0 += x86.dot4_512(a[64*i + 4*r :4], b[64*r :4])` takes in the products of groups of four neighbours.
//
// `acc0 += x86.matrix4_ss(a[64*i + 64*ko :64], b[2048*ko + 4*j :4 by 128])` takes in those of 64 terms, of
// which the right factor's groups of four are 128 elements apart; in loops over a tile, all of whose sums are
// in the processor's registers for matrices until `settle acc0`.
//
// A tile is a local with a shape: a value for each place, in registers.
//
//     acc0: float32[14, 32 by 16] = 0
//     for k in 0..64 unroll 4 {
//       for i in 0..14 unroll {
//         for j in 0..32 vectorize 16 unroll {
//           acc0[i, j] += a[64*i + k] * b[32*k + j]
//         }
//       }
//     }

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/expr/dot_intrinsic.h"
#include "ir/type/dtype.h"
#include "ir/value/scalar.h"

namespace quern::loops {

struct Buffer {
  std::string name;
  DType dtype;
  std::vector<Dim> shape;  ///< over the kernel's dims; row-major and dense
  bool is_output = false;
  /// No argument: memory of the call's own, whose first contents are unspecified. Its extents are known.
  bool is_scratch = false;
};

enum class ValueKind : uint8_t {
  Const,   ///< scalar
  Index,   ///< dim: the value of a dim, as dtype index
  Load,    ///< buffer, offset (+ address), conditions, otherwise
  Apply,   ///< op on args, all of one dtype (result dtype in `dtype`)
  Cast,    ///< args[0] to dtype
  Select,  ///< args: condition, then, else; all may be evaluated, so what may stop the kernel in an arm has
           ///< the condition as a guard
  Local,   ///< local: the current value of a declared local; of a tile, at `indices`
  Dot,  ///< the products of two groups of neighbours, which `dot` adds to a tile's accumulator; the value of
        ///< a Reduce alone. args: Loads of the first of each group, whose checks are `unseen` and of all of
        ///< it. Of matrices: of several groups, for a tile that is in `matrices`, in loops over all of it
};

struct Value;
using ValuePtr = std::shared_ptr<const Value>;

/// A test that `0 <= index < extent`; the index is a dim, or a computed value of dtype index where `computed`
/// is set.
struct BoundsCheck {
  Dim index = nullptr;
  ValuePtr computed;
  Dim extent = nullptr;
  Dim stride = nullptr;  ///< of a load: how many elements lie between neighbours of the index
  /// Of a value with a `trap`: where it fails nobody looks at the value, and the kernel goes on.
  bool is_guard = false;
};

/// A part of an address that is computed at run time: value * stride (in elements).
struct ComputedOffset {
  ValuePtr index;
  Dim stride;
};

struct Value {
  ValueKind kind;
  DType dtype;
  Scalar constant{};                       // Const
  Dim dim = nullptr;                       // Index; Load: the dim part of the element offset
  int buffer = -1;                         // Load
  std::vector<ComputedOffset> computed{};  // Load: further parts of the offset
  /// Load: where one of these fails the value is `otherwise`, and without an `otherwise` the kernel stops and
  /// returns `trap` (> 0). Every axis of a load is inside of its buffer at all points of the loops around it,
  /// or has its check here, whatever conditions its value stands under: a load may be moved without them.
  /// Index, Apply: where one fails the kernel stops (a division by 0).
  std::vector<BoundsCheck> checks{};
  ValuePtr otherwise{};
  int trap = 0;
  /// Load: nobody looks at the value where a check fails, which an enclosing Reduce tests too. It may come
  /// from any place of the buffer then.
  bool unseen = false;
  ScalarOp op = ScalarOp::Add;   // Apply
  std::vector<ValuePtr> args{};  // Apply, Cast, Select
  int local = -1;                // Local
  /// Local; Load: along the buffer's axes, where they are known (codegen has no use for them); Dot, of
  /// matrices: how many terms it takes, and how far the right factor's groups are apart in memory.
  std::vector<Dim> indices{};
  DotIntrinsicPtr dot{};  // Dot
};

enum class StmtKind : uint8_t {
  For,      ///< var in 0..extent, body
  If,       ///< the body, where no check fails; the checks are of dims, and the same in all lanes
  Declare,  ///< a local with its first value; with a `shape` a tile, each of whose places gets it
  Assign,   ///< local = value; of a tile, at `indices`
  Settle,   ///< of a tile in `matrices`: it is as any other from here on
  Turn,     ///< a tile of as many vectors as they have groups of `width` lanes: what was group g of row r is
            ///< group r of row g. Rows from `extent` on, where there is one, are nobody's
  Reduce,   ///< local = combine(local, value) by `reduce`, unless a check fails; for ArgMax/ArgMin also
            ///< `index_local`, with `index_value`
  Store,    ///< buffer[dim] = value
  Update,   ///< buffer[dim + computed] = value, or takes it in by `op`; where a check fails the kernel stops
            ///< with `trap`. Not inside a Vectorize loop.
};

enum class LoopKind : uint8_t {
  Serial,
  /// `width` lanes at a time, the rest by a masked tail. May hold Serial loops whose extents do not depend on
  /// its variable, but no other Vectorize. Stores run along the lanes, and a local declared inside has a
  /// value per lane.
  ///
  /// A local declared outside and reduced inside (it is not read there) keeps
  /// partial results that start at the identity, one vector of lanes; where the body has neither a loop nor a
  /// function of the Float signature nor a power, min(4, extent / width) of them (4 for a run-time extent)
  /// that take turns as long as all can, after which the first takes the rest. After the loop neighbouring
  /// vectors are combined in pairs, then the upper half of the lanes into the lower until one is left, and
  /// that into the local: an order that follows from body, width and extent.
  Vectorize,
  /// `width` steps at a time, the rest one by one. Where `width` is the extent, every step is code of its own
  /// and knows its index.
  Unroll,
};

/// What the index of a loop is on a GPU: that of a block in the grid, or of a thread in its block.
enum class GridIndex : uint8_t { None, BlockX, BlockY, BlockZ, ThreadX, ThreadY, ThreadZ };
/// `blockIdx.x`; empty for None.
std::string_view to_string(GridIndex index);
std::optional<GridIndex> find_grid_index(std::string_view text);

struct Stmt;
using StmtPtr = std::shared_ptr<const Stmt>;
using Block = std::vector<StmtPtr>;

struct Stmt {
  StmtKind kind;
  // For
  Dim var = nullptr;     ///< a dim variable of its own
  Dim extent = nullptr;  ///< over the kernel's dims
  LoopKind loop = LoopKind::Serial;
  int width = 1;
  /// Serial: of the kernel's range, the part from `before` on: `var` runs over what the caller asks for of
  /// it.
  Dim before = nullptr;
  /// Vectorize: each vector of lanes is code of its own and knows its index, so that the lanes may be places
  /// of a tile.
  bool unrolled = false;
  int64_t most = 0;  ///< of an extent that is not, the largest that it can be
  /// Unroll: what a step loads is not kept in registers for the next ones, which are needed for a tile.
  bool apart = false;
  GridIndex bound = GridIndex::None;  ///< Serial: on a GPU every step is done by a block or thread of its own
  Block body{};
  // Declare, Assign, Turn, Reduce
  int local = -1;
  DType dtype{};  ///< Declare: the local's dtype
  /// Declare: a tile of zeros that is in registers of matrices, for this intrinsic and `extent` terms at
  /// once, until it is settled.
  DotIntrinsicPtr matrices{};
  /// Declare: of a tile, constants, the last of them in vectors of `width`. Assign, Reduce: `indices` of the
  /// place; each is known to the code, but that the last may run along the lanes.
  std::vector<int64_t> shape{};
  std::vector<Dim> indices{};
  ReduceKind reduce = ReduceKind::Sum;
  int index_local = -1;  ///< ArgMax, ArgMin: the local (dtype index) that holds the position of the best so
                         ///< far; a strictly better value replaces it, so ties keep the lowest
  ValuePtr index_value{};
  // Declare, Assign, Reduce, Store, Update
  ValuePtr value{};
  // Store, Update
  int buffer = -1;
  Dim offset = nullptr;
  // Update; checks also: If, Reduce
  std::vector<ComputedOffset> computed{};
  std::vector<BoundsCheck> checks{};
  std::optional<ScalarOp> op{};
  // Update
  int trap = 0;
};

/// Traps that any kernel may stop with: an access outside of its buffer, where that is tested; no memory for
/// its scratch buffers; an interrupt (ir/base/interrupt.h).
constexpr int kOutOfBuffer = 0x7fffffff, kNoMemory = 0x7ffffffe, kStopped = 0x7ffffffd;

struct Kernel {
  std::string name;             ///< a symbol name: letters, digits, underscore
  std::vector<Buffer> buffers;  ///< inputs, the output, other forms of inputs, scratch
  std::vector<Dim> dims;        ///< run-time dims, in the order of the entry's `dims` argument
  int locals = 0;               ///< how many locals are declared
  Block body;
  /// How many steps the loops with a `before` have together: independent of each other, so that a caller may
  /// ask for some of them and leave the others to other threads. Null where there are none.
  Dim range = nullptr;
  /// About as many cycles as one core takes for the range, if its vectors have 64 bytes.
  Dim work = nullptr;
  std::vector<std::string> traps;  ///< what trap k+1 means, for messages
};

/// The canonical text of a kernel without its name: loop variables and dims are numbered in order of
/// appearance, so two kernels with equal text compute the same. The key of the code cache.
std::string canonical_text(const Kernel& kernel);
/// The text above, with names for people.
std::string print_kernel(const Kernel& kernel);

}  // namespace quern::loops
