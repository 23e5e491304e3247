#pragma once
// The stored references that make_references.py wrote: references/GROUP.txt, whose entries are in
// references/GROUP.safetensors.

#include <cstdint>
#include <string>
#include <vector>

#include "tests/support/cases.h"

namespace quern::numeric {

/// One line of a table, `name | terms | expression | %variable=entry… | result…`: a case, and what it has to
/// give.
struct Reference {
  Case of;
  int64_t terms = 1;                 ///< how many elements a reduction adds up
  std::vector<std::string> results;  ///< fields that name entries of the group's file
};

std::string reference_file(const std::string& name);
/// The parts of a text between separators; one part where there is none.
std::vector<std::string> split(const std::string& text, const std::string& separator);
/// The lines of a group, each with this many results.
std::vector<Reference> read_table(const std::string& group, size_t results);

}  // namespace quern::numeric
