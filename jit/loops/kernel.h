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

#include <string>
#include <vector>

#include "jit/loops/stmt.h"

namespace quern::loops {

struct Buffer {
  std::string name;
  DType dtype;
  std::vector<Dim> shape;  ///< over the kernel's dims; row-major and dense
  bool is_output = false;
  /// No argument: memory of the call's own, whose first contents are unspecified. Its extents are known.
  bool is_scratch = false;
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
