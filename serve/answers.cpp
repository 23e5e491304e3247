#include "serve/answers.h"

#include <fmt/format.h>

namespace quern::serve {

namespace {

constexpr std::string_view kSocketPath = "/lsp";

Answer refusal(int status, std::string_view why) {
  return {status, "text/plain; charset=utf-8", fmt::format("{}\n", why), {}};
}

Answer without_token() {
  return refusal(403,
                 "This page needs the token of its server: open the address that `quern serve` printed.");
}

/// Requests from other origins are rejected, whatever credentials they have.
std::optional<Answer> refusal_of_stranger(const Request& request, const Access& access) {
  if (!access.is_own_host(request.host))
    return refusal(403, "The server is at 127.0.0.1 and localhost, at the port that `quern serve` printed.");
  if (!request.origin.empty() && !access.is_own_origin(request.origin))
    return refusal(403, "Only the server's own page may ask.");
  return std::nullopt;
}

/// The page may load its own files and connect to its own server. Monaco adds inline styles to the page.
std::string policy(const std::string& host) {
  return fmt::format(
      "default-src 'none'; script-src 'self'; worker-src 'self'; style-src 'self' 'unsafe-inline'; "
      "font-src 'self'; img-src 'self' data:; connect-src 'self' ws://{}; "
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      host);
}

}  // namespace

Answer answer(const Request& request, Access& access, const PageFiles& files) {
  constexpr std::string_view kToken = "?token=";
  if (auto refused = refusal_of_stranger(request, access)) return *refused;
  if (request.method != "GET") {
    Answer refused = refusal(405, "The server knows GET alone.");
    refused.fields.emplace_back("Allow", "GET");
    return refused;
  }
  const std::string_view target = request.target;
  const size_t query = target.find('?');
  const std::string_view path = target.substr(0, query);
  if (query != std::string_view::npos && target.substr(query).starts_with(kToken)) {
    if (!access.takes(target.substr(query + kToken.size()))) return without_token();
    return {303, "", "", {{"Location", "/"}, {"Set-Cookie", access.set_cookie()}}};
  }
  if (!access.knows(request.cookie, request.authorization)) return without_token();
  auto file = files.find(path);
  if (!file) return refusal(404, "There is no such file.");
  return {200,
          std::string(file->type),
          std::move(file->content),
          {{"Content-Security-Policy", policy(request.host)}}};
}

std::optional<Answer> refusal_of_socket(const Request& request, const Access& access) {
  if (auto refused = refusal_of_stranger(request, access)) return refused;
  if (request.origin.empty())
    return refusal(403, "A WebSocket has to say its Origin: the server's own page.");
  if (!access.knows(request.cookie, request.authorization)) return without_token();
  if (request.target != kSocketPath)
    return refusal(404, fmt::format("WebSockets are at {} alone.", kSocketPath));
  return std::nullopt;
}

}  // namespace quern::serve
