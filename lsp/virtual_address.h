#pragma once
// The addresses of documents that are not files: `quern:/ir/STAGE/FUNCTION.relay?URI` is the IR of a function of an
// open document at a stage. The stage `derivative` is its gradient as a definition.

#include <optional>
#include <string>
#include <string_view>

namespace quern::lsp {

struct VirtualAddress {
  std::string stage, function;  ///< without `@`
  std::string uri;              ///< of the document
};

std::string uri_of(const VirtualAddress& address);
/// Nothing for any other URI.
std::optional<VirtualAddress> virtual_address(std::string_view uri);

}  // namespace quern::lsp
