#pragma once
// Sources for the arguments of an entry function: files and random numbers.

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
  std::map<std::string, Value> values;       ///< of variables with the names of parameters
  std::map<std::string, std::string> files;  ///< parameter name to the file with its value
  std::string by_name;                       ///< a file that supplies the others by name, or ""
  std::optional<uint64_t> seed;              ///< for random values of the rest
};

struct EntryArguments {
  std::vector<Value> values;          ///< of all parameters, if nothing is wrong
  std::vector<std::string> problems;  ///< one line each
  std::vector<std::string> missing;   ///< parameters without a source, with their types
};
EntryArguments entry_arguments(std::span<const Variable* const> parameters, const ArgumentSources& sources,
                               const DataLookup& lookup);

}  // namespace quern
