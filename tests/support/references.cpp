#include "tests/support/references.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace quern::numeric {

std::string reference_file(const std::string& name) {
  return std::string(QUERN_SOURCE_DIR) + "/tests/numeric/references/" + name;
}

std::vector<std::string> split(const std::string& text, const std::string& separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (size_t at; (at = text.find(separator, begin)) != std::string::npos; begin = at + separator.size())
    parts.push_back(text.substr(begin, at - begin));
  parts.push_back(text.substr(begin));
  return parts;
}

std::vector<Reference> read_table(const std::string& group, size_t results) {
  std::vector<Reference> references;
  std::ifstream in(reference_file(group + ".txt"));
  EXPECT_TRUE(in) << "references/" << group << ".txt cannot be read";
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) continue;
    std::vector<std::string> fields = split(line, " | ");
    if (fields.size() != 4 + results) {
      ADD_FAILURE() << "references/" << group << ".txt: a line is no case: " << line;
      continue;
    }
    Reference reference{
        {fields[0], fields[2], {}}, std::stoll(fields[1]), {fields.begin() + 4, fields.end()}};
    std::istringstream inputs(fields[3]);
    for (std::string input; inputs >> input;) {
      size_t equals = input.find('=');
      reference.of.inputs.emplace_back(input.substr(1, equals - 1), input.substr(equals + 1));
    }
    references.push_back(std::move(reference));
  }
  return references;
}

}  // namespace quern::numeric
