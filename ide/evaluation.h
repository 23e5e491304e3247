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
  /// The inputs of a transcript (ide/transcript.h), which a prompt takes.
  struct Inputs {};

  std::string path;  ///< of the file
  std::map<std::string, std::string>
      texts;  ///< of files that are open in the editor, by path, this one included
  std::variant<Statements, Tests, Timing, Program, Machine, Inputs> what;
};

/// A diagnostic as it crosses from the process that evaluates.
struct EvaluationProblem {
  std::string code, file;
  Range range;          ///< in the file's text
  std::string message;  ///< the notes below it, a line each
};

/// A text in the place of another one.
struct Replacement {
  Range range;
  std::string text;
};

/// The outcome of a statement, a test, a function or a step of a transcript.
struct EvaluatedPart {
  Range range;  ///< of it in the file's text
  /// Of the variable that it binds, without `%`, of the test or the function, or what a step does; else empty.
  std::string name;
  bool is_test = false;                 ///< a step is one too
  std::optional<ValueSummary> value{};  ///< nothing of a test, and on failure
  std::optional<EvaluationProblem> failure{};
  std::string note{};  ///< how long calls took
  /// What makes the output of a step the one that it has.
  std::optional<Replacement> rewrite{};
};

struct Evaluation {
  std::vector<EvaluatedPart> parts;
  /// Mistakes in what comes next, which kept it from going on.
  std::vector<EvaluationProblem> problems;
  std::optional<Peaks> peaks{};  ///< where these were asked for
};

/// `session` is new. `print` takes the lines that the program prints. Nothing is saved: that is for who runs the
/// program. Inputs need a prompt, and are not for this function.
Evaluation evaluate(Session& session, const EvaluationRequest& request, const CompilerOptions& compiler,
                    const std::function<void(std::string_view)>& print);

}  // namespace quern::ide
