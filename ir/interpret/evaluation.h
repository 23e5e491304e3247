#pragma once
// Shared by the two evaluators (interpreter and virtual machine): how evaluation fails, and how it reaches
// the outside world.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/base/result.h"
#include "ir/expr/expr.h"
#include "ir/value/value.h"

namespace quern {

/// What kind of failure stopped a program.
enum class FailureKind : uint8_t {
  Evaluation,  ///< any other
  Dims,        ///< two dims that must agree do not
  Index,       ///< an index out of bounds
  File,        ///< a file that cannot be read or written
  NoCase,      ///< a `match?` without a case for its value
  TooDeep,     ///< recursion too deep
};

/// A failure while a program runs: what, where, and the calls that led there (innermost first).
struct EvaluationError {
  std::string message;
  Origin origin;
  std::vector<Origin> calls = {};
  FailureKind kind = FailureKind::Evaluation;
  std::vector<std::pair<Origin, std::string>> notes = {};
  size_t more_calls = 0;  ///< further calls that are not shown
};

/// A call that has not returned, for EvaluationError::calls.
struct OpenCall {
  Origin origin;             ///< declaration 0 for the outermost frame
  std::vector<Origin> tail;  ///< tail calls that have reused its frame, the last first
};
/// Records that `call` reuses `frame`: repetitions of one call are kept once, and of many different calls
/// only the last few.
void take_frame(OpenCall& frame, const Origin& call);
/// Fills in the calls that led to the error's origin: those inlined around it, then the open ones (given
/// outermost first).
void tell_calls(EvaluationError& error, const std::vector<OpenCall>& open);

class EvaluationResult {
 public:
  EvaluationResult(Value value) : state_(std::move(value)) {}            // NOLINT
  EvaluationResult(EvaluationError error) : state_(std::move(error)) {}  // NOLINT
  explicit operator bool() const { return state_.index() == 0; }
  const Value& value() const { return std::get<0>(state_); }
  const EvaluationError& error() const { return std::get<1>(state_); }

 private:
  std::variant<Value, EvaluationError> state_;
};

/// The key number `n` of a seed, in Relay's words.
Value random_key(uint64_t seed, uint64_t n);

/// Effects on the outside world.
class Host {
 public:
  virtual ~Host() = default;
  virtual void print(std::string_view line) = 0;
  /// How values are printed.
  virtual ValueStyle style() const { return {}; }
  /// Loads a value of `type` from a file; `entry` selects one tensor of several. Checks every dtype and shape
  /// against the type.
  virtual Result<Value> load(std::string_view path, std::string_view entry, Type type) = 0;
  /// `tokens` is the file of the vocabulary for text, or "".
  virtual Result<Done> save(std::string_view path, std::string_view tokens, const Value& value,
                            Type type) = 0;
  /// What was saved to a file; nothing if it does not exist.
  virtual Result<std::optional<Value>> restore(std::string_view path, Type type) = 0;
  /// The next of the run's random keys.
  virtual Value next_key() { return random_key(0, keys_++); }
  /// How far long work is, with a line about it.
  virtual void progress(int64_t /*done*/, int64_t /*all*/, std::string_view /*line*/) {}

 protected:
  uint64_t keys_ = 0;  ///< drawn so far
};

/// Whether the relation holds for these values of its sides.
bool holds(DimRelation relation, int64_t left, int64_t right);
/// The failure of a condition that does not hold for these values of its sides (nothing: a side has none).
EvaluationError broken(const DimCondition& condition, std::optional<int64_t> left,
                       std::optional<int64_t> right);

/// The text that `print` writes: labels and values. `values` has one entry per argument, empty for a label.
std::string format_print(const IntrinsicExpr& print, const std::vector<Value>& values,
                         const ValueStyle& style);

/// The name of the file of a `load`, `save` or `restore`, whatever the style of printed values.
std::string file_name_of(const IntrinsicExpr& use, const std::vector<Value>& values);

/// Evaluates a `progress` on its arguments.
void report_progress(Host& host, const IntrinsicExpr& progress, const std::vector<Value>& values);

/// The result of `clock()`.
Value clock_value();

/// "" if an assertion's two values agree, otherwise the message.
std::string check_assertion(const IntrinsicExpr& assertion, const std::vector<Value>& values);

/// The message of a `match?` that has no arm for a value.
std::string no_arm_matches(const Value& value);

/// Binds dimension variables by matching a value's run-time shapes against its type. Returns the text of the
/// first disagreement, or "" when all dims agree: a variable seen for the first time takes the value.
std::string bind_dims(Type type, const Value& value, std::unordered_map<Dim, int64_t>& dims);

/// Whether the size of a tensor is representable, even of an empty one, whose other extents are arbitrary.
bool fits_memory(DType dtype, const Shape& shape);

}  // namespace quern
