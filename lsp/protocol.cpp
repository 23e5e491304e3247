#include "lsp/protocol.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace quern::lsp {

namespace {

enum class MessageType : int { Warning = 2, Log = 4 };

// Texts that are not valid UTF-8 (a path may be any bytes) are sent with replacement characters.
template <class Json>
void send(Transport& transport, const Json& message) {
  transport.write(message.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// get_ref and not get: a fraction or a string is a mistake, not something to convert.
template <class Json>
uint32_t clamped(const Json& value) {
  constexpr uint32_t kMost = std::numeric_limits<uint32_t>::max();
  if (value.is_number_unsigned())
    return static_cast<uint32_t>(std::min<uint64_t>(value.template get<uint64_t>(), kMost));
  return static_cast<uint32_t>(
      std::clamp<int64_t>(value.template get_ref<const typename Json::number_integer_t&>(), 0, kMost));
}

}  // namespace

template <class Json>
void send_result(Transport& transport, const Json& id, const Json& result) {
  send<Json>(transport, {{"jsonrpc", "2.0"}, {"id", id}, {"result", result}});
}

template <class Json>
void send_error(Transport& transport, const Json& id, ErrorCode code, std::string_view message,
                const Json& data) {
  Json error = {{"code", static_cast<int>(code)}, {"message", message}};
  if (!data.is_null()) error["data"] = data;
  send<Json>(transport, {{"jsonrpc", "2.0"}, {"id", id}, {"error", error}});
}

template <class Json>
void send_notification(Transport& transport, std::string_view method, const Json& params) {
  send<Json>(transport, {{"jsonrpc", "2.0"}, {"method", method}, {"params", params}});
}

template <class Json>
void send_request(Transport& transport, std::string_view id, std::string_view method, const Json& params) {
  Json message = {{"jsonrpc", "2.0"}, {"id", id}, {"method", method}};
  if (!params.is_null()) message["params"] = params;
  send(transport, message);
}

void log_message(Transport& transport, std::string_view text) {
  nlohmann::json params = {{"type", static_cast<int>(MessageType::Log)}, {"message", text}};
  send_notification(transport, "window/logMessage", params);
}

void show_warning(Transport& transport, std::string_view text) {
  nlohmann::json params = {{"type", static_cast<int>(MessageType::Warning)}, {"message", text}};
  send_notification(transport, "window/showMessage", params);
}

template <class Json>
Position to_position(const Json& value) {
  return {clamped(value.at("line")), clamped(value.at("character"))};
}

template <class Json>
PositionRange to_range(const Json& value) {
  return {to_position(value.at("start")), to_position(value.at("end"))};
}

template <class Json>
Json to_json(const PositionRange& range) {
  auto position = [](Position p) { return Json{{"line", p.line}, {"character", p.character}}; };
  return {{"start", position(range.start)}, {"end", position(range.end)}};
}

template void send_result(Transport&, const nlohmann::json&, const nlohmann::json&);
template void send_error(Transport&, const nlohmann::json&, ErrorCode, std::string_view,
                         const nlohmann::json&);
template void send_request(Transport&, std::string_view, std::string_view, const nlohmann::json&);
template void send_notification(Transport&, std::string_view, const nlohmann::json&);
template Position to_position(const nlohmann::json&);
template PositionRange to_range(const nlohmann::json&);
template nlohmann::json to_json(const PositionRange&);

}  // namespace quern::lsp
