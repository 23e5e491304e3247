#pragma once
// What the two evaluators (interpreter and virtual machine) share: how evaluation ends, and how it reaches
// the outside.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/expr.h"
#include "ir/result.h"
#include "ir/value.h"

namespace quern {

/// A failure while a program runs: what, where, and the calls that led there (innermost first).
struct EvaluationError {
  std::string message;
  Origin origin;
  std::vector<Origin> calls;
};

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

/// Effects on the outside world.
class Host {
 public:
  virtual ~Host() = default;
  virtual void print(std::string_view line) = 0;
  /// A value of `type` from a file; `entry` picks one tensor of several. Checks every dtype and shape against
  /// the type.
  virtual Result<Value> load(std::string_view path, std::string_view entry, Type type) = 0;
  virtual Result<Done> save(std::string_view path, const Value& value, Type type) = 0;
};

/// The line that `print` writes: labels and values separated by spaces. `values` has one entry per argument,
/// empty where the argument is a label.
std::string format_print(const IntrinsicExpr& print, const std::vector<Value>& values);

/// "" where an assertion's two values agree; else the message.
std::string check_assertion(const IntrinsicExpr& assertion, const std::vector<Value>& values);

/// Why a `match?` that has no arm for a value fails.
std::string no_arm_matches(const Value& value);

/// Binds dimension variables by matching a value's run-time shapes against its type. Returns the text of the
/// first disagreement, or "" when all dims agree: a variable seen for the first time takes the value.
std::string bind_dims(Type type, const Value& value, std::unordered_map<Dim, int64_t>& dims);

}  // namespace quern
