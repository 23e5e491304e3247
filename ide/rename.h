#pragma once
// Renames all occurrences of a target.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/name_places.h"
#include "ir/base/result.h"

namespace quern::ide {

/// A replacement of a range.
struct SourceEdit {
  SourceId source;
  Range range;
  std::string text;
  friend bool operator==(const SourceEdit&, const SourceEdit&) = default;
};

/// The name at an offset, if it can be renamed: if the user's sources declare it. Nothing if there is no name; else why
/// it cannot.
std::optional<Result<NamePlace>> renamable_at(Session& session, SourceId source, uint32_t offset);

/// The edits that rename the name at an offset in every source, in order; `new_name` with or without its sigil. Rejects
/// what would change the program: a name that is taken, that would be captured or that would capture, and one that is
/// not valid there. Renames nothing in text that does not parse.
Result<std::vector<SourceEdit>> rename(Session& session, SourceId source, uint32_t offset,
                                       std::string_view new_name);

}  // namespace quern::ide
