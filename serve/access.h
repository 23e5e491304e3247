#pragma once
// Access to the server: with its token, at an address of this machine.

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/base/result.h"

namespace quern::serve {

/// 128 bits of the system's random source, as 32 hexadecimal digits.
Result<std::string> random_token();

class Access {
 public:
  /// `ticket` is accepted once instead of the token. It is for the browser that the server starts, since other users of
  /// the machine can see the arguments of a program.
  Access(std::string token, std::string ticket, uint16_t port);

  /// Whether a Host names this server by a local address. A foreign name that resolves to this machine (DNS rebinding)
  /// does not.
  bool is_own_host(std::string_view host) const;
  /// Whether an Origin is this server's page.
  bool is_own_origin(std::string_view origin) const;
  /// Whether a text is the token or the ticket, which expires by that.
  bool takes(std::string_view text);
  /// Whether a Cookie or an Authorization contains the token.
  bool knows(std::string_view cookie, std::string_view authorization) const;

  const std::string& token() const { return token_; }
  const std::string& ticket() const { return ticket_; }
  /// The Set-Cookie for a client that presented the token. Cookies are not bound to a port, so the name contains it.
  std::string set_cookie() const;

 private:
  std::string cookie_name() const;

  std::string token_, ticket_;
  uint16_t port_;
};

}  // namespace quern::serve
