#pragma once
// Repeated parts of a model as functions: twelve layers that are alike become one definition and twelve calls.

#include <string>
#include <vector>

#include "import/text/writer.h"

namespace quern::import_text {

/// The lines without those whose variables nothing uses; parts of tuples that nothing uses are `_`.
std::vector<Line> used_lines(std::vector<Line> lines, const std::string& result);

/// Replaces runs of lines of one part of the model by calls, where several parts have the same lines over weights of the
/// same type; the definitions go to the document. `result` is what the text around the lines uses of them.
std::vector<Line> with_functions(std::vector<Line> lines, const std::string& result,
                                 const Weights::Record& record, Document& document);

}  // namespace quern::import_text
