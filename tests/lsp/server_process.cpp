#include "tests/lsp/server_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace quern::lsp_test {

namespace {

constexpr int kPatienceMs = 30000;

}  // namespace

ServerProcess::ServerProcess(const std::vector<std::string>& given) {
  std::signal(SIGPIPE, SIG_IGN);
  int input[2], output[2];
  // Closed in other servers, or those would keep this one's input open.
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0) return;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  std::vector<std::string> words{QUERN_BINARY, "lsp"};
  words.insert(words.end(), given.begin(), given.end());
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (posix_spawn(&pid_, words[0].c_str(), &actions, nullptr, arguments.data(), environ) != 0) pid_ = -1;
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  to_server_ = input[1];
  from_server_ = output[0];
}

ServerProcess::~ServerProcess() {
  close_input();
  if (from_server_ >= 0) close(from_server_);
  if (pid_ < 0) return;
  kill();
  waitpid(pid_, nullptr, 0);
}

void ServerProcess::write(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(to_server_, bytes.data(), bytes.size());
    if (written < 0) return;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
}

std::optional<std::string> ServerProcess::read_message() {
  constexpr std::string_view kHeader = "Content-Length: ", kEnd = "\r\n\r\n";
  while (true) {
    size_t end = buffer_.find(kEnd);
    if (end != std::string::npos) {
      if (!buffer_.starts_with(kHeader)) return std::nullopt;
      size_t length = std::strtoull(buffer_.c_str() + kHeader.size(), nullptr, 10);
      size_t begin = end + kEnd.size();
      if (buffer_.size() >= begin + length) {
        std::string text = buffer_.substr(begin, length);
        buffer_.erase(0, begin + length);
        return text;
      }
    }
    if (!fill()) return std::nullopt;
  }
}

bool ServerProcess::fill() {
  pollfd output{from_server_, POLLIN, 0};
  if (poll(&output, 1, kPatienceMs) <= 0) return false;
  char chunk[65536];
  ssize_t got = ::read(from_server_, chunk, sizeof chunk);
  if (got <= 0) return false;
  buffer_.append(chunk, static_cast<size_t>(got));
  return true;
}

void ServerProcess::close_input() {
  if (to_server_ >= 0) close(to_server_);
  to_server_ = -1;
}

std::optional<int> ServerProcess::exit_code() {
  for (int waited = 0; waited < kPatienceMs && pid_ >= 0; waited += 5) {
    int status = 0;
    if (waitpid(pid_, &status, WNOHANG) == pid_) {
      pid_ = -1;
      return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return std::nullopt;
}

void ServerProcess::kill() { ::kill(pid_, SIGKILL); }

std::vector<pid_t> ServerProcess::children() const {
  std::vector<pid_t> found;
  for (const auto& task : std::filesystem::directory_iterator(fmt::format("/proc/{}/task", pid_))) {
    std::ifstream of_thread(task.path() / "children");
    for (pid_t child = 0; of_thread >> child;) found.push_back(child);
  }
  return found;
}

std::string ServerProcess::framed(std::string_view text) {
  return fmt::format("Content-Length: {}\r\n\r\n{}", text.size(), text);
}

}  // namespace quern::lsp_test
