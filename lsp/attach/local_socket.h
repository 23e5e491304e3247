#pragma once
// The local socket on which prompts attach to a language server: only the user can access its folder (0700), the socket
// and the file with its token (0600).

#include <filesystem>
#include <string>

#include "ir/base/result.h"
#include "lsp/owned_file.h"

namespace quern::lsp {

/// The default folder of sockets. Created if missing; fails if it is not private to the user.
Result<std::filesystem::path> socket_folder();
/// The file with the token of a socket.
std::filesystem::path token_file(const std::filesystem::path& socket);

/// Listens on a new socket, with a new token in its file. Replaces a stale socket, on which nobody listens.
Result<OwnedFile> listen_on(const std::filesystem::path& socket, std::string& token);
/// Connects to a socket; the token is that of its file.
Result<OwnedFile> connect_to(const std::filesystem::path& socket, std::string& token);
/// The socket in the folder whose server was started last and still listens; fails where there is none.
Result<std::filesystem::path> latest_socket();

}  // namespace quern::lsp
