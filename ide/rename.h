#pragma once
// A name replaced by another one, wherever it stands for the same.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/name_places.h"
#include "ir/base/result.h"

namespace quern::ide {

/// A text in the place of a range.
struct SourceEdit {
  SourceId source;
  Range range;
  std::string text;
  friend bool operator==(const SourceEdit&, const SourceEdit&) = default;
};

/// The name at an offset, if it is one that can have another name: one that the user's sources declare. Nothing
/// where no name is; else why it cannot.
std::optional<Result<NamePlace>> renamable_at(Session& session, SourceId source, uint32_t offset);

/// The edits that give the name at an offset another one, in every source, in order; `new_name` with or without
/// its sigil. What would not be the same program is refused: a name that something else has, that would be
/// captured or that would capture, and one that is no name there. Of text that does not parse nothing is
/// renamed.
Result<std::vector<SourceEdit>> rename(Session& session, SourceId source, uint32_t offset,
                                       std::string_view new_name);

}  // namespace quern::ide
