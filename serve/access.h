#pragma once
// Who may talk to the server: who has its token, at an address of this machine.

#include <cstdint>
#include <string>
#include <string_view>

#include "ir/base/result.h"

namespace quern::serve {

/// 128 bits of the system's random source, as 32 hexadecimal digits.
Result<std::string> random_token();

class Access {
 public:
  /// `ticket` takes the place of the token once. It is for the browser that the server starts: other users of the
  /// machine see the words that a program is started with.
  Access(std::string token, std::string ticket, uint16_t port);

  /// Whether a Host names this server by an address of its own machine. A name of somebody else that leads here (DNS
  /// rebinding) does not.
  bool is_own_host(std::string_view host) const;
  /// Whether an Origin is that of this server's page.
  bool is_own_origin(std::string_view origin) const;
  /// Whether a text is the token, or the ticket, which is none from then on.
  bool takes(std::string_view text);
  /// Whether a Cookie or an Authorization has the token.
  bool knows(std::string_view cookie, std::string_view authorization) const;

  const std::string& token() const { return token_; }
  const std::string& ticket() const { return ticket_; }
  /// What a Set-Cookie says to one who came with the token. Cookies know no ports: the name has the port.
  std::string set_cookie() const;

 private:
  std::string cookie_name() const;

  std::string token_, ticket_;
  uint16_t port_;
};

}  // namespace quern::serve
