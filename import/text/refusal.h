#pragma once
// What stops the import of one node; whoever imports the graph collects them.

#include <stdexcept>
#include <string>

namespace quern::import_text {

/// Why a part of a model has no text, as a clause fit to show a user.
struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace quern::import_text
