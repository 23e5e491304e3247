#pragma once
// The protocol's envelope and its basic values. `Json` is nlohmann::json throughout: only .cpp files include
// that library, so that headers name it by a template parameter and each .cpp instantiates what it defines.

#include <stdexcept>
#include <string_view>

#include "lsp/positions.h"
#include "lsp/transport.h"

namespace quern::lsp {

/// JSON-RPC's and the protocol's error codes.
enum ErrorCode : int {
  kParseError = -32700,
  kInvalidRequest = -32600,
  kMethodNotFound = -32601,
  kInvalidParams = -32602,
  kInternalError = -32603,
  kServerNotInitialized = -32002,
  kRequestCancelled = -32800,
  kServerCancelled = -32802,
  kRequestFailed = -32803,
};

/// Thrown by a handler for a well-formed request that cannot be fulfilled. The message tells the user why.
struct RequestFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Json>
void send_result(Transport& transport, const Json& id, const Json& result);
/// `data`: as the protocol specifies it for the code; null for none.
template <class Json>
void send_error(Transport& transport, const Json& id, ErrorCode code, std::string_view message,
                const Json& data = nullptr);
/// A request from the server; its response is not awaited.
template <class Json>
void send_request(Transport& transport, std::string_view id, std::string_view method, const Json& params);
template <class Json>
void send_notification(Transport& transport, std::string_view method, const Json& params);

/// A line in the client's log of this server.
void log_message(Transport& transport, std::string_view text);
/// A warning that the client shows to its user.
void show_warning(Transport& transport, std::string_view text);

/// Throws Json's exceptions if the value is not a position. Numbers that are out of range are clamped.
template <class Json>
Position to_position(const Json& value);
template <class Json>
PositionRange to_range(const Json& value);
template <class Json>
Json to_json(const PositionRange& range);

}  // namespace quern::lsp
