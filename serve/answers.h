#pragma once
// What is answered to a request, as plain values: the network is in serve/server.cpp.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/access.h"
#include "serve/page_files.h"

namespace quern::serve {

/// Fields that a request does not have, or has twice, are empty.
struct Request {
  std::string method, target, host, origin, cookie, authorization;
};

struct Answer {
  int status = 200;
  std::string type, body;
  std::vector<std::pair<std::string, std::string>> fields;
};

/// The answer to one who asks for a file. With `?token=` it is a cookie and the way to the address without it, so that
/// the token stays in no history.
Answer answer(const Request& request, Access& access, const PageFiles& files);

/// Why a WebSocket is not opened; nothing where it is.
std::optional<Answer> refusal_of_socket(const Request& request, const Access& access);

}  // namespace quern::serve
