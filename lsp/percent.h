#pragma once
// Percent-encoding of URIs (RFC 3986, section 2.1).

#include <string>
#include <string_view>

namespace quern::lsp {

/// All but letters, digits, `/` and the unreserved marks as `%XX`.
std::string percent_encoded(std::string_view text);
/// A `%` without two digits after it stays.
std::string percent_decoded(std::string_view text);

}  // namespace quern::lsp
