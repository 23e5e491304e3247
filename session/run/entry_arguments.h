#pragma once
// Where the arguments of an entry come from: files, and random numbers.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/expr/expr.h"
#include "session/run/data_values.h"

namespace quern {

struct ArgumentSources {
  std::map<std::string, std::string> files;  ///< by the name of a parameter: a file with its value
  std::string by_name;                       ///< a file that gives the others by their names, or ""
  std::optional<uint64_t> seed;              ///< of random numbers for what is left
};

struct EntryArguments {
  std::vector<Value> values;          ///< of all parameters, where nothing is wrong
  std::vector<std::string> problems;  ///< a line each
  std::vector<std::string> missing;   ///< the parameters that nothing gives, with their types
};
EntryArguments entry_arguments(std::span<const Variable* const> parameters, const ArgumentSources& sources,
                               const DataLookup& lookup);

}  // namespace quern
