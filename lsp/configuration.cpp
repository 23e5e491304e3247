// workspace/didChangeConfiguration, and the settings that come with `initialize` or are asked for.

#include "lsp/configuration.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/evaluation/evaluations.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"

namespace quern::lsp {

namespace {

/// A positive number; nothing if it is absent or invalid. Warns about an invalid one.
template <class Json>
std::optional<double> positive(ServerState& state, const Json& settings, const std::string& name) {
  if (!settings.is_object() || !settings.contains(name)) return std::nullopt;
  const Json& value = settings.at(name);
  constexpr double kMost = 1e9;
  if (value.is_number() && value.template get<double>() > 0 && value.template get<double>() <= kMost)
    return value.template get<double>();
  show_warning(state.transport, fmt::format("`quern.evaluation.{}` has to be a positive number, not {}", name,
                                            value.dump(-1, ' ', false, Json::error_handler_t::replace)));
  return std::nullopt;
}

}  // namespace

template <class Json>
void take_settings(ServerState& state, const Json& settings) {
  if (!settings.is_object()) return;
  if (settings.contains("quern")) return take_settings(state, settings.at("quern"));
  if (!settings.contains("evaluation")) return;
  const Json& evaluation = settings.at("evaluation");
  EvaluationLimits limits = state.evaluations.limits();
  if (const auto seconds = positive(state, evaluation, "seconds"))
    limits.time = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(*seconds));
  if (const auto memory = positive(state, evaluation, "memoryMiB"))
    limits.memory = static_cast<size_t>(*memory) << 20;
  state.evaluations.set_limits(limits);
}

void ask_for_settings(ServerState& state) {
  const nlohmann::json items = nlohmann::json::array({{{"section", "quern"}}});
  send_request<nlohmann::json>(state.transport, kSettingsRequest, "workspace/configuration",
                               {{"items", items}});
}

/// A client that can be asked may say only that they changed.
template <class Json>
void did_change_configuration(ServerState& state, const Json& params) {
  if (state.client.gives_settings)
    ask_for_settings(state);
  else
    take_settings(state, params.at("settings"));
}

template void take_settings(ServerState&, const nlohmann::json&);
template void did_change_configuration(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
