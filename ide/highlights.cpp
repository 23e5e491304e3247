#include "ide/highlights.h"

#include <algorithm>
#include <optional>

namespace quern::ide {

namespace {

// An offset behind the last character of a name is of it, as a cursor there is.
std::optional<NameTarget> target_at(Session& session, SourceId source, uint32_t offset) {
  const std::optional<SyntaxPath> at = session.syntax_at(source, offset);
  if (!at) return std::nullopt;
  for (const Occurrence& occurrence : session.occurrences(at->declaration)) {
    const Range range = session.range_of(occurrence, at->declaration);
    if (range.begin <= offset && offset <= range.end) return occurrence.target;
  }
  return std::nullopt;
}

}  // namespace

std::vector<Highlight> highlights(Session& session, SourceId source, uint32_t offset) {
  std::vector<Highlight> found;
  const std::optional<NameTarget> target = target_at(session, source, offset);
  if (!target) return found;
  auto look = [&](DeclarationId id) {
    for (const Occurrence& occurrence : session.occurrences(id))
      if (occurrence.target == *target)
        found.push_back({session.range_of(occurrence, id), occurrence.declares});
  };
  for (const DeclarationId id : session.declarations(source)) {
    look(id);
    for (const DeclarationId chunk : session.chunks(id)) look(chunk);
  }
  std::ranges::sort(found, {}, [](const Highlight& h) { return h.range.begin; });
  return found;
}

}  // namespace quern::ide
