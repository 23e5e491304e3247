#include "lsp/attach/listener.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <set>
#include <utility>

#include "lsp/state.h"
#include "lsp/stream_transport.h"

namespace quern::lsp {

namespace {

/// A peer that does not receive must not block the server for longer.
constexpr std::chrono::milliseconds kPatience{1000};
/// Between two attempts to accept a peer while the process has no file numbers or no memory for it. The peer stays in
/// the queue, for which `poll` returns at once.
constexpr int kPauseMs = 200;

}  // namespace

struct Listener::Peer {
  OwnedFile file;
  StreamTransport transport;
  bool is_admitted = false;              ///< the token was right
  std::map<std::string, size_t> told{};  ///< hashes of texts, by path
  std::thread reader{};

  explicit Peer(OwnedFile socket)
      : file(std::move(socket)), transport(file.number(), file.number(), kPatience) {}
  ~Peer() {
    transport.interrupt();
    if (reader.joinable()) reader.join();
  }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
};

namespace {

/// Compares in constant time.
bool is_same(std::string_view given, std::string_view token) {
  if (given.size() != token.size()) return false;
  unsigned different = 0;
  for (size_t i = 0; i < token.size(); ++i)
    different |= static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i]);
  return different == 0;
}

}  // namespace

Result<std::unique_ptr<Listener>> Listener::open(ServerState& state, std::filesystem::path socket,
                                                 Post post) {
  std::string token;
  auto listening = listen_on(socket, token);
  if (!listening) return listening.error();
  return std::unique_ptr<Listener>(
      new Listener(state, std::move(socket), std::move(token), std::move(*listening), std::move(post)));
}

Listener::Listener(ServerState& state, std::filesystem::path socket, std::string token, OwnedFile listening,
                   Post post)
    : state_(state),
      socket_(std::move(socket)),
      token_(std::move(token)),
      listening_(std::move(listening)),
      wake_(eventfd(0, EFD_CLOEXEC)),
      post_(std::move(post)),
      thread_([this] { accept_all(); }) {}

Listener::~Listener() {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(wake_.number(), &one, sizeof one);
  thread_.join();
  unlink(socket_.c_str());
  unlink(token_file(socket_).c_str());
}

void Listener::accept_all() {
  while (true) {
    std::array<pollfd, 2> files{{{listening_.number(), POLLIN, 0}, {wake_.number(), POLLIN, 0}}};
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR) return;
    if (files[1].revents != 0) return;
    if (files[0].revents == 0) continue;
    auto accepted = std::make_shared<OwnedFile>(accept4(listening_.number(), nullptr, nullptr, SOCK_CLOEXEC));
    if (accepted->number() >= 0) {
      post_([this, accepted] { add(std::move(*accepted)); });
    } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
      poll(&files[1], 1, kPauseMs);
    }
  }
}

void Listener::add(OwnedFile file) {
  const uint64_t id = ++last_peer_;
  Peer& peer = *(peers_[id] = std::make_unique<Peer>(std::move(file)));
  peer.reader = std::thread([this, id, &peer] {
    auto first = peer.transport.read();
    const auto given = first ? decode_attach(*first) : std::nullopt;
    if (given && is_same(*given, token_)) {
      post_([this, &peer] {
        peer.is_admitted = true;
        // Also sent if nothing is open: it tells the prompt that it was admitted.
        peer.transport.write(encode(changed_texts(peer)));
      });
      while (auto message = peer.transport.read())
        if (auto values = decode_values(*message))
          post_([this, id, values = std::move(*values)] {
            if (values.path.empty())
              state_.evaluations.keep_typed(id, values.evaluation);
            else
              state_.evaluations.keep(values.path, values.text, values.evaluation);
          });
    }
    post_([this, id] {
      state_.evaluations.forget_typed(id);
      peers_.erase(id);
    });
  });
}

void Listener::publish() {
  for (auto& [id, peer] : peers_) {
    if (!peer->is_admitted) continue;
    const OpenTexts texts = changed_texts(*peer);
    if (!texts.changed.empty() || !texts.closed.empty()) peer->transport.write(encode(texts));
  }
}

OpenTexts Listener::changed_texts(Peer& peer) {
  OpenTexts texts;
  std::set<std::string> open;
  state_.documents.each_open([&](const Document& document) {
    if (document.read_only || document.is_transcript || !document.in_step) return;
    open.insert(document.path);
    const std::string& text = state_.session.text(document.source);
    const size_t hash = std::hash<std::string>()(text);
    const auto [known, is_new] = peer.told.try_emplace(document.path, hash);
    if (!is_new && known->second == hash) return;
    known->second = hash;
    texts.changed[document.path] = text;
  });
  for (auto told = peer.told.begin(); told != peer.told.end();) {
    if (open.contains(told->first)) {
      ++told;
    } else {
      texts.closed.push_back(told->first);
      told = peer.told.erase(told);
    }
  }
  return texts;
}

}  // namespace quern::lsp
