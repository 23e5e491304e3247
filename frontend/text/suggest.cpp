#include "frontend/text/suggest.h"

#include <algorithm>
#include <cctype>

namespace quern {

namespace {

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

// Twice the optimal string alignment distance, so that a mere change of case costs half an edit.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> d(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) d[i][0] = 2 * i;
  for (size_t j = 0; j <= b.size(); ++j) d[0][j] = 2 * j;
  for (size_t i = 1; i <= a.size(); ++i)
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = a[i - 1] == b[j - 1] ? 0 : lower(a[i - 1]) == lower(b[j - 1]) ? 1 : 2;
      d[i][j] = std::min({d[i - 1][j] + 2, d[i][j - 1] + 2, d[i - 1][j - 1] + change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 2);
    }
  return d[a.size()][b.size()];
}

bool same_but_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  constexpr size_t kLongest = 64;
  if (name.empty() || name.size() > kLongest) return std::nullopt;
  // For a name of one or two letters any edit makes another name, so only case may be a slip.
  size_t allowed = name.size() < 3 ? 0 : 2 * std::max<size_t>(1, name.size() / 3);
  std::optional<std::string> best;
  size_t best_distance = allowed + 1;
  for (const std::string& candidate : candidates) {
    if (candidate == name || candidate.size() > kLongest) continue;
    bool without_prefix = candidate.size() > name.size() && candidate.ends_with(name) &&
                          candidate[candidate.size() - name.size() - 1] == '.';
    size_t difference =
        candidate.size() > name.size() ? candidate.size() - name.size() : name.size() - candidate.size();
    if (!without_prefix && 2 * difference > allowed) continue;
    size_t found = without_prefix || same_but_case(name, candidate) ? 0 : distance(name, candidate);
    if (found >= best_distance) continue;
    best = candidate;
    best_distance = found;
  }
  return best;
}

Suggestion suggest(const std::optional<std::string>& meant, const Place& place) {
  if (!meant) return {};
  return {"; did you mean `" + *meant + "`?", {{"write `" + *meant + "`", {{place, *meant}}}}};
}

}  // namespace quern
