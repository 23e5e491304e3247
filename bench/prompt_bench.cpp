// How soon a prompt answers, from bytes written to a pseudo-terminal to bytes read from it.
//
//     quern_prompt_bench [COMMAND...]
//
// Without a command: Quern alone, in a session of 1,000 functions. With one: its start to the prompt beside Quern's, in turns,
// which says what of a start is the machine's. Prints medians and 99th percentiles in milliseconds.

#include <fmt/format.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/temporary_folder.h"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr const char* kPrompt = ">>> ";

/// A program on a terminal of 100 columns and 30 rows.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command) {
    winsize size{};
    size.ws_col = 100;
    size.ws_row = 30;
    child_ = forkpty(&terminal_, nullptr, nullptr, &size);
    if (child_ != 0) return;
    setenv("TERM", "xterm-256color", 1);
    setenv("QUERN_HISTORY", "off", 1);
    std::vector<char*> arguments;
    for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  ~Program() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
    close(terminal_);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// What it takes until the program has shown something with `text` in it, and then nothing for a moment.
  double time_to(std::string_view keys, std::string_view text) {
    const auto start = Clock::now();
    type(keys);
    auto last = Clock::now();
    std::string shown;
    while (shown.empty() || shown.find(text) == std::string::npos) {
      if (!take(shown, 2'000)) return Milliseconds(Clock::now() - start).count();
      last = Clock::now();
    }
    while (take(shown, 3)) last = Clock::now();
    return Milliseconds(last - start).count();
  }

 private:
  void type(std::string_view keys) {
    while (!keys.empty()) {
      const ssize_t n = write(terminal_, keys.data(), keys.size());
      if (n <= 0) return;
      keys.remove_prefix(static_cast<size_t>(n));
    }
  }
  bool take(std::string& shown, int milliseconds) {
    pollfd fd{terminal_, POLLIN, 0};
    std::array<char, 1 << 14> buffer;
    if (poll(&fd, 1, milliseconds) <= 0) return false;
    const ssize_t n = read(terminal_, buffer.data(), buffer.size());
    if (n <= 0) return false;
    shown.append(buffer.data(), static_cast<size_t>(n));
    return true;
  }

  int terminal_ = -1;
  pid_t child_ = -1;
};

void print(const std::string& what, std::vector<double> times) {
  std::ranges::sort(times);
  fmt::print("{:44} median {:8.3f}   p99 {:8.3f}   of {}\n", what, times[times.size() / 2],
             times[times.size() * 99 / 100], times.size());
  std::fflush(stdout);
}

/// 1,000 functions, each of which but the first calls the one before.
std::string functions() {
  std::string text = "def @f0(%x: Tensor[(64, 64), float32]) { nn.relu(%x) }\n";
  for (int i = 1; i < 1000; ++i)
    text += fmt::format("def @f{}(%x: Tensor[(64, 64), float32]) {{ let %y = @f{}(%x); %y * {}.5 + 1.0 }}\n",
                        i, i - 1, i);
  return text;
}

void bench_session() {
  const quern::TemporaryFolder folder;
  const std::string file = folder.string() + "/functions.relay";
  std::ofstream(file) << functions();
  Program quern({QUERN_BINARY});
  quern.time_to("", kPrompt);
  print("`:load` of 1,000 functions", {quern.time_to(":load " + file + "\r", "\n@f999")});
  quern.time_to("let %a = ones((64, 64))\r", kPrompt);

  std::vector<double> keys, completions, scalars, products, redefinitions;
  const std::string line = "let %result = nn.softmax(nn.dense(@f3(%a), transpose(%a)), axis=-1) + @f";
  for (int round = 0; round < 20; ++round) {
    for (const char c : line) keys.push_back(quern.time_to(std::string(1, c), ""));
    completions.push_back(quern.time_to("\t", ""));
    quern.time_to("\x03", kPrompt);
    for (const char* half : {"nn.co", "let %b = nn.dense(%", "nn.conv2d(%a, %a, pad", ":pro"}) {
      quern.time_to(half, "");
      completions.push_back(quern.time_to("\t", ""));
      quern.time_to("\x03", kPrompt);
    }
  }
  for (int i = 0; i < 200; ++i)
    scalars.push_back(quern.time_to(fmt::format("{} + 1\r", i), fmt::format("int32 {}", i + 1)));
  const std::string product = "sum(nn.dense(%a, %a))\r";
  print("a key to the redrawn line", keys);
  print("completion", completions);
  print("a scalar's answer", scalars);
  print("the first 64x64 product", {quern.time_to(product, "float32 262144")});
  for (int i = 0; i < 100; ++i) products.push_back(quern.time_to(product, "float32 262144"));
  print("a 64x64 product again", products);
  for (int i = 0; i < 50; ++i)
    redefinitions.push_back(quern.time_to(
        fmt::format("def @f500(%x: Tensor[(64, 64), float32]) {{ @f499(%x) * {}.5 }}\r", i), "float32]\r\n"));
  print("another definition of one of 1,000", redefinitions);
}

void bench_start(const std::vector<std::string>& other) {
  const std::array<std::pair<std::string_view, std::string_view>, 7> prompts{{{"python3", ">>> "},
                                                                              {"ipython", "]: "},
                                                                              {"ghci", "> "},
                                                                              {"ocaml", "# "},
                                                                              {"utop", "# "},
                                                                              {"clang-repl", "> "},
                                                                              {"julia", "julia> "}}};
  std::string_view prompt = "> ";
  for (const auto& [name, text] : prompts)
    if (other[0].find(name) != std::string::npos) prompt = text;
  std::vector<double> own, others;
  for (int i = 0; i < 31; ++i) {
    own.push_back(Program({QUERN_BINARY}).time_to("", kPrompt));
    others.push_back(Program(other).time_to("", prompt));
  }
  print("quern, start to prompt", own);
  print(other[0] + ", start to prompt", others);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1)
    bench_start({argv + 1, argv + argc});
  else
    bench_session();
}
