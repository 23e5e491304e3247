// Prompts that attach to a language server: they see the texts that the editor has open, and the editor their values.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "lsp/attach/attach_messages.h"
#include "lsp/attach/local_socket.h"
#include "lsp/stream_transport.h"
#include "tests/files.h"
#include "tests/lsp/client.h"
#include "tests/temporary_folder.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
namespace fs = std::filesystem;

class Attach : public testing::Test {
 protected:
  Attach() : client(std::vector<std::string>{"--listen", socket()}) { client.initialize(); }

  std::string socket() const { return (folder.path() / "s.sock").string(); }
  std::string uri(const std::string& name) const { return "file://" + (folder.path() / name).string(); }
  /// What a prompt that attaches prints to inputs, both outputs.
  std::string prompt(const std::string& inputs, const std::string& path) {
    const fs::path in = folder.path() / "in", out = folder.path() / "out";
    std::ofstream(in) << inputs;
    const std::string command = "cd '" + folder.path().string() + "' && '" QUERN_BINARY "' repl --attach '" +
                                path + "' < in > out 2>&1";
    [[maybe_unused]] const int code = std::system(command.c_str());
    std::ifstream shown(out);
    return {std::istreambuf_iterator<char>(shown), {}};
  }
  std::string prompt(const std::string& inputs) { return prompt(inputs, socket()); }
  /// The server has handled what came so far.
  void settle() { client.call("quern/stages"); }

  TemporaryFolder folder;
  Client<json> client;
};

TEST_F(Attach, ThePromptSeesTextsThatAreNotSaved) {
  client.open(uri("m.relay"), 1, "def @f(%x: int32) -> int32 { %x + 41 }");
  settle();
  EXPECT_THAT(prompt("import \"m.relay\" as m\n@m.f(1)\n"), HasSubstr("int32 42"));
  client.change(uri("m.relay"), 2, json::array({json{{"text", "def @f(%x: int32) -> int32 { %x + 1 }"}}}));
  settle();
  EXPECT_THAT(prompt("import \"m.relay\" as m\n@m.f(1)\n"), HasSubstr("int32 2"));
}

/// Clock ticks that a process has computed.
long ticks_of(pid_t process) {
  std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  std::istringstream fields(text.substr(text.rfind(')') + 2));
  std::string ignored;
  constexpr int kBefore = 11;  // fields before utime and stime
  for (int i = 0; i < kBefore; ++i) fields >> ignored;
  long user = 0, system = 0;
  fields >> user >> system;
  return user + system;
}

TEST_F(Attach, WithoutFileNumbersTheServerWaits) {
  settle();
  const pid_t server = client.process.id();
  rlimit before{};
  ASSERT_EQ(prlimit(server, RLIMIT_NOFILE, nullptr, &before), 0);
  // As many as one `poll` looks at.
  const rlimit none{2, before.rlim_max};
  ASSERT_EQ(prlimit(server, RLIMIT_NOFILE, &none, nullptr), 0);
  std::string token;
  auto peer = lsp::connect_to(socket(), token);
  ASSERT_TRUE(peer) << peer.error().message;
  const long begin = ticks_of(server);
  std::this_thread::sleep_for(std::chrono::seconds(1));
  EXPECT_LT(ticks_of(server) - begin, sysconf(_SC_CLK_TCK) / 4);
  ASSERT_EQ(prlimit(server, RLIMIT_NOFILE, &before, nullptr), 0);
  // The prompt that waited is admitted.
  lsp::StreamTransport transport(peer->number(), peer->number(), std::chrono::milliseconds(1000));
  transport.write(lsp::encode_attach(token));
  constexpr int kPatienceMs = 10'000;
  pollfd ready{peer->number(), POLLIN, 0};
  ASSERT_EQ(poll(&ready, 1, kPatienceMs), 1);
  const auto said = transport.read();
  ASSERT_TRUE(said);
  EXPECT_TRUE(lsp::decode_texts(*said)) << *said;
}

TEST_F(Attach, TheEditorSeesWhatALoadedFileEvaluatedTo) {
  client.open(uri("n.relay"), 1, "let %x = [1.0, 2.0, 6.0];\n%x;\n");
  settle();
  EXPECT_THAT(prompt(":load n.relay\n"), HasSubstr("1"));
  std::string hover;
  for (int i = 0; i < 100 && hover.find("mean 3") == std::string::npos; ++i) {
    hover = client.hover(uri("n.relay"), 1, 1)["contents"]["value"];
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_THAT(hover, HasSubstr("mean 3"));
}

TEST_F(Attach, TheEditorSeesWhatIsBoundAtAPrompt) {
  client.open(uri("n.relay"), 1, "let %x = [1.0];\nlet %y = { let %x = %x; %x };\n");
  settle();
  const auto hover = [&](int line, int character) -> std::string {
    return client.hover(uri("n.relay"), line, character)["contents"]["value"];
  };
  const auto await = [&](const std::function<bool(const std::string&)>& wanted) {
    std::string shown;
    for (int i = 0; i < 200 && !wanted(shown); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      shown = hover(0, 5);
    }
    return shown;
  };
  const auto has = [](const std::string& text) {
    return [=](const std::string& shown) { return shown.find(text) != std::string::npos; };
  };
  const auto has_none = [](const std::string& shown) {
    return !shown.empty() && shown.find("prompt") == std::string::npos;
  };
  FILE* inputs = popen(("'" QUERN_BINARY "' repl --attach '" + socket() + "' > /dev/null 2>&1").c_str(), "w");
  ASSERT_NE(inputs, nullptr);
  const auto enter = [&](const char* input) {
    std::fputs(input, inputs);
    std::fflush(inputs);
  };
  enter("let %x = [4.0, 8.0];\n");
  EXPECT_THAT(await(has("mean 6")), HasSubstr("Value at a prompt"));
  EXPECT_THAT(hover(1, 20), HasSubstr("Value at a prompt"));
  EXPECT_THAT(hover(1, 24), testing::Not(HasSubstr("prompt")));  // another variable
  enter("let %x = [4.0, 10.0];\n");
  EXPECT_THAT(await(has("mean 7")), HasSubstr("Value at a prompt"));
  enter(":undo\n");
  EXPECT_THAT(await(has("mean 6")), HasSubstr("Value at a prompt"));
  enter(":undo\n");
  EXPECT_THAT(await(has_none), testing::Not(HasSubstr("prompt")));
  enter("let (%x, %z) = ([1.0], 2);\nlet %x = [3.0];\n");
  EXPECT_THAT(await(has("mean 3")), HasSubstr("Value at a prompt"));
  pclose(inputs);
  EXPECT_THAT(await(has_none), testing::Not(HasSubstr("prompt")));
}

TEST_F(Attach, OnlyTheUserMayConnect) {
  struct stat found {};
  ASSERT_EQ(stat(socket().c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
  ASSERT_EQ(stat((socket() + ".token").c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 0777U, 0600U);
}

TEST_F(Attach, WhoDoesNotKnowTheTokenIsToldNothing) {
  client.open(uri("m.relay"), 1, "def @f() { 1 }");
  settle();
  const auto answer = [&](const std::string& first) -> std::optional<std::string> {
    std::string token;
    auto file = lsp::connect_to(socket(), token);
    EXPECT_TRUE(file);
    lsp::StreamTransport transport(file->number(), file->number());
    transport.write(first == "right" ? lsp::encode_attach(token) : first);
    return transport.read();
  };
  EXPECT_EQ(answer(lsp::encode_attach("0123456789abcdef0123456789abcdef")), std::nullopt);
  EXPECT_EQ(answer(lsp::encode_attach("")), std::nullopt);
  EXPECT_EQ(answer("nothing of ours"), std::nullopt);
  EXPECT_EQ(answer(R"({"jsonrpc":"2.0","method":"quern/attach","params":{"token":7}})"), std::nullopt);
  EXPECT_THAT(answer("right").value_or(""), HasSubstr("def @f()"));
}

TEST_F(Attach, WrongMessagesOfAPromptChangeNothing) {
  client.open(uri("m.relay"), 1, "let %x = 1;");
  settle();
  std::string token;
  auto file = lsp::connect_to(socket(), token);
  ASSERT_TRUE(file);
  lsp::StreamTransport transport(file->number(), file->number());
  transport.write(lsp::encode_attach(token));
  lsp::ValuesOfFile values{(folder.path() / "m.relay").string(), "let %x = 1;", {}};
  values.evaluation.parts.push_back({{5, 4000}, "x"});
  values.evaluation.parts.push_back({{9, 3}, "x"});
  transport.write(lsp::encode(values));
  transport.write(R"({"method":"quern/values","params":{"path":1}})");
  transport.write("not JSON");
  EXPECT_FALSE(client.hover(uri("m.relay"), 0, 5).is_null());
}

TEST_F(Attach, TheSocketGoesWithTheServer) {
  client.call("shutdown");
  client.notify("exit", nullptr);
  EXPECT_EQ(client.process.exit_code(), 0);
  EXPECT_FALSE(fs::exists(socket()));
  EXPECT_FALSE(fs::exists(socket() + ".token"));
  EXPECT_THAT(prompt("1\n"), HasSubstr("cannot connect to"));
}

TEST_F(Attach, ASecondServerDoesNotTakeTheSocketOfAnother) {
  Client<json> second(std::vector<std::string>{"--listen", socket()});
  second.initialize();
  EXPECT_THAT(second.next("window/showMessage")["params"]["message"],
              HasSubstr("another language server listens"));
  client.open(uri("m.relay"), 1, "def @f(%x: int32) -> int32 { %x + 41 }");
  settle();
  EXPECT_THAT(prompt("import \"m.relay\" as m\n@m.f(1)\n"), HasSubstr("int32 42"));
}

TEST_F(Attach, AFileInThePlaceOfTheSocketStays) {
  const std::string place = (folder.path() / "file").string();
  std::ofstream(place) << "mine";
  Client<json> second(std::vector<std::string>{"--listen", place});
  second.initialize();
  EXPECT_THAT(second.next("window/showMessage")["params"]["message"], HasSubstr("is no socket"));
  EXPECT_TRUE(fs::exists(place));
}

}  // namespace
}  // namespace quern::lsp_test
