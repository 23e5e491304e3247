#pragma once
// The loops of a computation, which the primitives of a schedule change, and the kernel that they make.

#include <optional>
#include <string>
#include <vector>

#include "ir/schedule.h"
#include "jit/schedule/lower.h"

namespace quern::loops {

/// A form of a tensor that the kernel takes as a buffer of its own, after the output: `form` makes it of the
/// tensor (its buffers: the tensor, then the result).
struct PackedBuffer {
  int buffer;  ///< of the tensor
  Computation form;
};

/// What schedules apply to: a computation without running results and scatter, and at most one reduction
/// beside `let`s where a tile is asked for.
class Nest {
 public:
  explicit Nest(Computation computation);

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
  /// The outermost loop that several threads may share and that has many steps, or else the one with the
  /// most; empty where none has two.
  std::string shared_loop() const;
  /// Of an index variable of the computation.
  std::string name_of(Dim root) const;
  /// Of a loop that is there: its index in what the computation says, and its extent where that is no part
  /// of a split.
  Dim symbol_of(const std::string& name) const;
  Dim extent_of(const std::string& name) const;

 private:
  friend class NestWriter;
  friend class PackedForm;
  static constexpr int kResult = -1;

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
  };
  struct Split {
    int loop, outer, inner;
    int64_t factor;
  };
  struct Fuse {
    int outer, inner, fused;
  };

  Result<Done> change(const ScheduleStep& step);
  Result<Done> split(const ScheduleStep& step);
  Result<Done> fuse(const ScheduleStep& step);
  Result<Done> reorder(const ScheduleStep& step);
  Result<Done> mark(const ScheduleStep& step);
  Result<Done> parallel(const ScheduleStep& step);
  bool is_whole(int loop) const;
  Result<Done> peel(const ScheduleStep& step);
  Result<Done> turn(const ScheduleStep& step);
  Result<Done> pack(const ScheduleStep& step);
  ValuePtr only_read(int buffer) const;
  int add_loop(Loop loop);
  int add_root(Dim var, Dim extent, int owner);
  Result<int> find(const std::string& name) const;
  Result<std::vector<int>> find_all(const std::vector<std::string>& names) const;
  Result<size_t> find_in_order(const std::string& name) const;
  Result<Done> make_name(const std::string& name) const;
  int outer_of(int loop) const;
  std::vector<int> tile() const;
  Result<Done> tile_is_complete(const std::vector<int>& tile) const;
  void roots_of(int loop, std::vector<int>& roots) const;

  Computation c_;
  Schedule applied_;
  std::vector<Loop> table_;  ///< all that there ever were
  std::vector<Split> splits_;
  std::vector<Fuse> fuses_;
  std::vector<int> order_;  ///< outermost first
  std::vector<PackedBuffer> packed_;
  int parallel_ = -1;  ///< the loop whose steps make the kernel's range
  int turned_ = -1;    ///< the buffer that is loaded along the innermost loop but one
};

}  // namespace quern::loops
