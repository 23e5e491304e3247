#include "ide/highlights.h"

#include "ide/name_places.h"

namespace quern::ide {

std::vector<Highlight> highlights(Session& session, SourceId source, uint32_t offset) {
  std::vector<Highlight> found;
  if (const auto name = name_at(session, source, offset))
    for (const NamePlace& place : places_in(session, source, name->target))
      found.push_back({place.range, place.declares});
  return found;
}

}  // namespace quern::ide
