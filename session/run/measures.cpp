#include "session/run/measures.h"

#include "passes/pipeline.h"

namespace quern {

namespace {

constexpr std::string_view kPrepacked = "prepacked", kInPlace = "in_place", kStorage = "storage";

}  // namespace

std::vector<std::string> measures() {
  std::vector<std::string> names;
  for (const Pass& pass : pipeline())
    if (pass.only_speeds) names.emplace_back(pass.name);
  names.emplace_back(kPrepacked);
  names.emplace_back(kInPlace);
  names.emplace_back(kStorage);
  return names;
}

void leave_out(std::string_view measure, CompilerOptions& options) {
  if (measure == kPrepacked)
    options.execution.keeps_forms = false;
  else if (measure == kInPlace)
    options.execution.writes_in_place = false;
  else if (measure == kStorage)
    options.execution.shares_storage = false;
  else
    options.left_out.emplace_back(measure);
}

}  // namespace quern
