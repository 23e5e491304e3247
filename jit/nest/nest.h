#pragma once
// The loops of a computation, which the primitives of a schedule change, and the kernel that they make.

#include <optional>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "ir/expr/schedule.h"
#include "jit/compute/computation.h"

namespace quern::loops {

/// A form of a tensor that the kernel takes as a buffer of its own, after the output: `form` makes it of the
/// tensor (its buffers: the tensor, then the result).
struct PackedBuffer {
  int buffer;  ///< of the tensor, or of a form before this one
  Computation form;
};

struct DotFactors;

/// How the steps of a loop are done, as a schedule says it.
enum class LoopKind : uint8_t { Serial, Vectorize, Unroll };

/// A name for a buffer beside others: the one that is wanted, or that with a number.
std::string fresh_name(const std::vector<Buffer>& buffers, const std::string& wanted);

/// What schedules apply to: a computation without running results and scatter, and at most one reduction
/// beside `let`s where a tile is asked for. Its stages are computed before its loops, each into a scratch
/// buffer of its whole shape, where no step says anything else.
class Nest {
 public:
  /// `forms`: of the buffers after the computation's output. `dots`: what `tensorize` may name.
  explicit Nest(Computation computation, std::vector<PackedBuffer> forms = {}, DotIntrinsics dots = {});
  explicit Nest(StagedComputation computation, DotIntrinsics dots = {});

  /// Fails, and says why in a sentence, where a step cannot be applied; the nest is then as it was.
  Result<Done> apply(const ScheduleStep& step);
  Result<Done> apply(const Schedule& schedule);

  /// Whether there is code for the loops as they are, or why not: steps on the way to a schedule may be
  /// apart.
  Result<Done> is_complete() const;
  /// Of loops that are complete.
  Kernel kernel() const;
  const std::vector<PackedBuffer>& packed() const { return packed_; }
  const Computation& computation() const { return c_; }
  /// The steps that were applied.
  const Schedule& schedule() const { return applied_; }
  /// The names of the loops, outermost first, those of reductions among them.
  std::vector<std::string> loops() const;
  /// The outermost loop that several threads may share and that has, with the loops around it, many steps; or
  /// else the one with the most. Empty where none has two.
  std::string shared_loop(int64_t many = 16) const;
  /// Of an index variable of the computation.
  std::string name_of(Dim root) const;
  /// The names of the parts of a loop that a rule splits, and of loops that it fuses: `jo` and `ji` of `j`,
  /// with a `_` behind it where the computation has a loop of that name.
  std::string outer_name(const std::string& loop) const { return new_name(loop + "o"); }
  std::string inner_name(const std::string& loop) const { return new_name(loop + "i"); }
  std::string new_name(std::string name) const;
  /// Of a loop that is there: its index in what the computation says, and its extent where that is no part
  /// of a split.
  Dim symbol_of(const std::string& name) const;
  Dim extent_of(const std::string& name) const;

 private:
  friend class NestWriter;
  friend class PackedForm;
  static constexpr int kResult = -1;
  static constexpr int kBeforeAll = -1;
  static constexpr int64_t kMostNumbered = 64;  ///< steps around a parallel loop that are of the range too

  /// A loop, or one that was split or fused into others.
  struct Loop {
    std::string name;
    int owner = kResult;   ///< kResult, or which of the reductions
    Dim symbol = nullptr;  ///< its index in what the computation says; a root's is the index variable
    Dim extent = nullptr;  ///< of a root or a fused loop
    int made_by = -1;      ///< which of `splits_` it is a part of
    LoopKind kind = LoopKind::Serial;
    int64_t width = 1;  ///< Unroll: 0 for all steps
    bool peeled = false;
    GridIndex bound = GridIndex::None;
    DotIntrinsicPtr dot{};  ///< what does its steps
  };
  struct Split {
    int loop, outer, inner;
    int64_t factor;
  };
  struct Fuse {
    int outer, inner, fused;
  };

  /// A scratch buffer that takes the place of another buffer inside of a loop, and what fills it there.
  struct Fill {
    int buffer;            ///< which is read
    int scratch;           ///< a stage's is its own
    int loop;              ///< in whose steps it is filled, or kBeforeAll
    Computation value;     ///< an element of the buffer
    bool is_copy = false;  ///< `value` is defined at all indices: outside of the buffer it is what reads say
  };
  /// The loops by what they are around.
  struct Parts {
    std::vector<int> outer;    ///< around everything
    std::vector<int> memory;   ///< inside of these, with loops of the reduction among them: accumulators are
                               ///< in scratch memory
    std::vector<int> reduced;  ///< of reductions
    std::vector<int> tile;     ///< inside of a reduction's: accumulators are in registers
  };

  Result<Done> change(const ScheduleStep& step);
  Result<Done> split(const ScheduleStep& step);
  Result<Done> fuse(const ScheduleStep& step);
  Result<Done> reorder(const ScheduleStep& step);
  Result<Done> mark(const ScheduleStep& step);
  Result<Done> parallel(const ScheduleStep& step);
  Result<Done> parts_follow(const std::vector<int>& order) const;
  bool is_whole(int loop) const;
  Result<Done> peel(const ScheduleStep& step);
  Result<Done> turn(const ScheduleStep& step);
  Result<Done> turn_write(const ScheduleStep& step);
  Result<Done> pack(const ScheduleStep& step);
  Result<Done> vthread(const ScheduleStep& step);
  Result<Done> bind(const ScheduleStep& step);
  Result<Done> cache_read(const ScheduleStep& step);
  Result<Done> cache_write(const ScheduleStep& step);
  Result<Done> compute_at(const ScheduleStep& step);
  Result<Done> inline_stage(const ScheduleStep& step);
  Result<int> stage_of(const std::string& name) const;
  Result<Done> reads_are_known(int buffer) const;
  int first_scratch() const;
  int add_scratch(const std::string& name, DType dtype);
  void insert_buffer(int at, Buffer buffer);
  void remove_buffer(int buffer);
  void renumber_buffers(int from, int by);
  Result<Done> tensorize(const ScheduleStep& step);
  Result<Done> dot_is_complete(int loop, const Parts& parts) const;
  Result<Done> matrices_are_complete(int loop, const Parts& parts) const;
  Result<Done> zeros_are_absent(const DotFactors& factors, int rows, int terms) const;
  std::optional<LoadValue> only_read(int buffer) const;
  int add_loop(Loop loop);
  int add_root(Dim var, Dim extent, int owner);
  Result<int> find(const std::string& name) const;
  Result<std::vector<int>> find_all(const std::vector<std::string>& names) const;
  Result<size_t> find_in_order(const std::string& name) const;
  Result<Done> make_name(const std::string& name) const;
  int outer_of(int loop) const;
  Parts parts() const;
  std::optional<int64_t> known_extent(int loop) const;
  std::optional<int64_t> most_steps(int loop) const;
  std::optional<int64_t> even_count(const Split& split) const;
  Result<Done> tile_is_complete(const std::vector<int>& tile) const;
  Result<Done> lanes_are_complete(const Parts& parts) const;
  Result<Done> turned_write_is_complete(const Parts& parts) const;
  Result<Done> bound_are_complete(const Parts& parts) const;
  Result<Done> scratch_is_complete(const Parts& parts) const;
  Result<Done> scratch_stands_well(int loop, const std::string& buffer, const Parts& parts) const;
  void roots_of(int loop, std::vector<int>& roots) const;
  std::vector<Dim> root_symbols(int loop) const;

  Computation c_;
  Schedule applied_;
  std::vector<Loop> table_;  ///< all that there ever were
  std::vector<Split> splits_;
  std::vector<Fuse> fuses_;
  std::vector<int> order_;  ///< outermost first
  std::vector<PackedBuffer> packed_;
  DotIntrinsics dots_;
  int matrix_rows_ = -1;   ///< the loop of a tile whose steps an intrinsic of matrices does
  int parallel_ = -1;      ///< the loop whose steps make the kernel's range
  int turned_ = -1;        ///< the buffer that is loaded along the innermost loop but one
  int turned_write_ = -1;  ///< the loop of a tile along which results are stored
  int turned_lanes_ = -1;  ///< the one whose lanes have them
  std::vector<Fill> fills_;
  int written_ = -1;  ///< the loop inside of which results are in `written_scratch_`
  int written_scratch_ = -1;
};

}  // namespace quern::loops
