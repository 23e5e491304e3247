#pragma once
// The subcommands of `quern`: their options and what they do.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "repl/command_files.h"
#include "session/run/execution.h"

namespace CLI {
class App;
}

namespace quern {

/// "f" of `@f` and of `f`.
std::string definition_of(const std::string& name);

class CommandLine {
 public:
  /// Declares the subcommands and options.
  explicit CommandLine(CLI::App& app);
  /// Runs the subcommand and returns the exit code: 0 for success, 1 if the program or its input is wrong, 70 for a bug.
  int run();

 private:
  /// The default port of `quern serve`: the same everywhere, so that links to shared texts work for other readers.
  static constexpr uint16_t kPort = 7837;

  void declare_run(CLI::App& run);
  void declare_checks();
  void declare_ir();
  void declare_searches();
  void declare_servers();
  /// Those that pass all their words on.
  void declare_programs();
  int run_command();
  /// A file in a session of its own, which lives as long as this; null, and reported, where it cannot be
  /// read.
  const OpenedFile* open(const std::string& path);
  int repl();
  int run_file();
  /// The request that the options make; reports options that do not fit together, and returns nothing then.
  std::optional<ExecutionOptions> execution_options() const;
  /// The program that the command line names, or null.
  const OpenedFile* open_program();
  int show_takes(const OpenedFile& opened) const;
  /// Reports what is wrong with a run, in the format that is asked for.
  void complain(const std::string& message) const;
  /// Whether each `--input` is of a variable or of a parameter of the entry; reports the first that is not.
  bool has_inputs(const OpenedFile& opened) const;
  int run_program(const OpenedFile& opened, Execution& execution) const;
  int run_statements(const OpenedFile& opened, Execution& execution,
                     std::optional<StatementResult>& last) const;
  int run_and_watch(const OpenedFile& opened, Execution& execution) const;
  int check();
  int test();
  struct TestOutcome {
    size_t passed = 0, failed = 0;
    int code = 0;
  };
  void test_program(const std::string& path, TestOutcome& outcome);
  void test_transcript(const std::string& path, TestOutcome& outcome) const;
  int format_files();
  int ir();
  int explain();
  int document();
  int bisect();
  int reduce();
  int lsp();
  int evaluate();
  int serve();
  /// Ends this program as the one beside it for a subcommand, with the words after that; `where` is when there is one.
  int become(const std::string& command, std::string_view where);
  int version();

  CLI::App& app_;
  std::deque<OpenedFile> opened_;
  std::vector<std::string> files_, codes_;
  std::string socket_;
  std::string file_, entry_, stage_ = "typed", params_, output_, format_ = "text", stdlib_, range_;
  std::vector<std::string> inputs_, command_, passes_;
  std::string filter_, after_, page_;
  uint16_t port_ = kPort;
  CompilerOptions compiler_ = CompilerOptions::from_environment();
  std::optional<std::string> text_;
  std::optional<uint64_t> seed_;
  uint64_t sample_seed_ = 0;
  double limit_ = 60;
  bool check_ = false, json_ = false, interpret_ = false, version_ = false, profile_ = false, update_ = false,
       watch_ = false, help_ = false, open_ = false;
};

}  // namespace quern
