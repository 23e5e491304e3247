// quern/ir: the IR of a document at a stage of compilation. Params `{"uri": …, "stage": "loops", "function": "@f"}`,
// without the function for the whole document; the stage `derivative` is the gradient of a function. Result
// `{"text": …, "version": …, "map": [{"lines": [0, 2], "source": [[4, 4], [7, 9]]}, …]}`: the version of the document,
// and which lines of the text come from which of its lines. Does not run any of the document.
// quern/virtualDocument: the text of a document that is not a file: `quern:/library/nn.relay`, with the library's
// declarations, and the IR of functions (lsp/virtual_address.h). Params `{"uri": …}`, result `{"text": …}`, or that of
// quern/ir.
// quern/stages: the available stages, in order; result `[{"stage": "fuse", "does": …}, …]`.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/evaluation/ir_documents.h"
#include "lsp/methods.h"
#include "lsp/protocol.h"
#include "lsp/virtual_address.h"
#include "passes/pipeline.h"

namespace quern::lsp {

template <class Json>
void stage_of_document(ServerState& state, const Json& id, const Json& params) {
  state.ir_documents.start(id.dump(),
                           {params.value("stage", "typed"), params.value("function", ""), params.at("uri")});
}

template <class Json>
void virtual_document(ServerState& state, const Json& id, const Json& params) {
  const auto& uri = params.at("uri").template get_ref<const std::string&>();
  if (const auto address = virtual_address(uri)) return state.ir_documents.start(id.dump(), *address);
  const std::optional<SourceId> source = state.documents.library_source(uri);
  if (!source) throw RequestFailed(fmt::format("there is no {} among the files of the library", uri));
  send_result<Json>(state.transport, id, {{"text", state.session.text(*source)}});
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

template void stage_of_document(ServerState&, const nlohmann::json&, const nlohmann::json&);
template void virtual_document(ServerState&, const nlohmann::json&, const nlohmann::json&);
template nlohmann::json stages(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
