#pragma once
// Code lenses above the parts of a text: evaluating, testing, timing, viewing their IR.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::ide {

struct Lens {
  enum class Does : uint8_t {
    EvaluateFile,
    Evaluate,  ///< the text after `// >>>`
    Test,
    AllTests,
    Time,      ///< calls with random arguments
    Gradient,  ///< shows the function's
    Ir,        ///< shows the IR of a function
  };
  Does does;
  Range range;       ///< of the declaration or the comment that it is for
  std::string name;  ///< of the test or, without `@`, of the function
};

/// In text order. No types are inferred for them.
std::vector<Lens> lenses(Session& session, SourceId source);

/// The texts after `// >>>` in the comments of a text.
std::vector<Range> evaluated_comments(std::string_view text);

}  // namespace quern::ide
