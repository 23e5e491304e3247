// quern/virtualDocument: the text of a document that is no file: `quern:/library/nn.relay`, where the library's
// declarations are, and what functions become (lsp/virtual_address.h). Params `{"uri": …}`, result `{"text": …}`.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "lsp/methods.h"
#include "lsp/protocol.h"
#include "lsp/stage.h"
#include "lsp/virtual_address.h"

namespace quern::lsp {

template <class Json>
Json virtual_document(ServerState& state, const Json& params) {
  const auto& uri = params.at("uri").template get_ref<const std::string&>();
  if (const auto address = virtual_address(uri))
    return {{"text", stage_text(state, address->uri, address->function, address->stage)}};
  const std::optional<SourceId> source = state.documents.library_source(uri);
  if (!source) throw RequestFailed(fmt::format("there is no {} among the files of the library", uri));
  return {{"text", state.session.text(*source)}};
}

template nlohmann::json virtual_document(ServerState&, const nlohmann::json&);

}  // namespace quern::lsp
