#pragma once
// Places of any source as the protocol represents them: a URI and a range.

#include <map>
#include <string>

#include "ide/name_places.h"
#include "lsp/protocol.h"
#include "lsp/state.h"

namespace quern::lsp {

class Locations {
 public:
  explicit Locations(ServerState& state) : state_(state) {}

  /// False for a document that is out of step with the client: it has no valid places.
  bool is_known(SourceId source) const {
    const Document* document = state_.documents.of_source(source);
    return !document || document->in_step;
  }
  const std::string& uri(SourceId source) { return seen(source).uri; }
  PositionRange range(SourceId source, Range bytes) { return seen(source).positions.range(bytes); }
  uint32_t offset(SourceId source, Position position) { return seen(source).positions.offset(position); }

  /// A Location.
  template <class Json>
  Json to_json(SourceId source, Range bytes) {
    return {{"uri", uri(source)}, {"range", range_json<Json>(source, bytes)}};
  }
  template <class Json>
  Json range_json(SourceId source, Range bytes) {
    return lsp::to_json<Json>(range(source, bytes));
  }

 private:
  struct Seen {
    std::string uri;
    Positions positions;
  };
  Seen& seen(SourceId source) {
    auto found = seen_.find(source);
    if (found == seen_.end())
      found = seen_
                  .emplace(source, Seen{state_.documents.uri_of(source),
                                        Positions(state_.session.text(source), state_.encoding)})
                  .first;
    return found->second;
  }

  ServerState& state_;
  std::map<SourceId, Seen> seen_;
};

}  // namespace quern::lsp
