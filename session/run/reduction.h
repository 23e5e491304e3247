#pragma once
// Making a program that fails smaller, as a search over texts: what `quern reduce` does.

#include <functional>
#include <string>

namespace quern {

struct ReductionOptions {
  /// Whether a text may be checked in this process, so that one with new mistakes is not tried and
  /// expressions may become literals of their types; not where a check is what crashes.
  bool checks = true;
};

/// A text of which `fails` holds, as it does of `text`, and of which no part can go: declarations, statements
/// and other parts of lists are left out, expressions become one of their parts or a literal of their type,
/// numbers become small. `fails` is asked of texts that parse where `text` does; each smaller one that it
/// holds of is where the search goes on.
std::string reduced(const std::string& text, const std::function<bool(const std::string&)>& fails,
                    const ReductionOptions& options = {});

}  // namespace quern
