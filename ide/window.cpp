#include "ide/window.h"

#include <algorithm>
#include <span>

namespace quern::ide {

Range window_at(Session& session, SourceId source, uint32_t offset) {
  constexpr uint32_t kAtLeast = 8192;
  const std::vector<DeclarationId>& all = session.declarations(source);
  const auto begin_of = [&](DeclarationId id) { return session.range_of(id).begin; };
  const auto next =
      std::ranges::partition_point(all, [&](DeclarationId id) { return begin_of(id) <= offset; });
  const auto end = static_cast<uint32_t>(next == all.end() ? session.text(source).size() : begin_of(*next));
  auto first = next;
  while (first != all.begin() && (first == next || end - begin_of(*(first - 1)) <= kAtLeast)) --first;
  return {first == all.begin() ? 0 : begin_of(*first), end};
}

std::vector<Range> windows_of(Session& session, SourceId source) {
  std::vector<Range> parts;
  uint32_t begin = 0;
  const std::vector<DeclarationId>& all = session.declarations(source);
  // The first part begins with the text.
  for (DeclarationId id : std::span(all).subspan(std::min<size_t>(all.size(), 1))) {
    const uint32_t next = session.range_of(id).begin;
    parts.push_back({begin, next});
    begin = next;
  }
  parts.push_back({begin, static_cast<uint32_t>(session.text(source).size())});
  return parts;
}

}  // namespace quern::ide
