#include "ide/references.h"

#include <algorithm>
#include <string>

namespace quern::ide {

std::vector<NamePlace> references(Session& session, const NameTarget& target) {
  const std::optional<NamePlace> declared = declared_place(session, target);
  if (!declared) return {};
  const std::string name(text_at(session, *declared));
  // Operators may occur as symbols.
  const bool is_written = target.kind != NameKind::Operator;
  const bool in_module_alone = is_seen_in_its_module_alone(target.kind);
  const ModuleId module = session.module_of(declared->source);
  std::vector<SourceId> sources = session.sources();
  if (session.is_library(declared->source)) sources.push_back(declared->source);
  std::vector<NamePlace> all;
  for (const SourceId source : sources) {
    if (in_module_alone && session.module_of(source) != module) continue;
    if (is_written && session.text(source).find(name) == std::string::npos) continue;
    std::ranges::move(places_in(session, source, target), std::back_inserter(all));
  }
  return all;
}

}  // namespace quern::ide
