// The network: HTTP and WebSockets by Boost.Beast, all on the thread that calls `serve`. serve/answers decides on the
// answers.

#include "serve/server.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <csignal>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "serve/access.h"
#include "serve/answers.h"
#include "serve/language_thread.h"
#include "serve/page_files.h"

namespace quern::serve {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using tcp = asio::ip::tcp;
using boost::system::error_code;

/// The time limit for receiving a request.
constexpr std::chrono::seconds kPatience{30};
/// The most clients at a time: each has a session and two threads.
constexpr size_t kMostClients = 32;

/// The state that connections share. It outlives them.
struct Shared {
  const ServeOptions& options;
  asio::io_context& io;
  Access& access;
  const PageFiles& files;
  std::map<const LanguageThread*, std::unique_ptr<LanguageThread>> languages;  ///< those that have not ended
};

/// A WebSocket: each text message is a message of the language server. It lives as long as any of its handlers or its
/// language server.
class Socket : public std::enable_shared_from_this<Socket> {
 public:
  Socket(tcp::socket&& socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {}

  void accept(const http::request<http::empty_body>& request) {
    stream_.set_option(websocket::stream_base::timeout::suggested(beast::role_type::server));
    stream_.read_message_max(lsp::Transport::kLongestMessage);
    stream_.text(true);
    // One frame for each message, whatever its length.
    stream_.auto_fragment(false);
    stream_.async_accept(request, [self = shared_from_this()](error_code error) {
      if (!error) self->start();
    });
  }

 private:
  void start() {
    auto& io = shared_.io;
    auto send = [self = shared_from_this(), &io](std::string message) {
      asio::post(io, [self, message = std::move(message)]() mutable { self->send(std::move(message)); });
    };
    auto ended = [self = shared_from_this(), &io] { asio::post(io, [self] { self->language_ended(); }); };
    auto language = std::make_unique<LanguageThread>(shared_.options.make_session, shared_.options.evaluator,
                                                     send, ended);
    language_ = language.get();
    shared_.languages.emplace(language_, std::move(language));
    read();
  }

  void read() {
    stream_.async_read(incoming_, [self = shared_from_this()](error_code error, size_t) {
      if (error) return self->leave();
      if (!self->stream_.got_text()) return self->close(websocket::close_code::unknown_data);
      if (self->language_)
        self->language_->messages().receive(beast::buffers_to_string(self->incoming_.data()));
      // Frees the memory of a long message.
      self->incoming_ = {};
      self->read();
    });
  }

  void send(std::string message) {
    outgoing_.push_back(std::move(message));
    if (outgoing_.size() == 1) write();
  }

  void write() {
    const auto written = [self = shared_from_this()](error_code error, size_t) { self->written(error); };
    stream_.async_write(asio::buffer(outgoing_.front()), written);
  }

  void written(error_code error) {
    if (error) return leave();
    if (language_) language_->messages().sent(outgoing_.front().size());
    outgoing_.pop_front();
    if (!outgoing_.empty())
      write();
    else if (!language_)
      close(websocket::close_code::normal);
  }

  void close(websocket::close_code code) {
    leave();
    if (std::exchange(closing_, true)) return;
    stream_.async_close(code, [self = shared_from_this()](error_code) {});
  }

  /// The client has disconnected or is dropped.
  void leave() {
    if (language_) language_->messages().interrupt();
  }

  /// Takes the thread's `send` and `ended` with it, and so what holds this.
  void language_ended() {
    shared_.languages.erase(std::exchange(language_, nullptr));
    if (outgoing_.empty()) close(websocket::close_code::normal);
  }

  websocket::stream<beast::tcp_stream> stream_;
  Shared& shared_;
  beast::flat_buffer incoming_;
  std::deque<std::string> outgoing_;    ///< the first is being written
  LanguageThread* language_ = nullptr;  ///< until it has ended
  bool closing_ = false;
};

/// An HTTP connection, until it is upgraded to a WebSocket.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket&& socket, Shared& shared) : stream_(std::move(socket)), shared_(shared) {}

  void read() {
    parser_.emplace();
    stream_.expires_after(kPatience);
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](error_code error, size_t) {
      if (!error) return self->receive(self->parser_->get());
      const auto& of_text = http::make_error_code(http::error::end_of_stream).category();
      if (error.category() != of_text || error == http::error::end_of_stream) return;
      self->write({400, "text/plain; charset=utf-8", "This is no request.\n", {}}, true);
    });
  }

 private:
  void receive(const http::request<http::empty_body>& received) {
    const auto field = [&](http::field name) {
      return received.count(name) == 1 ? std::string(received[name]) : std::string();
    };
    const Request request{std::string(received.method_string()),
                          std::string(received.target()),
                          field(http::field::host),
                          field(http::field::origin),
                          field(http::field::cookie),
                          field(http::field::authorization)};
    const bool last = received.need_eof() || !received.keep_alive();
    if (!websocket::is_upgrade(received)) return write(answer(request, shared_.access, shared_.files), last);
    if (auto refused = refusal_of_socket(request, shared_.access)) return write(*refused, last);
    if (shared_.languages.size() >= kMostClients)
      return write({503, "text/plain; charset=utf-8", "There are too many pages: close one.\n", {}}, last);
    stream_.expires_never();
    std::make_shared<Socket>(stream_.release_socket(), shared_)->accept(received);
  }

  void write(const Answer& answer, bool last) {
    answer_ = {};
    answer_.result(static_cast<unsigned>(answer.status));
    if (!answer.type.empty()) answer_.set(http::field::content_type, answer.type);
    for (const auto& [name, value] : answer.fields) answer_.set(name, value);
    answer_.set(http::field::cache_control, "no-store");
    answer_.set("X-Content-Type-Options", "nosniff");
    answer_.set("Referrer-Policy", "no-referrer");
    answer_.set("Cross-Origin-Resource-Policy", "same-origin");
    answer_.body() = answer.body;
    answer_.keep_alive(!last);
    answer_.prepare_payload();
    stream_.expires_after(kPatience);
    http::async_write(stream_, answer_, [self = shared_from_this(), last](error_code error, size_t) {
      if (error) return;
      if (!last) return self->read();
      error_code ignored;
      self->stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    });
  }

  beast::tcp_stream stream_;
  Shared& shared_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::empty_body>> parser_;
  http::response<http::string_body> answer_;
};

class Listener {
 public:
  explicit Listener(asio::io_context& io) : acceptor_(io), pause_(io) {}

  /// The port that it listens on at 127.0.0.1.
  Result<uint16_t> listen(uint16_t port) {
    const tcp::endpoint wanted(asio::ip::address_v4::loopback(), port);
    error_code error;
    acceptor_.open(wanted.protocol(), error);
    if (!error) acceptor_.set_option(asio::socket_base::reuse_address(true), error);
    if (!error) acceptor_.bind(wanted, error);
    if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
    if (error)
      return Failure{
          fmt::format("port {} of 127.0.0.1 cannot be listened on: {}; `--port 0` takes one that is free",
                      port, error.message())};
    // The browser that is started must not inherit it.
    fcntl(acceptor_.native_handle(), F_SETFD, FD_CLOEXEC);
    return acceptor_.local_endpoint(error).port();
  }

  void accept(Shared& shared) {
    acceptor_.async_accept([this, &shared](error_code error, tcp::socket socket) {
      if (error) return wait(shared);
      std::make_shared<Connection>(std::move(socket), shared)->read();
      accept(shared);
    });
  }

 private:
  /// If too many files are open, some will be closed soon.
  void wait(Shared& shared) {
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this, &shared](error_code error) {
      if (!error) accept(shared);
    });
  }

  tcp::acceptor acceptor_;
  asio::steady_timer pause_;
};

}  // namespace

Result<Done> serve(const ServeOptions& options) {
  auto token = random_token(), ticket = random_token();
  if (!token) return token.error();
  if (!ticket) return ticket.error();
  asio::io_context io(1);
  asio::signal_set signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](error_code, int) { io.stop(); });
  Listener listener(io);
  auto port = listener.listen(options.port);
  if (!port) return port.error();
  Access access(*token, *ticket, *port);
  const PageFiles files(options.page);
  Shared shared{options, io, access, files, {}};
  listener.accept(shared);
  const auto address = [&](const std::string& secret) {
    return fmt::format("http://127.0.0.1:{}/?token={}", *port, secret);
  };
  options.ready(address(access.token()), address(access.ticket()));
  io.run();
  // A second signal ends the program while sessions still work.
  error_code ignored;
  signals.clear(ignored);
  shared.languages.clear();
  return Done{};
}

}  // namespace quern::serve
