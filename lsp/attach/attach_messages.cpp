#include "lsp/attach/attach_messages.h"

#include <nlohmann/json.hpp>

#include "lsp/evaluation/messages.h"
#include "lsp/parse_json.h"

namespace quern::lsp {

namespace {

using nlohmann::json;

constexpr const char* kAttach = "quern/attach";
constexpr const char* kTexts = "quern/texts";
constexpr const char* kValues = "quern/values";

std::string encoded(const char* method, const json& params) {
  const json message = {{"jsonrpc", "2.0"}, {"method", method}, {"params", params}};
  return message.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Decodes the params of a message of this method.
template <class T, class Decode>
std::optional<T> decoded(std::string_view message, const char* method, const Decode& decode) {
  const auto all = parse_json<json>(message);
  if (!all.is_object() || all.value("method", json()) != method || !all.contains("params"))
    return std::nullopt;
  try {
    return decode(all.at("params"));
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string encode_attach(std::string_view token) { return encoded(kAttach, {{"token", token}}); }

std::string encode(const OpenTexts& texts) {
  return encoded(kTexts, {{"changed", texts.changed}, {"closed", texts.closed}});
}

std::string encode(const ValuesOfFile& values) {
  return encoded(kValues,
                 {{"path", values.path}, {"text", values.text}, {"evaluation", encode(values.evaluation)}});
}

std::optional<std::string> decode_attach(std::string_view message) {
  return decoded<std::string>(message, kAttach, [](const json& params) { return params.at("token"); });
}

std::optional<OpenTexts> decode_texts(std::string_view message) {
  return decoded<OpenTexts>(message, kTexts, [](const json& params) {
    return OpenTexts{params.at("changed"), params.at("closed")};
  });
}

std::optional<ValuesOfFile> decode_values(std::string_view message) {
  auto values = decoded<std::optional<ValuesOfFile>>(message, kValues, [](const json& params) {
    auto line = decode_line(params.at("evaluation").get<std::string>());
    if (!line || !std::holds_alternative<ide::Evaluation>(*line)) return std::optional<ValuesOfFile>();
    return std::optional(
        ValuesOfFile{params.at("path"), params.at("text"), std::get<ide::Evaluation>(*line)});
  });
  return values ? std::move(*values) : std::nullopt;
}

}  // namespace quern::lsp
