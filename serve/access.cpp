#include "serve/access.h"

#include <fmt/format.h>
#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace quern::serve {

namespace {

/// Compares in constant time.
bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

}  // namespace

Result<std::string> random_token() {
  std::array<unsigned char, 16> bytes;
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return Failure{fmt::format("the system gives no random numbers: {}", std::strerror(errno))};
  std::string token;
  for (const unsigned byte : bytes) token += fmt::format("{:02x}", byte);
  return token;
}

Access::Access(std::string token, std::string ticket, uint16_t port)
    : token_(std::move(token)), ticket_(std::move(ticket)), port_(port) {}

bool Access::is_own_host(std::string_view host) const {
  return host == fmt::format("127.0.0.1:{}", port_) || host == fmt::format("localhost:{}", port_);
}

bool Access::is_own_origin(std::string_view origin) const {
  constexpr std::string_view kScheme = "http://";
  return origin.starts_with(kScheme) && is_own_host(origin.substr(kScheme.size()));
}

bool Access::takes(std::string_view text) {
  if (same_secret(text, token_)) return true;
  if (ticket_.empty() || !same_secret(text, ticket_)) return false;
  ticket_.clear();
  return true;
}

bool Access::knows(std::string_view cookie, std::string_view authorization) const {
  constexpr std::string_view kBearer = "Bearer ";
  if (authorization.starts_with(kBearer) && same_secret(authorization.substr(kBearer.size()), token_))
    return true;
  const std::string name = cookie_name() + "=";
  while (!cookie.empty()) {
    const size_t end = cookie.find(';');
    const std::string_view one = cookie.substr(0, end);
    if (one.starts_with(name) && same_secret(one.substr(name.size()), token_)) return true;
    cookie.remove_prefix(end == std::string_view::npos ? cookie.size() : end + 1);
    while (cookie.starts_with(' ')) cookie.remove_prefix(1);
  }
  return false;
}

std::string Access::set_cookie() const {
  // Lax: a link to a shared text on another site has to send the cookie.
  return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Lax", cookie_name(), token_);
}

std::string Access::cookie_name() const { return fmt::format("quern-{}", port_); }

}  // namespace quern::serve
