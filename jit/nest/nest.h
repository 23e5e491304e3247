#pragma once
// The loops of a computation, which the primitives of a schedule transform, and the resulting kernel.

#include <optional>
#include <string>
#include <vector>

#include "jit/nest/steps.h"

namespace quern::loops {

/// How far the places are that an offset has for neighbouring indices, if that is constant.
std::optional<int64_t> known_stride(Dim offset, Dim var);

/// A prepacked form of a tensor, passed to the kernel as a separate buffer after the output: `form` makes it
/// from the tensor (its buffers: the tensor, then the result).
struct PackedBuffer {
  int buffer;  ///< of the tensor, or of a form before this one
  Computation form;
};

struct DotFactors;

/// How the steps of a loop run, according to the schedule.
enum class LoopKind : uint8_t { Serial, Vectorize, Unroll };

/// A name for a new buffer: the wanted one, or that with a number.
std::string fresh_name(const std::vector<Buffer>& buffers, const std::string& wanted);

/// The object of schedules: a computation without running results and scatter, and with at most one reduction
/// besides `let`s if a tile is requested. Its stages are computed before its loops, each into a scratch
/// buffer of its full shape, unless a step changes this.
class Nest {
 public:
  /// `forms`: the buffers after the computation's output. `dots`: the intrinsics that `tensorize` may name.
  explicit Nest(Computation computation, std::vector<PackedBuffer> forms = {}, DotIntrinsics dots = {});
  explicit Nest(StagedComputation computation, DotIntrinsics dots = {});

  /// Applies a step to existing loops and returns the loops it makes. If the step cannot be applied, fails
  /// with a sentence and leaves the nest unchanged.
  Result<LoopIds> apply(const LoopStep& step);
  /// Applies steps given by names.
  Result<Done> apply(const Schedule& schedule);

  /// Whether code can be generated for the current loops, or why not: intermediate steps of a schedule need
  /// not be complete.
  Result<Done> is_complete() const;
  /// Requires complete loops.
  Kernel kernel() const;
  const std::vector<PackedBuffer>& packed() const { return packed_; }
  const Computation& computation() const { return c_; }
  /// The applied steps, as a schedule.
  Schedule schedule() const { return names_.written(applied_); }
  /// Outermost first, including those of reductions.
  const LoopIds& loops() const { return order_; }
  const LoopNames& names() const { return names_; }
  /// The outermost loop that threads may share and that has, with its enclosing loops, at least `many` steps;
  /// otherwise the one with the most. Nothing if none has two.
  std::optional<LoopId> shared_loop(int64_t many = 16) const;
  /// The loop of an index variable of the computation.
  LoopId loop_of(Dim root) const;
  LoopIds loops_of(const std::vector<Dim>& roots) const;
  /// The loop's index variable in the computation, and its extent unless it is part of a split.
  Dim symbol_of(LoopId loop) const { return at(loop).symbol; }
  Dim extent_of(LoopId loop) const { return at(loop).extent; }

 private:
  friend class NestWriter;
  friend class PackedForm;
  static constexpr int kResult = -1;
  static constexpr LoopId kBeforeAll = kNoLoop;
  static constexpr int64_t kMostNumbered = 64;  ///< steps of enclosing loops that join a parallel loop's
                                                ///< range

  /// A loop, present or already split or fused.
  struct Loop {
    int owner = kResult;   ///< kResult, or the index of a reduction
    Dim symbol = nullptr;  ///< its index in the computation; for a root, the index variable
    Dim extent = nullptr;  ///< of a root or a fused loop
    int made_by = -1;      ///< the element of `splits_` that made it
    LoopKind kind = LoopKind::Serial;
    int64_t width = 1;  ///< Unroll: 0 for all steps
    bool peeled = false;
    GridIndex bound = GridIndex::None;
    DotIntrinsicPtr dot{};  ///< the intrinsic that performs its steps
  };
  struct Split {
    LoopId loop, outer, inner;
    int64_t factor;
  };
  struct Fuse {
    LoopId outer, inner, fused;
  };

  /// A scratch buffer that replaces another buffer inside a loop, and what fills it there.
  struct Fill {
    int buffer;            ///< the buffer that is read
    int scratch;           ///< a stage's own buffer
    LoopId loop;           ///< the loop in whose steps it is filled, or kBeforeAll
    Computation value;     ///< an element of the buffer
    bool is_copy = false;  ///< `value` is defined at all indices: out of bounds it is the reads' `otherwise`
  };
  /// A buffer whose lines the steps of a reduction's loop bring near.
  struct Prefetched {
    int buffer;
    LoopId loop;
  };
  /// The loops by what they enclose.
  struct Parts {
    LoopIds outer;    ///< around everything
    LoopIds memory;   ///< including loops of the reduction; inside these, accumulators are in scratch memory
    LoopIds reduced;  ///< of reductions
    LoopIds tile;     ///< inside the reduction's loops: accumulators are in registers
  };

  /// The effect of a primitive on the loops: one function per row of primitives.def.
  template <Primitive primitive>
  Result<Done> change(const LoopStep& step);

  Loop& at(LoopId loop) { return table_[index_of(loop)]; }
  const Loop& at(LoopId loop) const { return table_[index_of(loop)]; }
  LoopId id_of(const Loop& loop) const { return LoopId(static_cast<int>(&loop - table_.data())); }
  const std::string& name(LoopId loop) const { return names_.of(loop); }
  const std::string& name(const Loop& loop) const { return name(id_of(loop)); }
  /// The split that made a part.
  const Split& split_of(LoopId part) const { return splits_[static_cast<size_t>(at(part).made_by)]; }
  bool is_there(LoopId loop) const;
  size_t place_of(LoopId loop) const;
  LoopId add_loop(const LoopStep& step, size_t made, Loop loop);
  LoopId outer_of(LoopId loop) const;
  void roots_of(LoopId loop, LoopIds& roots) const;
  std::vector<Dim> root_symbols(LoopId loop) const;

  Result<Done> mark(LoopId loop, LoopKind kind, const LoopStep& step);
  Result<Done> put_in_order(const LoopIds& loops);
  Result<Done> parts_follow(const LoopIds& order) const;
  bool is_whole(LoopId loop) const;

  Result<int> stage_of(const std::string& name) const;
  Result<Done> reads_are_known(int buffer) const;
  int first_scratch() const;
  int add_scratch(const std::string& name, DType dtype);
  void insert_buffer(int at, Buffer buffer);
  void remove_buffer(int buffer);
  void renumber_buffers(int from, int by);
  std::optional<LoadValue> only_read(int buffer) const;

  Parts parts() const;
  std::optional<int64_t> known_extent(LoopId loop) const;
  std::optional<int64_t> most_steps(LoopId loop) const;
  std::optional<int64_t> even_count(const Split& split) const;
  Result<Done> tile_is_complete(const LoopIds& tile) const;
  Result<Done> lanes_are_complete(const Parts& parts) const;
  Result<Done> turned_write_is_complete(const Parts& parts) const;
  Result<Done> bound_are_complete(const Parts& parts) const;
  Result<Done> scratch_is_complete(const Parts& parts) const;
  Result<Done> scratch_stands_well(LoopId loop, const std::string& buffer, const Parts& parts) const;
  Result<Done> dot_is_complete(LoopId loop, const Parts& parts) const;
  Result<Done> matrices_are_complete(LoopId loop, const Parts& parts) const;
  Result<Done> zeros_are_absent(const DotFactors& factors, LoopId rows, LoopId terms) const;

  Computation c_;
  LoopNames names_;
  std::vector<LoopStep> applied_;
  std::vector<Loop> table_;  ///< all loops ever made, by handle
  std::vector<Split> splits_;
  std::vector<Fuse> fuses_;
  LoopIds order_;  ///< outermost first
  std::vector<PackedBuffer> packed_;
  DotIntrinsics dots_;
  LoopId matrix_rows_ = kNoLoop;   ///< the loop of a tile whose steps a matrix intrinsic performs
  LoopId parallel_ = kNoLoop;      ///< the loop whose steps form the kernel's range
  int turned_ = -1;                ///< the buffer that is loaded along the second innermost loop
  LoopId turned_write_ = kNoLoop;  ///< the loop of a tile along which results are stored
  LoopId turned_lanes_ = kNoLoop;  ///< the loop whose lanes hold them
  std::vector<Fill> fills_;
  std::vector<Prefetched> prefetched_;
  LoopId written_ = kNoLoop;  ///< the loop inside which results are in `written_scratch_`
  int written_scratch_ = -1;
};

#define QUERN_PRIMITIVE(name, text, makes, takes, form, does) \
  template <>                                                 \
  Result<Done> Nest::change<Primitive::name>(const LoopStep& step);
#include "ir/expr/primitives.def"
#undef QUERN_PRIMITIVE

}  // namespace quern::loops
