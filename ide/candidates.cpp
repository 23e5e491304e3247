#include "ide/candidates.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>

namespace quern::ide {

namespace {

/// ASCII only: no other letters in names have two cases.
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool starts_without_case(std::string_view name, std::string_view typed) {
  return name.size() >= typed.size() && std::equal(typed.begin(), typed.end(), name.begin(),
                                                   [](char a, char b) { return lower(a) == lower(b); });
}

// Whether a part of the name, after a `.` or a `_`, starts with the typed text.
bool part_starts(std::string_view name, std::string_view typed) {
  for (size_t i = 1; i < name.size(); ++i)
    if ((name[i - 1] == '.' || name[i - 1] == '_' || name[i - 1] == '"') &&
        starts_without_case(name.substr(i), typed))
      return true;
  return false;
}

bool has_subsequence(std::string_view name, std::string_view typed) {
  size_t found = 0;
  for (size_t i = 0; i < name.size() && found < typed.size(); ++i)
    found += lower(name[i]) == lower(typed[found]);
  return found == typed.size();
}

bool is_sigil(char c) { return c == '%' || c == '@' || c == '"'; }

}  // namespace

std::optional<NameMatch> match_name(std::string_view name, std::string_view typed) {
  // The typed text may lack the sigil of the name; a typed sigil has to match.
  const bool has_sigil = !typed.empty() && is_sigil(typed[0]);
  if (has_sigil) {
    if (name.empty() || name[0] != typed[0]) return std::nullopt;
    typed.remove_prefix(1);
  }
  if (!name.empty() && is_sigil(name[0])) name.remove_prefix(1);
  if (name.starts_with(typed)) return NameMatch::Prefix;
  if (starts_without_case(name, typed)) return NameMatch::PrefixWithoutCase;
  if (name.substr(name.rfind('.') + 1).starts_with(typed)) return NameMatch::LastNamePrefix;
  if (part_starts(name, typed)) return NameMatch::PartPrefix;
  // Most names contain any single letter.
  if (typed.size() > 1 && has_subsequence(name, typed)) return NameMatch::Subsequence;
  return std::nullopt;
}

void Candidates::add(Candidate candidate) {
  if (const auto match = match_name(candidate.label, typed_)) all_.push_back({std::move(candidate), *match});
}

CompletionList Candidates::take(Range replaced) {
  auto key = [](const Ranked& r) {
    return std::tuple(r.match, r.candidate.group, -r.candidate.fit, -r.candidate.recency);
  };
  std::vector<Ranked*> order;
  order.reserve(all_.size());
  for (Ranked& r : all_) order.push_back(&r);
  CompletionList list{replaced, {}, all_.size() > kMost};
  const auto shown = order.begin() + static_cast<std::ptrdiff_t>(std::min(all_.size(), kMost));
  std::partial_sort(order.begin(), shown, order.end(), [&](const Ranked* a, const Ranked* b) {
    const auto of_a = key(*a), of_b = key(*b);
    if (of_a != of_b) return of_a < of_b;
    // Of two with the same label, the one with a detail comes first.
    const auto by_name = a->candidate.label <=> b->candidate.label;
    return by_name != 0 ? by_name < 0 : a->candidate.detail && !b->candidate.detail;
  });
  std::unordered_set<std::string_view> labels;
  int rank = -1;
  const Ranked* last = nullptr;
  for (auto at = order.begin(); at != shown; ++at) {
    if (!last || key(*last) != key(**at)) ++rank;
    last = *at;
    const Candidate& c = last->candidate;
    if (labels.insert(c.label).second)
      list.items.push_back({c.label, c.label, c.kind, c.detail ? c.detail() : "", rank});
  }
  return list;
}

}  // namespace quern::ide
