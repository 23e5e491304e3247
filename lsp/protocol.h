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

/// What a handler throws where its request is well-formed and cannot be done: the message says why, to a user.
struct RequestFailed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class Json>
void send_result(Transport& transport, const Json& id, const Json& result);
/// `data`: as the protocol has it for the code; null for none.
template <class Json>
void send_error(Transport& transport, const Json& id, ErrorCode code, std::string_view message,
                const Json& data = nullptr);
/// A request of the server's own; its answer is not waited for.
template <class Json>
void send_request(Transport& transport, std::string_view id, std::string_view method, const Json& params);
template <class Json>
void send_notification(Transport& transport, std::string_view method, const Json& params);

/// A line in the client's log of this server.
void log_message(Transport& transport, std::string_view text);
/// A warning that the client shows to its user.
void show_warning(Transport& transport, std::string_view text);

/// Throws Json's exceptions where the value is no position. Numbers that are out of range clamp.
template <class Json>
Position to_position(const Json& value);
template <class Json>
PositionRange to_range(const Json& value);
template <class Json>
Json to_json(const PositionRange& range);

}  // namespace quern::lsp
