#pragma once
// The head of a declaration in one line.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"

namespace quern::ide {

struct SignatureLine {
  std::string text;               ///< `nn.relu(%data: Tensor[s, t]) -> Tensor[s, t]`
  std::vector<Range> parameters;  ///< within the text
};

/// For a `def`, an `op` or a `static`: its name, type parameters, parameters and result, without clauses and bodies.
/// For anything else, the words up to its first brace.
SignatureLine signature_line(std::string_view declaration);

/// A text in one line: without comments, and with one blank for each run of blanks, but none inside of brackets.
std::string in_one_line(std::string_view text);

}  // namespace quern::ide
