#pragma once
// Answers to requests, as plain values; the network is in serve/server.cpp.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "serve/access.h"
#include "serve/page_files.h"

namespace quern::serve {

/// Fields that a request lacks or repeats are empty.
struct Request {
  std::string method, target, host, origin, cookie, authorization;
};

struct Answer {
  int status = 200;
  std::string type, body;
  std::vector<std::pair<std::string, std::string>> fields;
};

/// The answer to a request for a file. With `?token=` it sets a cookie and redirects to the address without the token,
/// which keeps that out of the browser's history.
Answer answer(const Request& request, Access& access, const PageFiles& files);

/// The rejection of a WebSocket; nothing if it is accepted.
std::optional<Answer> refusal_of_socket(const Request& request, const Access& access);

}  // namespace quern::serve
