#pragma once
// Steps over the loops of a nest. A loop is a handle here: names matter only for reading and writing text,
// which `LoopNames` does.

#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"
#include "ir/expr/schedule.h"
#include "jit/compute/computation.h"

namespace quern::loops {

/// A loop of a nest: the computation's loops come first, outermost first, and each step that makes loops adds
/// the next ones.
enum class LoopId : int {};
using LoopIds = std::vector<LoopId>;
constexpr LoopId kNoLoop{-1};
constexpr size_t index_of(LoopId loop) { return static_cast<size_t>(loop); }

/// A primitive and its arguments, as in primitives.def.
struct LoopStep {
  Primitive primitive;
  std::vector<LoopIds> loops{};           ///< by group
  std::vector<ScheduleNumber> numbers{};  ///< closed when applied
  std::vector<std::string> words{};       ///< the tensors and other names, in order
  std::vector<std::string> makes{};       ///< names of its loops in text; LoopNames chooses them if empty
};

/// The names of a nest's loops in text.
class LoopNames {
 public:
  /// Names the computation's loops after their variables; a repeated name gets a number: `i_2`.
  explicit LoopNames(const Computation& computation);

  const std::string& of(LoopId loop) const { return names_[index_of(loop)]; }
  /// The number of all loops ever made.
  size_t size() const { return names_.size(); }

  /// Converts the step to handles. Fails with a sentence if it names a loop that does not exist or was
  /// consumed, or makes one with a name already used.
  Result<LoopStep> read(const ScheduleStep& step) const;
  ScheduleStep written(const LoopStep& step) const;
  Schedule written(const std::vector<LoopStep>& steps) const;

  /// The step with names for the loops it makes, if it has none: `jo` and `ji` for the parts of `j`, `ij` for
  /// the fusion of `i` and `j`, with a trailing `_` if the name is taken.
  LoopStep named(LoopStep step) const;
  /// Registers the loops that the step makes and marks those it consumes. Returns the new loops.
  LoopIds add(const LoopStep& step);

 private:
  LoopId find(std::string_view name) const;
  Result<LoopId> read_loop(const std::string& name, ArgumentKind kind) const;
  std::string there() const;
  std::string unused(std::string name) const;

  std::vector<std::string> names_;
  std::vector<bool> consumed_;
};

}  // namespace quern::loops
