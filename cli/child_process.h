#pragma once
// Programs run as child processes: their output and how they end.

#include <chrono>
#include <string>
#include <vector>

namespace quern {

struct ChildOutcome {
  std::string out, err;
  int code = 0;    ///< the exit code; 127 where the program could not be started
  int signal = 0;  ///< that ended it, or 0
  bool timed_out = false;

  bool is_fine() const { return code == 0 && signal == 0 && !timed_out; }
};

/// Runs a command (its first word is a program on PATH, or a path) until it ends. After `limit` it is killed, with
/// all that it started. `variables` (NAME=value) come before those of this process.
ChildOutcome run_child(const std::vector<std::string>& command, std::chrono::milliseconds limit,
                       const std::vector<std::string>& variables = {});

/// The path of this program.
std::string own_program();
/// The command `quern evaluate`, word by word, with the library of this folder, or the built-in one without.
std::vector<std::string> evaluator_command(const std::string& stdlib);

/// Describes how a child ended: "it ends by signal 11 (Segmentation fault)".
std::string ending_of(const ChildOutcome& outcome);

/// The first pair of lines in which two outputs differ; "" where they agree. Numbers with a point or an exponent
/// agree if they differ by less than one part in 10,000 of the larger.
std::string difference_of_outputs(const std::string& actual, const std::string& expected);

}  // namespace quern
