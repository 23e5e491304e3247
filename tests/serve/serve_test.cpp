// The server of the browser's page, by sockets that say what no browser would.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "lsp/transport.h"
#include "serve/access.h"
#include "serve/language_thread.h"
#include "tests/golden/run_program.h"
#include "tests/serve/serve_process.h"
#include "tests/temporary_folder.h"

namespace quern::serve_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

/// A page, beside it a file that is not to be served, and the server.
class Serve : public testing::Test {
 protected:
  Serve() {
    std::filesystem::create_directories(folder_ / "page/sub");
    write("page/index.html", "<title>Quern</title>");
    write("page/main.js", "let one;");
    write("page/sub/a.ttf", "font");
    write("secret.txt", "secret");
  }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::string page() const { return (folder_ / "page").string(); }
  ServeProcess& server() {
    if (!server_) server_ = std::make_unique<ServeProcess>(page());
    return *server_;
  }
  std::string host() { return fmt::format("127.0.0.1:{}", server().port()); }
  std::string host_field() { return fmt::format("Host: {}\r\n", host()); }
  std::string token_field() { return fmt::format("Authorization: Bearer {}\r\n", server().token()); }

  /// The answer to a request with these fields, by a connection of its own.
  Response ask(std::string_view target, const std::string& fields, std::string_view method = "GET") {
    RawClient client(server().port());
    client.write(request(target, fields, method));
    auto response = client.read_response();
    EXPECT_TRUE(response) << target << " is not answered";
    return response.value_or(Response());
  }
  Response ask_for_socket(const std::string& fields, std::string_view target = "/lsp") {
    return ask(target, std::string(upgrade_fields()) + fields);
  }
  /// A WebSocket of the page's own.
  std::unique_ptr<RawClient> open_socket() {
    auto client = std::make_unique<RawClient>(server().port());
    client->write(request("/lsp", fmt::format("{}{}{}Origin: http://{}\r\n", upgrade_fields(), host_field(),
                                              token_field(), host())));
    auto response = client->read_response();
    EXPECT_EQ(response ? response->status : 0, 101);
    return client;
  }

  TemporaryFolder folder_;
  std::unique_ptr<ServeProcess> server_;
};

void send(RawClient& client, const json& message) { client.write(RawClient::frame(kText, message.dump())); }
/// The next message for which `wanted` holds; null where none comes.
template <class Wanted>
json await(RawClient& client, const Wanted& wanted) {
  while (auto frame = client.read_frame()) {
    if (frame->opcode != kText) break;
    json message = json::parse(frame->payload);
    if (wanted(message)) return message;
  }
  return nullptr;
}
json initialize(RawClient& client) {
  send(client, {{"jsonrpc", "2.0"},
                {"id", 1},
                {"method", "initialize"},
                {"params", {{"capabilities", json::object()}}}});
  json answer = await(client, [](const json& m) { return m.value("id", 0) == 1; });
  send(client, {{"jsonrpc", "2.0"}, {"method", "initialized"}, {"params", json::object()}});
  return answer;
}
void open_document(RawClient& client, const std::string& text) {
  send(client,
       {{"jsonrpc", "2.0"},
        {"method", "textDocument/didOpen"},
        {"params",
         {{"textDocument",
           {{"uri", "untitled:a.relay"}, {"languageId", "quern"}, {"version", 1}, {"text", text}}}}}});
}
std::string first_diagnostic(RawClient& client) {
  const json message =
      await(client, [](const json& m) { return m.value("method", "") == "textDocument/publishDiagnostics"; });
  if (message.is_null()) return "nothing";
  const json& all = message["params"]["diagnostics"];
  return all.empty() ? "" : all[0].value("message", "");
}

TEST_F(Serve, PrintsItsAddressWithATokenOf128Bits) {
  EXPECT_THAT(server().address(), MatchesRegex("http://127\\.0\\.0\\.1:[0-9]+/\\?token=[0-9a-f]{32}"));
  EXPECT_NE(ServeProcess(page()).token(), server().token());
}

TEST_F(Serve, AnswersNobodyWithoutTheToken) {
  const std::string wrong(32, '0');
  EXPECT_EQ(ask("/", host_field()).status, 403);
  EXPECT_EQ(ask("/main.js", host_field()).status, 403);
  EXPECT_EQ(ask("/?token=" + wrong, host_field()).status, 403);
  EXPECT_EQ(ask("/?token=", host_field()).status, 403);
  EXPECT_EQ(ask("/", host_field() + "Authorization: Bearer " + wrong + "\r\n").status, 403);
  EXPECT_EQ(ask("/", host_field() + fmt::format("Cookie: quern-{}={}\r\n", server().port(), wrong)).status,
            403);
  EXPECT_THAT(ask("/", host_field()).body, HasSubstr("the address that `quern serve` printed"));
  EXPECT_EQ(ask_for_socket(fmt::format("{}Origin: http://{}\r\n", host_field(), host())).status, 403);
}

TEST_F(Serve, GivesACookieForTheToken) {
  const Response first = ask("/?token=" + server().token(), host_field());
  EXPECT_EQ(first.status, 303);
  EXPECT_THAT(first.head, HasSubstr("Location: /\r\n"));
  EXPECT_THAT(first.head, HasSubstr("Cache-Control: no-store\r\n"));
  EXPECT_THAT(first.head, HasSubstr("; HttpOnly; SameSite=Lax\r\n"));
  const size_t begin = first.head.find("Set-Cookie: ") + 12;
  const std::string cookie = first.head.substr(begin, first.head.find(';', begin) - begin);
  const Response page = ask("/", host_field() + "Cookie: other=1; " + cookie + "; more=2\r\n");
  EXPECT_EQ(page.status, 200);
  EXPECT_EQ(page.body, "<title>Quern</title>");
  EXPECT_THAT(page.head, HasSubstr("Content-Type: text/html; charset=utf-8\r\n"));
  EXPECT_THAT(page.head, HasSubstr("Content-Security-Policy: default-src 'none'; script-src 'self';"));
  EXPECT_THAT(page.head, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
}

TEST_F(Serve, GivesFilesTheirTypesOnOneConnection) {
  RawClient client(server().port());
  const auto type = [&](std::string_view target) {
    client.write(request(target, host_field() + token_field()));
    const std::string head = client.read_response().value_or(Response()).head;
    const size_t at = head.find("Content-Type: ");
    return at == std::string::npos ? head : head.substr(at + 14, head.find('\r', at) - at - 14);
  };
  EXPECT_EQ(type("/main.js"), "text/javascript; charset=utf-8");
  EXPECT_EQ(type("/sub/a.ttf"), "font/ttf");
  EXPECT_EQ(type("/index.html"), "text/html; charset=utf-8");
}

TEST_F(Serve, KnowsItsOwnHostAlone) {
  const auto status = [&](const std::string& fields) { return ask("/", fields + token_field()).status; };
  EXPECT_EQ(status(fmt::format("Host: localhost:{}\r\n", server().port())), 200);
  EXPECT_EQ(status(fmt::format("Host: example.org:{}\r\n", server().port())), 403);
  EXPECT_EQ(status(fmt::format("Host: 127.0.0.1.example.org:{}\r\n", server().port())), 403);
  EXPECT_EQ(status(fmt::format("Host: 127.0.0.1:{}\r\n", server().port() ^ 1)), 403);
  EXPECT_EQ(status("Host: 127.0.0.1\r\n"), 403);
  EXPECT_EQ(status(""), 403);
  EXPECT_EQ(status(host_field() + "Host: example.org\r\n"), 403);
}

TEST_F(Serve, OpensWebSocketsForItsOwnPageAlone) {
  const auto status = [&](const std::string& origin) {
    return ask_for_socket(host_field() + token_field() + origin).status;
  };
  EXPECT_EQ(status(fmt::format("Origin: http://{}\r\n", host())), 101);
  EXPECT_EQ(status(fmt::format("Origin: https://{}\r\n", host())), 403);
  EXPECT_EQ(status(fmt::format("Origin: http://127.0.0.1:{}\r\n", server().port() ^ 1)), 403);
  EXPECT_EQ(status("Origin: http://example.org\r\n"), 403);
  EXPECT_EQ(status("Origin: null\r\n"), 403);
  EXPECT_EQ(status(""), 403);
  const std::string own = fmt::format("{}{}Origin: http://{}\r\n", host_field(), token_field(), host());
  EXPECT_EQ(ask_for_socket(own, "/other").status, 404);
  // Another site's page that asks for a file.
  EXPECT_EQ(ask("/", host_field() + token_field() + "Origin: http://example.org\r\n").status, 403);
}

TEST_F(Serve, LetsNoPathOutOfItsFolder) {
  for (const char* path :
       {"/../secret.txt", "/sub/../../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "//secret.txt",
        "/sub", "/sub/", "/main.js/", "/./main.js", "/\\..\\secret.txt"}) {
    const Response response = ask(path, host_field() + token_field());
    EXPECT_EQ(response.status, 404) << path;
    EXPECT_THAT(response.body, Not(HasSubstr("secret"))) << path;
  }
  EXPECT_EQ(ask((folder_ / "secret.txt").string(), host_field() + token_field()).status, 404);
}

TEST_F(Serve, RefusesWhatIsNoRequest) {
  EXPECT_EQ(ask("/", host_field() + token_field(), "POST").status, 405);
  RawClient noise(server().port());
  noise.write("\x16\x03\x01 hello\r\n\r\n");
  EXPECT_EQ(noise.read_response().value_or(Response()).status, 400);
  RawClient endless(server().port());
  endless.write(request("/", host_field() + "X: " + std::string(100'000, 'x') + "\r\n"));
  EXPECT_EQ(endless.read_response().value_or(Response()).status, 400);
  EXPECT_EQ(ask("/", host_field() + token_field()).status, 200);
}

TEST_F(Serve, SpeaksTheProtocolByFrames) {
  auto client = open_socket();
  EXPECT_EQ(initialize(*client)["result"]["serverInfo"]["name"], "quern");
  open_document(*client, "let %x = 1 + %missing;");
  EXPECT_THAT(first_diagnostic(*client), HasSubstr("%missing"));
  send(*client, {{"jsonrpc", "2.0"},
                 {"id", 2},
                 {"method", "quern/virtualDocument"},
                 {"params", {{"uri", "quern:/library/nn.relay"}}}});
  const auto answer = client->read_frame().value_or(Frame());
  EXPECT_GT(answer.payload.size(), 10'000u) << "a frame for a message, however long";
  EXPECT_TRUE(json::accept(answer.payload));
  client->write(RawClient::frame(kText, "{no json"));
  EXPECT_EQ(await(*client, [](const json& m) { return m.contains("error"); })["error"]["code"], -32700);
  send(*client, {{"jsonrpc", "2.0"}, {"method", "exit"}});
  EXPECT_EQ(client->read_frame().value_or(Frame()).close_code(), 1000);
}

TEST_F(Serve, ClosesOnFramesThatAreNone) {
  const auto code_after = [&](const std::string& bytes) {
    auto client = open_socket();
    client->write(bytes);
    return client->read_frame().value_or(Frame()).close_code();
  };
  EXPECT_EQ(code_after(RawClient::frame(kText, "{}", false)), 1002) << "not masked";
  EXPECT_EQ(code_after(RawClient::frame(3, "{}")), 1002) << "a kind that there is not";
  EXPECT_EQ(code_after(RawClient::frame(kText, "\xff\xfe")), 1007) << "no UTF-8";
  EXPECT_EQ(code_after(RawClient::frame(kBinary, "{}")), 1003) << "binary";
  // A continuation of nothing.
  EXPECT_EQ(code_after(RawClient::frame(0, "{}")), 1002);
  auto other = open_socket();
  EXPECT_EQ(initialize(*other)["result"]["serverInfo"]["name"], "quern");
}

TEST_F(Serve, ClosesOnAMessageThatIsTooLong) {
  auto client = open_socket();
  std::string head{'\x81', '\xff'};
  for (int i = 8; i-- > 0;) head += static_cast<char>((lsp::Transport::kLongestMessage + 1) >> (8 * i));
  client->write(head + std::string(4, '\0') + "{");
  EXPECT_EQ(client->read_frame().value_or(Frame()).close_code(), 1009);
}

TEST_F(Serve, GivesConcurrentClientsServersOfTheirOwn) {
  auto one = open_socket(), two = open_socket();
  initialize(*one);
  initialize(*two);
  open_document(*one, "let %x = %first;");
  open_document(*two, "let %x = %second;");
  EXPECT_THAT(first_diagnostic(*two), HasSubstr("%second"));
  EXPECT_THAT(first_diagnostic(*one), HasSubstr("%first"));
  one->vanish();
  send(*two, {{"jsonrpc", "2.0"}, {"id", 7}, {"method", "shutdown"}});
  EXPECT_FALSE(await(*two, [](const json& m) { return m.value("id", 0) == 7; }).is_null());
}

TEST_F(Serve, LetsNothingOfAClientStay) {
  EXPECT_EQ(ask("/", host_field() + token_field()).status, 200);
  const size_t before = server().threads();
  for (int i = 0; i < 4; ++i) {
    auto client = open_socket();
    initialize(*client);
    open_document(*client, "let %x = nn.relu(ones((2, 3)));");
    EXPECT_GT(server().threads(), before);
    if (i % 2 == 0) client->vanish();
  }
  for (int waited = 0; waited < 30000 && server().threads() > before; waited += 10)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_EQ(server().threads(), before);
}

TEST_F(Serve, TakesSoManyClientsAndNoMore) {
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 32; ++i) {
    clients.push_back(open_socket());
    ASSERT_FALSE(HasFailure()) << i;
  }
  // The last of them is counted once its handshake is over.
  initialize(*clients.back());
  const std::string own = fmt::format("{}{}Origin: http://{}\r\n", host_field(), token_field(), host());
  EXPECT_EQ(ask_for_socket(own).status, 503);
}

TEST_F(Serve, EndsBySignalsWhateverItsClientsDo) {
  auto client = open_socket();
  initialize(*client);
  EXPECT_EQ(server().end_by(SIGTERM), 0);
  server_.reset();
  EXPECT_EQ(server().end_by(SIGINT), 0);
}

TEST_F(Serve, SaysWhyItCannotStart) {
  const auto start = [&](const std::vector<std::string>& options) {
    std::vector<std::string> command{QUERN_BINARY, "serve"};
    command.insert(command.end(), options.begin(), options.end());
    return run_program(command, folder_.string());
  };
  const ProgramOutcome taken = start({"--page", page(), "--port", std::to_string(server().port())});
  EXPECT_EQ(taken.code, 1);
  EXPECT_EQ(taken.err,
            fmt::format("quern: port {} of 127.0.0.1 cannot be listened on: Address already in use; "
                        "`--port 0` takes one that is free\n",
                        server().port()));
  const ProgramOutcome nowhere = start({"--page", folder_.string()});
  EXPECT_EQ(nowhere.code, 1);
  EXPECT_THAT(nowhere.err, HasSubstr("`npm ci && npm run build` in editors/browser"));
  EXPECT_EQ(start({"--port", "70000"}).code, 2);
}

// What everybody on the machine may see, the words that the browser is started with, works once.
TEST_F(Serve, OpensTheBrowserWithATicket) {
  const std::string opened = (folder_ / "opened").string(), path = std::getenv("PATH");
  write("xdg-open", fmt::format("#!/bin/sh\necho \"$1\" > {0}.part; mv {0}.part {0}\n", opened));
  std::filesystem::permissions(folder_ / "xdg-open", std::filesystem::perms::owner_all);
  setenv("PATH", (folder_.string() + ":" + path).c_str(), 1);
  server_ = std::make_unique<ServeProcess>(page(), std::vector<std::string>{"--open"});
  setenv("PATH", path.c_str(), 1);
  for (int waited = 0; waited < 30000 && !std::filesystem::exists(opened); waited += 10)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  std::string address;
  std::ifstream(opened) >> address;
  const std::string begin = fmt::format("http://{}", host());
  ASSERT_THAT(address, testing::StartsWith(begin + "/?token="));
  EXPECT_THAT(address, Not(HasSubstr(server().token())));
  EXPECT_EQ(ask(address.substr(begin.size()), host_field()).status, 303);
  EXPECT_EQ(ask(address.substr(begin.size()), host_field()).status, 403);
  EXPECT_EQ(ask("/?token=" + server().token(), host_field()).status, 303);
}

TEST(MessageQueue, HandsMessagesFromThreadToThread) {
  serve::MessageQueue queue([](const std::string&) {});
  std::string read;
  std::atomic<bool> whole = false;
  std::thread reader([&] {
    while (auto message = queue.read()) {
      read += *message;
      whole = *message == "c";
    }
  });
  for (const char* message : {"a", "b", "c"}) queue.receive(message);
  while (!whole) std::this_thread::yield();
  queue.interrupt();
  reader.join();
  EXPECT_EQ(read, "abc");
}

// A client that asks for more and more, and reads nothing.
TEST(MessageQueue, AThreadThatWritesWaitsForAClientThatDoesNotRead) {
  std::atomic<int> taken = 0;
  serve::MessageQueue queue([&](const std::string&) { ++taken; });
  const std::string half(size_t{33} << 20, 'x');
  std::atomic<bool> done = false;
  std::thread writer([&] {
    for (int i = 0; i < 4; ++i) queue.write(half);
    done = true;
  });
  const auto settles_at = [&](int count) {
    for (int waited = 0; waited < 30000 && taken < count; waited += 5)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return taken == count;
  };
  EXPECT_TRUE(settles_at(2));
  queue.sent(half.size());
  EXPECT_TRUE(settles_at(3));
  EXPECT_FALSE(done);
  queue.interrupt();
  writer.join();
  EXPECT_EQ(taken, 3);
}

TEST(Access, TakesTheTicketOnce) {
  serve::Access access("token", "ticket", 80);
  EXPECT_FALSE(access.takes("tickets"));
  EXPECT_FALSE(access.takes(""));
  EXPECT_TRUE(access.takes("ticket"));
  EXPECT_FALSE(access.takes("ticket"));
  EXPECT_FALSE(access.takes(""));
  EXPECT_TRUE(access.takes("token"));
  EXPECT_TRUE(access.takes("token"));
}

}  // namespace
}  // namespace quern::serve_test
