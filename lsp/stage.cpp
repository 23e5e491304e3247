// quern/ir: what a document becomes at a stage of its way. Params `{"uri": …, "stage": "loops", "function": "@f"}`,
// the function left out for the whole document; result `{"text": …}`. The stage `derivative` is the gradient of a function; at
// `loops` each loop has its cost beside it. Nothing of the document runs.
// quern/stages: the stages that there are, in their order; result `[{"stage": "fuse", "does": …}, …]`.

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "ide/derivative.h"
#include "ide/loop_cost.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"
#include "lsp/stage.h"
#include "passes/pipeline.h"
#include "session/run/source_stage.h"

namespace quern::lsp {

/// A function's gradient as a definition: no stage of its own way.
constexpr std::string_view kDerivative = "derivative";

std::string stage_text(ServerState& state, const std::string& uri, const std::string& function,
                       const std::string& stage) {
  const Document* document = state.documents.find(uri);
  if (!document || !document->in_step) throw RequestFailed(fmt::format("{} is not open", uri));
  if (stage != kDerivative && std::ranges::find(Compiler::stages(), stage) == Compiler::stages().end())
    throw RequestFailed(Compiler::unknown_stage(stage));
  if (stage != "ast") {
    const auto problems = state.session.check_with_imports(document->source);
    const auto wrong = std::ranges::find_if(problems, [](const auto& d) { return has_errors({d}); });
    if (wrong != problems.end())
      throw RequestFailed(fmt::format("the text has errors, the first: {}", wrong->message));
  }
  const std::string name = function.starts_with('@') ? function.substr(1) : function;
  Compiler compiler(state.session);
  auto text =
      stage == kDerivative
          ? ide::derivative_text(state.session, state.session.module_of(document->source), name)
          : source_stage(state.session, compiler, document->source, name, stage, loops::print_with_costs);
  if (!text) throw RequestFailed(text.error().message);
  return std::move(*text);
}

template <class Json>
Json stage_of_document(ServerState& state, const Json& params) {
  return {{"text", stage_text(state, params.at("uri"), params.value("function", ""),
                              params.value("stage", "typed"))}};
}

template <class Json>
Json stages(ServerState&, const Json&) {
  Json all = Json::array();
  for (const std::string& stage : Compiler::stages()) {
    const Pass* pass = find_pass(stage);
    all.push_back({{"stage", stage}, {"does", pass ? pass->does : ""}});
  }
  return all;
}

template nlohmann::json stages(ServerState&, const nlohmann::json&);
template nlohmann::json stage_of_document(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
