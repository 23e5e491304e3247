// A bug ends no session: checks that fail at places by chance, in the REPL, the language server and `quern
// run`.
//
// QUERN_FAILING_PLACES=n takes n places of each.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/base/internal_failure.h"

#ifdef QUERN_FAIL_CHECKS

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "jit/cache/kernel_cache.h"
#include "lsp/server.h"
#include "lsp/stream_transport.h"
#include "repl/commands/commands.h"
#include "repl/workspace.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using nlohmann::json;
using testing::AnyOf;
using testing::ContainsRegex;
using testing::HasSubstr;

int places() {
  const char* wanted = std::getenv("QUERN_FAILING_PLACES");
  return wanted ? std::atoi(wanted) : 200;
}

/// A text that comes through every stage, none of it as of another number; its value is 1.
std::string program(int number) {
  return fmt::format(
      "op shifted{0}(%a: Tensor[(n,), t]) -> Tensor[(n,), t] {{ [i] => (%a[i - 1] else 0) * {0} + 1 }}\n"
      "def @f{0}[n](%x: Tensor[(n, 3), float32]) {{ nn.softmax(%x * {0}f, axis=0) }}\n"
      "let %g{0} = grad(fn (%x: Tensor[(4, 3), float32]) {{ sum(@f{0}(%x) * %x) }})(ones((4, 3)));\n"
      "let %s{0} = shifted{0}([1f, 2f]);\n"
      "sum(@f{0}(ones((4, 3)))) / 3 + sum(%g{0}.0) * 0 + sum(%s{0}) * 0\n",
      number + 2);
}
constexpr const char* kValue = "float32 1\n";

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// One error that names the stage and, but for a text that is being taken in, shows the declaration.
void expect_told(const std::string& text, const std::string& where) {
  EXPECT_EQ(count(text, "a bug of Quern"), 1u) << where << "\n" << text;
  // A definition of an earlier input that is checked again.
  if (text.find("has errors now") != std::string::npos) return;
  EXPECT_THAT(text, HasSubstr("quern-report-")) << where;
  EXPECT_THAT(text, AnyOf(ContainsRegex("in the stage `[a-z_]+`.*\n--> <input [0-9]+>:[0-9]"),
                          HasSubstr("in the stage `text`")))
      << where;
}

/// Reports go to a folder of the test's own.
class FailingChecks : public testing::Test {
 protected:
  FailingChecks() {
    setenv("TMPDIR", folder.string().c_str(), 1);
    // The code is not what is tested here.
    setenv("QUERN_TIERS", "first", 1);
  }
  ~FailingChecks() override {
    fail_check(0);
    unsetenv("TMPDIR");
  }
  TemporaryFolder folder;
  std::mt19937 random{7};
};

struct Answer {
  CommandOutcome outcome;
  std::string out, err;
};
Answer enter(Workspace& workspace, const std::string& input) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  CommandOutcome outcome = take_input(workspace, input);
  std::fflush(stdout);
  return {outcome, testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST_F(FailingChecks, EndNoInputOfTheReplButTheOneThatTheyAreIn) {
  Session session;
  Workspace workspace(session, {});
  ASSERT_EQ(enter(workspace, "let %kept = [1f, 2f];").outcome, CommandOutcome::Fine);
  const int64_t before = checks_executed();
  ASSERT_EQ(enter(workspace, program(0)).out, kValue);
  const int64_t executed = checks_executed() - before;
  int failed = 0;
  for (int place = 1; place <= places(); ++place) {
    const int64_t check = 1 + static_cast<int64_t>(random()) % executed;
    SCOPED_TRACE(fmt::format("place {}, check {}", place, check));
    fail_check(check);
    const Answer answer = enter(workspace, program(place));
    fail_check(0);
    if (answer.outcome == CommandOutcome::Failed || !answer.err.empty()) {
      ++failed;
      expect_told(answer.err, program(place));
    }
    EXPECT_EQ(enter(workspace, "%kept").out, "Tensor[(2,), float32] [1, 2]\n");
    const Answer again = enter(workspace, program(place));
    EXPECT_EQ(again.out, kValue) << again.err << answer.err;
    EXPECT_EQ(again.err, "") << answer.err;
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, places() / 2);
}

/// A server of this process, and its client.
class Server {
 public:
  Server() {
    if (pipe(to_.data()) != 0 || pipe(from_.data()) != 0) std::abort();
    thread_ = std::thread([this] {
      Session session;
      lsp::StreamTransport transport(to_[0], from_[1]);
      code = lsp::run_language_server(session, transport);
      close(from_[1]);
    });
    transport_.emplace(from_[0], to_[1]);
    call("initialize", {{"capabilities", json::object()}});
  }
  ~Server() {
    call("shutdown", nullptr);
    notify("exit", nullptr);
    thread_.join();
    EXPECT_EQ(code, 0);
  }
  void notify(const char* method, const json& params) {
    transport_->write(json{{"jsonrpc", "2.0"}, {"method", method}, {"params", params}}.dump());
  }
  json call(const char* method, const json& params) {
    transport_->write(json{{"jsonrpc", "2.0"}, {"id", ++id_}, {"method", method}, {"params", params}}.dump());
    return await([&](const json& m) { return m.value("id", json()) == id_; });
  }
  /// Gives the document a text; what the client is told of it until its diagnostics are there.
  std::string change(int version, const std::string& text) {
    json params = {{"textDocument",
                    {{"uri", "untitled:a"}, {"version", version}, {"text", text}, {"languageId", "quern"}}}};
    if (version > 1) params["contentChanges"] = json::array({{{"text", text}}});
    notify(version > 1 ? "textDocument/didChange" : "textDocument/didOpen", params);
    std::string told;
    await([&](const json& m) {
      const std::string method = m.value("method", "");
      const json shown = m.value("params", json::object());
      if (method == "window/showMessage") told += shown.value("message", "") + "\n";
      if (method != "textDocument/publishDiagnostics" || shown.value("version", 0) != version) return false;
      for (const json& d : shown["diagnostics"]) told += d.value("message", "") + "\n";
      return true;
    });
    return told;
  }

 private:
  template <class Wanted>
  json await(const Wanted& wanted) {
    while (auto text = transport_->read())
      if (json message = json::parse(*text); wanted(message)) return message;
    ADD_FAILURE() << "the server does not answer";
    return nullptr;
  }

  std::array<int, 2> to_, from_;
  std::optional<lsp::StreamTransport> transport_;
  std::thread thread_;
  int id_ = 0, code = -1;
};

TEST_F(FailingChecks, LetTheLanguageServerLiveInAnotherThread) {
  Server server;
  int version = 1;
  const int64_t before = checks_executed();
  EXPECT_EQ(server.change(version, program(0)), "");
  const int64_t executed = checks_executed() - before;
  const json position = {{"textDocument", {{"uri", "untitled:a"}}},
                         {"position", {{"line", 1}, {"character", 50}}}};
  int failed = 0;
  for (int place = 1; place <= places(); ++place) {
    const int64_t check = 1 + static_cast<int64_t>(random()) % executed;
    SCOPED_TRACE(fmt::format("place {}, check {}", place, check));
    fail_check(check);
    const std::string told = server.change(++version, program(place));
    fail_check(0);
    if (!told.empty()) {
      ++failed;
      EXPECT_EQ(count(told, "does not hold"), 1u) << told;
    }
    EXPECT_EQ(server.change(++version, program(place) + " "), "") << told;
    EXPECT_THAT(server.call("textDocument/hover", position).dump(), HasSubstr("nn.softmax"));
    if (HasFailure()) return;
  }
  EXPECT_GT(failed, places() / 2);
}

TEST_F(FailingChecks, EndARunWithAnErrorAndItsOwnExitCode) {
  const std::string file = (folder / "main.relay").string();
  std::ofstream(file) << program(0);
  auto run = [&](int64_t check) {
    setenv("QUERN_FAIL_CHECK", std::to_string(check).c_str(), 1);
    ProgramOutcome outcome = run_program({QUERN_BINARY, "run", file}, folder.string());
    unsetenv("QUERN_FAIL_CHECK");
    return outcome;
  };
  int64_t executed = 1;
  while (run(executed).code == 70) executed *= 2;
  EXPECT_EQ(run(executed).out, kValue);
  int failed = 0;
  // A process takes as long as ten inputs.
  for (int place = 1; place <= places() / 4; ++place) {
    const int64_t check = 1 + static_cast<int64_t>(random()) % executed;
    const ProgramOutcome outcome = run(check);
    if (outcome.code == 0 && outcome.err.empty()) continue;
    ++failed;
    EXPECT_EQ(outcome.code, 70) << check << outcome.err;
    EXPECT_EQ(count(outcome.err, "a bug of Quern"), 1u) << check << outcome.err;
    EXPECT_THAT(outcome.err, HasSubstr("in the stage `")) << check;
  }
  EXPECT_GT(failed, places() / 16);
}

}  // namespace
}  // namespace quern

#endif
