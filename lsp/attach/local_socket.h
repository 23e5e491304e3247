#pragma once
// The local socket on which a language server meets the prompts that attach to it: its folder is the user's alone
// (0700), the socket and the file with its token too (0600).

#include <filesystem>
#include <string>

#include "ir/base/result.h"
#include "lsp/owned_file.h"

namespace quern::lsp {

/// Where sockets without a path of their own are. Made where it is missing; fails where it is not the user's alone.
Result<std::filesystem::path> socket_folder();
/// The file with the token of a socket.
std::filesystem::path token_file(const std::filesystem::path& socket);

/// Listens on a new socket, with a new token in its file. A socket that nobody listens on any more is replaced.
Result<OwnedFile> listen_on(const std::filesystem::path& socket, std::string& token);
/// Connects to a socket; the token is that of its file.
Result<OwnedFile> connect_to(const std::filesystem::path& socket, std::string& token);
/// The socket in the folder whose server was started last and still listens; fails where there is none.
Result<std::filesystem::path> latest_socket();

}  // namespace quern::lsp
