#pragma once
// Suggestions for names that do not exist.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"

namespace quern {

/// The candidate nearest to `name` by optimal string alignment (Damerau-Levenshtein without edits inside a
/// transposition), if near enough to be a likely slip. A difference only in case, or a missing prefix ("relu"
/// for "nn.relu"), is the smallest slip.
std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// The end of a message, "; did you mean `%x`?", and the fix that writes it at a place; both empty if there
/// is none.
struct Suggestion {
  std::string text;
  std::vector<Fix> fixes;
};
Suggestion suggest(const std::optional<std::string>& meant, const Place& place);

}  // namespace quern
