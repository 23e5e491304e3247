#pragma once
// What an import makes of a model, whatever its file is.

#include <string>
#include <vector>

#include "ir/io/data_files.h"

namespace quern::import_text {

struct Imported {
  std::string text;                   ///< in the canonical layout
  Entries<TensorPtr> weights;         ///< for the file that it loads; none if there are no weights
  std::vector<std::string> problems;  ///< why there is no text, a line each
};

}  // namespace quern::import_text
