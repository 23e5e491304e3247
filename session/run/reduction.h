#pragma once
// Reduces a failing program by a search over texts, for `quern reduce`.

#include <functional>
#include <string>

namespace quern {

struct ReductionOptions {
  /// Whether texts may be checked in this process, which skips candidates with new mistakes and allows
  /// literals of an expression's type; not if checking is what crashes.
  bool checks = true;
};

/// A text for which `fails` holds, as for `text`, and from which no part can be removed: declarations,
/// statements and other list items are dropped, expressions become one of their parts or a literal of their
/// type, numbers become small. If `text` parses, `fails` is called only for texts that do; the search
/// continues from each smaller text for which it holds.
std::string reduced(const std::string& text, const std::function<bool(const std::string&)>& fails,
                    const ReductionOptions& options = {});

}  // namespace quern
