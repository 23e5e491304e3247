#include "lsp/attach/local_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

namespace quern::lsp {

namespace {

namespace fs = std::filesystem;

Failure failure_at(const fs::path& path, std::string_view what) {
  return Failure{fmt::format("{} `{}`: {}", what, path.string(), std::strerror(errno))};
}

Result<sockaddr_un> address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = path.string();
  if (name.size() >= sizeof address.sun_path)
    return Failure{fmt::format("the path of a socket has less than {} bytes: `{}` has {}",
                               sizeof address.sun_path, name, name.size())};
  std::ranges::copy(name, address.sun_path);
  return address;
}

Result<OwnedFile> connected(const fs::path& path) {
  auto address = address_of(path);
  if (!address) return address.error();
  OwnedFile file(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(file.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) != 0)
    return failure_at(path, "cannot connect to");
  return file;
}

std::string new_token() {
  std::array<uint64_t, 2> bits{};
  if (getrandom(bits.data(), sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) return "";
  return fmt::format("{:016x}{:016x}", bits[0], bits[1]);
}

}  // namespace

Result<fs::path> socket_folder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const fs::path folder = runtime && *runtime ? fs::path(runtime) / "quern"
                                              : fs::path("/tmp") / fmt::format("quern-{}", getuid());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return failure_at(folder, "cannot make the folder");
  struct stat found {};
  if (lstat(folder.c_str(), &found) != 0) return failure_at(folder, "cannot look at the folder");
  if (!S_ISDIR(found.st_mode) || found.st_uid != getuid() || (found.st_mode & 077) != 0)
    return Failure{fmt::format("`{}` has to be a folder of yours that nobody else may use (mode 0700)",
                               folder.string())};
  return folder;
}

fs::path token_file(const fs::path& socket) { return fs::path(socket.string() + ".token"); }

Result<OwnedFile> listen_on(const fs::path& path, std::string& token) {
  auto address = address_of(path);
  if (!address) return address.error();
  if (connected(path)) return Failure{fmt::format("another language server listens on `{}`", path.string())};
  struct stat found {};
  if (lstat(path.c_str(), &found) == 0) {
    if (!S_ISSOCK(found.st_mode))
      return Failure{fmt::format("`{}` is there, and is no socket", path.string())};
    unlink(path.c_str());
  }
  token = new_token();
  const fs::path secret = token_file(path);
  unlink(secret.c_str());
  const OwnedFile file(open(secret.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (token.empty() || write(file.number(), token.data(), token.size()) != static_cast<ssize_t>(token.size()))
    return failure_at(secret, "cannot write the token to");
  OwnedFile listening(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  // The mode applies from creation on.
  const mode_t before = umask(0177);
  const bool is_bound =
      bind(listening.number(), reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0;
  umask(before);
  if (!is_bound || listen(listening.number(), 8) != 0) return failure_at(path, "cannot listen on");
  return listening;
}

Result<OwnedFile> connect_to(const fs::path& path, std::string& token) {
  auto file = connected(path);
  if (!file) return file;
  std::ifstream secret(token_file(path));
  if (!std::getline(secret, token))
    return Failure{fmt::format("`{}` cannot be read", token_file(path).string())};
  return file;
}

Result<fs::path> latest_socket() {
  auto folder = socket_folder();
  if (!folder) return folder.error();
  std::vector<std::pair<fs::file_time_type, fs::path>> sockets;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(*folder, failed))
    if (entry.path().extension() == ".sock")
      sockets.emplace_back(entry.last_write_time(failed), entry.path());
  std::ranges::sort(sockets, std::greater());
  for (const auto& [time, path] : sockets)
    if (connected(path)) return path;
  return Failure{"no language server listens: the editor starts one by `quern lsp --listen`"};
}

}  // namespace quern::lsp
