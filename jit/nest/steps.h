#pragma once
// Steps over the loops of a nest. A loop is a handle here: what it is called matters where a text is read and where one is
// written, and both are done by `LoopNames`.

#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.h"
#include "ir/expr/schedule.h"
#include "jit/compute/computation.h"

namespace quern::loops {

/// A loop of a nest: those of the computation are the first ones, outermost first, and each step that makes
/// loops makes the next ones.
enum class LoopId : int {};
using LoopIds = std::vector<LoopId>;
constexpr LoopId kNoLoop{-1};
constexpr size_t index_of(LoopId loop) { return static_cast<size_t>(loop); }

/// A primitive and what it is given, as primitives.def says it.
struct LoopStep {
  Primitive primitive;
  std::vector<LoopIds> loops{};           ///< in its groups
  std::vector<ScheduleNumber> numbers{};  ///< closed in what is applied
  std::vector<std::string> words{};       ///< the tensors and other things that it names, in order
  std::vector<std::string>
      makes{};  ///< what its loops are called in text; LoopNames finds names where none are given
};

/// What the loops of a nest are called in text.
class LoopNames {
 public:
  /// Of the computation's loops: as their variables, where a name that there is already gets a number: `i_2`.
  explicit LoopNames(const Computation& computation);

  const std::string& of(LoopId loop) const { return names_[index_of(loop)]; }
  /// Of all that there ever were.
  size_t size() const { return names_.size(); }

  /// The step over handles. Fails, and says why in a sentence, where it names a loop that is not there or that others were
  /// made of, and where it makes one of a name that there is or was.
  Result<LoopStep> read(const ScheduleStep& step) const;
  ScheduleStep written(const LoopStep& step) const;
  Schedule written(const std::vector<LoopStep>& steps) const;

  /// The step with names for what it makes, where it has none: `jo` and `ji` for the parts of `j`, `ij` for `i` and `j` as
  /// one, with a `_` behind it where there is a loop of that name.
  LoopStep named(LoopStep step) const;
  /// Knows what the step makes, and that what it makes these of is not there any more. Gives what it makes.
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
