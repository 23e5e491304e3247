#include "lsp/virtual_address.h"

#include <fmt/format.h>

#include "lsp/percent.h"

namespace quern::lsp {

namespace {

constexpr std::string_view kBegin = "quern:/ir/", kEnding = ".relay";

}  // namespace

std::string uri_of(const VirtualAddress& address) {
  return fmt::format("{}{}/{}{}?{}", kBegin, percent_encoded(address.stage),
                     percent_encoded(address.function), kEnding, percent_encoded(address.uri));
}

std::optional<VirtualAddress> virtual_address(std::string_view uri) {
  if (!uri.starts_with(kBegin)) return std::nullopt;
  uri.remove_prefix(kBegin.size());
  const size_t slash = uri.find('/'), question = uri.find('?');
  if (slash == std::string_view::npos || question == std::string_view::npos || slash > question)
    return std::nullopt;
  std::string_view function = uri.substr(slash + 1, question - slash - 1);
  if (function.ends_with(kEnding)) function.remove_suffix(kEnding.size());
  return VirtualAddress{percent_decoded(uri.substr(0, slash)), percent_decoded(function),
                        percent_decoded(uri.substr(question + 1))};
}

}  // namespace quern::lsp
