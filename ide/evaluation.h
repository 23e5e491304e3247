#pragma once
// Evaluates parts of a file for an editor: an expression in place, a test, the whole program. Runs user code, so it
// belongs in a process that can be killed at any time.

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
  /// Statements, or one expression, evaluated after the statements that end before `offset`, as a statement at
  /// `offset` would be. `range` is their text in the file.
  struct Statements {
    uint32_t offset;
    Range range;
    /// Statements of a block that an expression in it needs, in order: they and it are evaluated as a block.
    std::vector<Range> before;
  };
  /// The test with this name; all tests if empty.
  struct Tests {
    std::string name;
  };
  /// Calls of a function with random arguments, whose types have to be known.
  struct Timing {
    std::string function;  ///< without `@`
  };
  /// All statements in order, then `@main` if it takes no arguments.
  struct Program {};
  /// The peak rates of the machine; needs no file.
  struct Machine {};
  /// The inputs of a transcript (ide/transcript.h), which run at a prompt.
  struct Inputs {};

  std::string path;  ///< of the file
  std::map<std::string, std::string>
      texts;  ///< of files that are open in the editor, by path, this one included
  std::variant<Statements, Tests, Timing, Program, Machine, Inputs> what;
};

/// A diagnostic as the evaluating process sends it.
struct EvaluationProblem {
  std::string code, file;
  Range range;          ///< in the file's text
  std::string message;  ///< followed by the notes, one per line
};

/// A text that replaces a range.
struct Replacement {
  Range range;
  std::string text;
};

/// The outcome of a statement, a test, a function or a step of a transcript.
struct EvaluatedPart {
  Range range;  ///< in the file's text
  /// The variable that it binds, without `%`, the test or the function, or the text of a step; else empty.
  std::string name;
  bool is_test = false;                 ///< a step is one too
  std::optional<ValueSummary> value{};  ///< nothing for a test or on failure
  std::optional<EvaluationProblem> failure{};
  std::string note{};  ///< how long calls took
  /// Updates the expected output of a step to the actual one.
  std::optional<Replacement> rewrite{};
};

struct Evaluation {
  std::vector<EvaluatedPart> parts;
  /// Errors in what comes next, which stopped the evaluation.
  std::vector<EvaluationProblem> problems;
  std::optional<Peaks> peaks{};  ///< if requested
};

/// `session` is new. `print` receives the lines that the program prints. `save` writes nothing: only running the
/// program does. Inputs need a prompt; this function does not take them.
Evaluation evaluate(Session& session, const EvaluationRequest& request, const CompilerOptions& compiler,
                    const std::function<void(std::string_view)>& print);

}  // namespace quern::ide
