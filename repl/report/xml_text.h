#pragma once
// Texts inside of XML.

#include <string>
#include <string_view>

namespace quern {

/// As the text of an element or, between double quotes, of an attribute; control characters, which XML has not, as U+FFFD.
inline std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t')
      out += "\xEF\xBF\xBD";
    else
      out += c;
  }
  return out;
}

}  // namespace quern
