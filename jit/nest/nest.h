#pragma once
// The loops of a computation, which the primitives of a schedule change, and the kernel that they make.

#include <optional>
#include <string>
#include <vector>

#include "jit/nest/steps.h"

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

  /// Takes loops that are there, and gives those that the step makes. Fails, and says why in a sentence, where the step
  /// cannot be applied; the nest is then as it was.
  Result<LoopIds> apply(const LoopStep& step);
  /// Steps as a text names them.
  Result<Done> apply(const Schedule& schedule);

  /// Whether there is code for the loops as they are, or why not: steps on the way to a schedule may be
  /// apart.
  Result<Done> is_complete() const;
  /// Of loops that are complete.
  Kernel kernel() const;
  const std::vector<PackedBuffer>& packed() const { return packed_; }
  const Computation& computation() const { return c_; }
  /// The steps that were applied, as text.
  Schedule schedule() const { return names_.written(applied_); }
  /// Outermost first, those of reductions among them.
  const LoopIds& loops() const { return order_; }
  const LoopNames& names() const { return names_; }
  /// The outermost loop that several threads may share and that has, with the loops around it, many steps; or
  /// else the one with the most. Nothing where none has two.
  std::optional<LoopId> shared_loop(int64_t many = 16) const;
  /// Of an index variable of the computation.
  LoopId loop_of(Dim root) const;
  LoopIds loops_of(const std::vector<Dim>& roots) const;
  /// The loop's index in what the computation says, and its extent where that is no part of a split.
  Dim symbol_of(LoopId loop) const { return at(loop).symbol; }
  Dim extent_of(LoopId loop) const { return at(loop).extent; }

 private:
  friend class NestWriter;
  friend class PackedForm;
  static constexpr int kResult = -1;
  static constexpr LoopId kBeforeAll = kNoLoop;
  static constexpr int64_t kMostNumbered = 64;  ///< steps around a parallel loop that are of the range too

  /// A loop, or one that was split or fused into others.
  struct Loop {
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
    LoopId loop, outer, inner;
    int64_t factor;
  };
  struct Fuse {
    LoopId outer, inner, fused;
  };

  /// A scratch buffer that takes the place of another buffer inside of a loop, and what fills it there.
  struct Fill {
    int buffer;            ///< which is read
    int scratch;           ///< a stage's is its own
    LoopId loop;           ///< in whose steps it is filled, or kBeforeAll
    Computation value;     ///< an element of the buffer
    bool is_copy = false;  ///< `value` is defined at all indices: outside of the buffer it is what reads say
  };
  /// The loops by what they are around.
  struct Parts {
    LoopIds outer;    ///< around everything
    LoopIds memory;   ///< inside of these, with loops of the reduction among them: accumulators are
                      ///< in scratch memory
    LoopIds reduced;  ///< of reductions
    LoopIds tile;     ///< inside of a reduction's: accumulators are in registers
  };

  /// What a primitive does to the loops: one function for each row of primitives.def.
  template <Primitive primitive>
  Result<Done> change(const LoopStep& step);

  Loop& at(LoopId loop) { return table_[index_of(loop)]; }
  const Loop& at(LoopId loop) const { return table_[index_of(loop)]; }
  LoopId id_of(const Loop& loop) const { return LoopId(static_cast<int>(&loop - table_.data())); }
  const std::string& name(LoopId loop) const { return names_.of(loop); }
  const std::string& name(const Loop& loop) const { return name(id_of(loop)); }
  /// What a part of a split is a part of.
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
  std::vector<Loop> table_;  ///< by their handles, all that there ever were
  std::vector<Split> splits_;
  std::vector<Fuse> fuses_;
  LoopIds order_;  ///< outermost first
  std::vector<PackedBuffer> packed_;
  DotIntrinsics dots_;
  LoopId matrix_rows_ = kNoLoop;   ///< the loop of a tile whose steps an intrinsic of matrices does
  LoopId parallel_ = kNoLoop;      ///< the loop whose steps make the kernel's range
  int turned_ = -1;                ///< the buffer that is loaded along the innermost loop but one
  LoopId turned_write_ = kNoLoop;  ///< the loop of a tile along which results are stored
  LoopId turned_lanes_ = kNoLoop;  ///< the one whose lanes have them
  std::vector<Fill> fills_;
  LoopId written_ = kNoLoop;  ///< the loop inside of which results are in `written_scratch_`
  int written_scratch_ = -1;
};

#define QUERN_PRIMITIVE(name, text, makes, takes, form, does) \
  template <>                                                 \
  Result<Done> Nest::change<Primitive::name>(const LoopStep& step);
#include "ir/expr/primitives.def"
#undef QUERN_PRIMITIVE

}  // namespace quern::loops
