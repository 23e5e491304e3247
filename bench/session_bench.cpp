// The session on generated files whose bodies all differ: cold check, and an edit of one line to its
// diagnostics. Before them, what a start pays for the library: a quarter of it, half, and all.
//
//     quern_session_bench [lines of the cold check] [edits]
//
// Two shapes: functions of six to twelve lines, and functions of 10,000 lines. Each edit changes a digit of a
// literal on a random line; the same through the language server, from the bytes of `didChange` to those of
// `publishDiagnostics`. Prints medians and 99th percentiles in milliseconds, lines per second and peak bytes
// per source byte.

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "repl/session_thread.h"
#include "session/session.h"
#include "tests/lsp/server_process.h"

namespace quern {
namespace {

/// What a piece of work took: by the clock, and of processor time. On a machine that others use too, the
/// second tells more.
struct Took {
  double wall = 0, processor = 0;  ///< milliseconds
};

double now(clockid_t clock) {
  timespec time{};
  clock_gettime(clock, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

class Stopwatch {
 public:
  Took took() const { return {now(CLOCK_MONOTONIC) - wall_, now(CLOCK_THREAD_CPUTIME_ID) - processor_}; }

 private:
  double wall_ = now(CLOCK_MONOTONIC), processor_ = now(CLOCK_THREAD_CPUTIME_ID);
};

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  /// Definitions of `least` to `most` statements each, `lines` lines in all.
  std::string module(size_t lines, size_t least, size_t most) {
    std::string text;
    size_t count = 0;
    for (size_t i = 0; count < lines; ++i) {
      size_t statements = least + random_() % (most - least + 1);
      definition(text, i, statements);
      count += statements + 3;
    }
    return text;
  }

 private:
  void definition(std::string& text, size_t number, size_t statements) {
    static const char* const kFunctions[] = {"nn.relu", "exp", "tanh", "sigmoid", "negative"};
    size_t a = 1 + random_() % 64, b = 1 + random_() % 64;
    text += fmt::format(
        "def @f{0}(%x: Tensor[({1}, {2}), float32], %y: Tensor[({1}, {2}), float32]) -> Tensor[({1}, {2}), "
        "float32] {{\n",
        number, a, b);
    std::string last = "%x";
    for (size_t i = 0; i < statements; ++i) {
      text += fmt::format("  let %v{} = {}({}) {} %y * {}.{}f;\n", i, kFunctions[random_() % 5], last,
                          "+-*"[random_() % 3], 1 + random_() % 99, random_() % 10);
      last = fmt::format("%v{}", i);
    }
    text += number > 0 && random_() % 3 == 0 ? fmt::format("  {} + %x\n}}\n", last)
                                             : fmt::format("  {}\n}}\n", last);
  }

  std::mt19937 random_;
};

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

// In a process of its own, so that the peak is its own.
void in_child(const std::function<void()>& work) {
  std::fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    on_session_thread([&] {
      work();
      return 0;
    });
    std::fflush(stdout);
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status != 0) fmt::print("failed with status {}\n", status);
}

void cold(const std::string& name, const std::string& text) {
  in_child([&] {
    long before = peak_kilobytes();
    Stopwatch watch;
    Session session;
    SourceId source = session.add_source(session.make_module(), "bench.relay", text);
    size_t problems = session.check(source).size();
    Took took = watch.took();
    auto lines = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
    double bytes = static_cast<double>(peak_kilobytes() - before) * 1024;
    fmt::print(
        "cold   {:<22} {:>7.0f} lines  {:>7.0f} lines/s ({:.0f} by processor time)  {:.0f} bytes/byte\n",
        name, lines, lines / took.wall * 1000, lines / took.processor * 1000,
        bytes / static_cast<double>(text.size()));
    if (problems) fmt::print("it has {} diagnostics: the figures mean nothing\n", problems);
  });
}

/// A new session's library: the median time of registering the first `files` of its texts.
void start(size_t files) {
  std::vector<Session::LibraryFile> library = Session::builtin_library();
  library.resize(std::min(files, library.size()));
  size_t bytes = 0, declarations = 0;
  std::vector<double> times;
  for (int i = 0; i < 101; ++i) {
    auto copy = library;
    Stopwatch watch;
    Session session(std::move(copy));
    times.push_back(watch.took().wall);
    if (i > 0) continue;
    for (const SourceId source : session.library()) {
      bytes += session.text(source).size();
      declarations += session.declarations(source).size();
    }
  }
  std::sort(times.begin(), times.end());
  fmt::print("start  {} library files, {} declarations, {} KB: median {:.2f} ms\n", library.size(),
             declarations, bytes / 1000, times[times.size() / 2]);
}

void print_times(const std::string& name, const char* what, std::vector<double> times) {
  std::sort(times.begin(), times.end());
  fmt::print("edit   {:<22} {:>7} edits  {:<18} median {:>6.2f} ms  p99 {:>6.2f} ms\n", name, times.size(),
             what, times[times.size() / 2], times[times.size() * 99 / 100]);
}

/// One after the other: a digit of a random literal becomes another one.
class DigitEdits {
 public:
  explicit DigitEdits(std::string& text) : text_(text) {
    for (size_t at = text.find("f;\n"); at != std::string::npos; at = text.find("f;\n", at + 1))
      digits_.push_back(at - 1);
  }
  /// Where the text was changed.
  size_t next() {
    size_t at = digits_[random_() % digits_.size()];
    text_[at] = text_[at] == '9' ? '0' : static_cast<char>(text_[at] + 1);
    return at;
  }

 private:
  std::string& text_;
  std::vector<size_t> digits_;
  std::mt19937 random_{7};
};

void edits(const std::string& name, std::string text, size_t count) {
  in_child([&] {
    Session session;
    SourceId source = session.add_source(session.make_module(), "bench.relay", text);
    session.check(source);
    DigitEdits digits(text);
    std::vector<double> wall, processor;
    for (size_t i = 0; i < count; ++i) {
      auto at = static_cast<uint32_t>(digits.next());
      Stopwatch watch;
      session.edit(source, {at, at + 1}, std::string_view(text).substr(at, 1));
      session.check(source);
      wall.push_back(watch.took().wall);
      processor.push_back(watch.took().processor);
    }
    print_times(name, "by the clock", wall);
    print_times(name, "processor time", processor);
  });
}

std::string as_json(std::string_view text) {
  std::string out = "\"";
  for (char c : text) out += c == '\n' ? "\\n" : c == '"' ? "\\\"" : std::string(1, c);
  return out + "\"";
}

void served_edits(const std::string& name, std::string text, size_t count) {
  lsp_test::ServerProcess server;
  auto send = [&](std::string_view method, const std::string& params, const char* id = "") {
    server.write_message(
        fmt::format(R"({{"jsonrpc":"2.0",{}"method":"{}","params":{}}})", id, method, params));
  };
  auto wait_for = [&](int version) {
    std::string wanted = fmt::format("\"version\":{}}}", version);
    while (auto message = server.read_message())
      if (message->find("publishDiagnostics") != std::string::npos &&
          (message->find(wanted) != std::string::npos ||
           message->find(fmt::format("\"version\":{},", version)) != std::string::npos))
        return true;
    return false;
  };
  send("initialize", R"({"processId":null,"rootUri":null,"capabilities":{}})", R"("id":1,)");
  send("initialized", "{}");
  std::string uri = R"("uri":"file:///bench.relay")";
  send("textDocument/didOpen",
       fmt::format(R"({{"textDocument":{{{},"languageId":"quern","version":0,"text":{}}}}})", uri,
                   as_json(text)));
  if (!wait_for(0)) return fmt::print("the server does not answer\n");
  DigitEdits digits(text);
  std::vector<double> times;
  for (size_t i = 1; i <= count; ++i) {
    size_t at = digits.next();
    auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(at), '\n');
    size_t column = at - (text.rfind('\n', at) + 1);
    std::string position = R"({{"line":{},"character":{}}})";
    std::string params = fmt::format(
        R"({{"textDocument":{{{},"version":{}}},"contentChanges":[{{"range":{{"start":{},"end":{}}},"text":"{}"}}]}})",
        uri, i, fmt::format(fmt::runtime(position), line, column),
        fmt::format(fmt::runtime(position), line, column + 1), text[at]);
    Stopwatch watch;
    send("textDocument/didChange", params);
    if (!wait_for(static_cast<int>(i))) return fmt::print("the server does not answer\n");
    times.push_back(watch.took().wall);
  }
  print_times(name, "through the server", times);
}

int run(size_t lines, size_t count) {
  const size_t files = Session::builtin_library().size();
  for (const size_t some : {files / 4, files / 2, files}) start(some);
  cold("small functions", Generator(1).module(lines, 3, 9));
  cold("10,000-line functions", Generator(2).module(lines, 9997, 9997));
  edits("small functions", Generator(3).module(10000, 3, 9), count);
  edits("10,000-line function", Generator(4).module(10000, 9997, 9997), count);
  served_edits("small functions", Generator(3).module(10000, 3, 9), count);
  served_edits("10,000-line function", Generator(4).module(10000, 9997, 9997), count);
  return 0;
}

}  // namespace
}  // namespace quern

int main(int argc, char** argv) {
  size_t lines = argc > 1 ? std::stoul(argv[1]) : 100000, count = argc > 2 ? std::stoul(argv[2]) : 1000;
  return quern::run(lines, count);
}
