#pragma once
// Parts of a file evaluated for an editor: an expression where it stands, a test, the whole program. Runs user
// code, so it belongs into a process that may be ended at any time.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ide/value_summary.h"
#include "session/run/execution.h"
#include "session/run/profile_report.h"

namespace quern::ide {

struct EvaluationRequest {
  /// Statements, or one expression, evaluated after the statements that end before `offset`; as a statement
  /// that is at `offset` would be. `range` is where their text stands in the file.
  struct Statements {
    uint32_t offset;
    Range range;
  };
  /// The test of a name; all of them without one.
  struct Tests {
    std::string name;
  };
  /// Calls of a function with random arguments, whose types have to be known.
  struct Timing {
    std::string function;  ///< without `@`
  };
  /// All statements in order, then `@main` where it takes nothing.
  struct Program {};
  /// The peak rates of the machine, for which no file is asked.
  struct Machine {};

  std::string path;  ///< of the file
  std::map<std::string, std::string>
      texts;  ///< of files that are open in the editor, by path, this one included
  std::variant<Statements, Tests, Timing, Program, Machine> what;
};

/// A diagnostic as it crosses from the process that evaluates.
struct EvaluationProblem {
  std::string code, file;
  Range range;          ///< in the file's text
  std::string message;  ///< the notes below it, a line each
};

/// The outcome of a statement, a test or a function.
struct EvaluatedPart {
  Range range;       ///< of it in the file's text
  std::string name;  ///< of the variable that it binds, without `%`, of the test or the function; else empty
  bool is_test = false;
  std::optional<ValueSummary> value{};  ///< nothing of a test, and on failure
  std::optional<EvaluationProblem> failure{};
  std::string note{};  ///< how long calls took
};

struct Evaluation {
  std::vector<EvaluatedPart> parts;
  /// Mistakes in what comes next, which kept it from going on.
  std::vector<EvaluationProblem> problems;
  std::optional<Peaks> peaks{};  ///< where these were asked for
};

/// `session` is new. `print` takes the lines that the program prints. Nothing is
/// saved: that is for who runs the program.
Evaluation evaluate(Session& session, const EvaluationRequest& request, const CompilerOptions& compiler,
                    const std::function<void(std::string_view)>& print);

}  // namespace quern::ide
