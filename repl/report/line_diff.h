#pragma once
// What changed from one text to another, by lines.

#include <string>
#include <string_view>

namespace quern {

/// Lines that went after `- `, lines that came after `+ `, and up to `context` lines around them after two
/// blanks; `…` stands for others. "" where the texts are equal.
std::string line_diff(std::string_view before, std::string_view after, size_t context = 1);

}  // namespace quern
