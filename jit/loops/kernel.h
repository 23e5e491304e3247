#pragma once
// The loop-nest IR: a schedule produces it from a primitive function, and codegen compiles it to machine
// code.
//
// A Kernel has buffers (inputs, the output, then prepacked forms of inputs) and run-time dims; its body is a
// list of statements and loops. Index arithmetic uses dims (ir/dim/dim.h) whose variables are loop variables
// and the kernel's dims, so `linear_in` yields strides and contiguity. Text form (print_kernel):
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
// `acc0 += x86.dot4_512(a[64*i + 4*r :4], b[64*r :4])` accumulates the products of groups of four neighbours.
//
// `acc0 += x86.matrix4_ss(a[64*i + 64*ko :64], b[2048*ko + 4*j :4 by 128])` accumulates those of 64 terms,
// where the right factor's groups of four are 128 elements apart; it occurs in loops over a tile whose sums
// are all in the processor's matrix registers until `settle acc0`.
//
// A tile is a local with a shape: one value per place, in registers.
//
//     acc0: float32[14, 32 by 16] = 0
//     for k in 0..64 unroll 4 {
//       for i in 0..14 unroll {
//         for j in 0..32 vectorize 16 unroll {
//           acc0[i, j] += a[64*i + k] * b[32*k + j]
//         }
//       }
//     }

#include <string>
#include <vector>

#include "jit/loops/stmt.h"

namespace quern::loops {

struct Buffer {
  std::string name;
  DType dtype;
  std::vector<Dim> shape;  ///< over the kernel's dims; row-major and dense
  bool is_output = false;
  /// Not an argument: memory private to the call, with unspecified initial contents and known extents.
  bool is_scratch = false;
  /// Another tensor at each call (Variable::fresh).
  bool is_fresh = false;
};

/// Traps common to all kernels: an access out of bounds, if tested; no memory for scratch buffers; an
/// interrupt (ir/base/interrupt.h).
constexpr int kOutOfBuffer = 0x7fffffff, kNoMemory = 0x7ffffffe, kStopped = 0x7ffffffd;

struct Kernel {
  std::string name;             ///< a symbol name: letters, digits, underscore
  std::vector<Buffer> buffers;  ///< inputs, the output, prepacked forms of inputs, scratch
  std::vector<Dim> dims;        ///< run-time dims, in the order of the entry's `dims` argument
  int locals = 0;               ///< the number of locals
  Block body;
  /// The total number of steps of the loops with a `before`. The steps are independent, so a caller may
  /// execute some and leave the rest to other threads. Null if there are none.
  Dim range = nullptr;
  /// Approximate cycles of the range on one core with 64-byte vectors.
  Dim work = nullptr;
  std::vector<std::string> traps;  ///< the message of trap k+1
};

/// The canonical text of a kernel without its name: loop variables and dims are numbered in order of
/// appearance, so two kernels with equal text compute the same. The key of the code cache.
std::string canonical_text(const Kernel& kernel);
/// The text form above, with readable names.
std::string print_kernel(const Kernel& kernel);

}  // namespace quern::loops
