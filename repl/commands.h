#pragma once
// The subcommands of `quern`: their options and what they do.

#include <map>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace quern {

class CommandLine {
 public:
  /// Declares the subcommands and options.
  explicit CommandLine(CLI::App& app);
  /// Does what was asked for; the exit code (design: 0 fine, 1 the program or its input is wrong, 70 a bug).
  int run();

 private:
  int repl();
  int run_file();
  int check();
  int test();
  int format_files();
  int ir();
  int explain();
  int document();
  int lsp();
  int version();

  CLI::App& app_;
  std::vector<std::string> files_, codes_;
  std::string file_, entry_, stage_ = "typed", params_, output_, format_ = "text", stdlib_, range_;
  std::vector<std::string> inputs_;
  std::string filter_;
  bool check_ = false, json_ = false, interpret_ = false, version_ = false, profile_ = false;
};

}  // namespace quern
