#include "import/text/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace quern::import_text {

namespace {

constexpr std::array kWords = {"_",        "all",       "and",      "any",     "argmax",   "argmin", "at",
                               "def",      "else",      "extern",   "False",   "fn",       "for",    "fp16",
                               "free_var", "grad",      "gradient", "if",      "import",   "infix",  "inff",
                               "let",      "lowering",  "match",    "max",     "meta",     "min",    "nan",
                               "needs",    "None",      "not",      "op",      "or",       "prod",   "ref",
                               "ref_read", "ref_write", "scan",     "scatter", "schedule", "shape",  "static",
                               "sum",      "test",      "True",     "type",    "warn",     "when",   "where"};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

bool is_word(std::string_view name) { return std::ranges::find(kWords, name) != kWords.end(); }
bool is_number(std::string_view name) { return !name.empty() && std::ranges::all_of(name, is_digit); }

std::string identifier(std::string_view name, std::string_view fallback) {
  // Of a name with a scope of the exporter the last part: "onnx::MatMul_12".
  if (const size_t scope = name.rfind("::"); scope != std::string_view::npos) name.remove_prefix(scope + 2);
  std::string result;
  for (char c : name) {
    if (is_letter(c) || (is_digit(c) && !result.empty()))
      result += c;
    else if (!result.empty() && result.back() != '_')
      result += '_';
  }
  // What is longer is for no reader; who needs names that differ makes them so.
  constexpr size_t kLongest = 64;
  if (result.size() > kLongest) result.resize(kLongest);
  while (result.ends_with('_')) result.pop_back();
  if (result.empty()) result = fallback;
  if (is_word(result)) result += "_";
  return result;
}

std::string snake_case(std::string_view name) {
  std::string result;
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_upper = std::isupper(static_cast<unsigned char>(name[i])) != 0;
    const bool begins = is_upper && i > 0 &&
                        (std::islower(static_cast<unsigned char>(name[i - 1])) ||
                         (i + 1 < name.size() && std::islower(static_cast<unsigned char>(name[i + 1]))));
    if (begins && !result.ends_with('_')) result += '_';
    result += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return result;
}

std::string type_name(std::string_view name) {
  std::string result;
  bool begins = true;
  for (char c : name) {
    if (c == '_') {
      begins = true;
      continue;
    }
    result += begins ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    begins = false;
  }
  return result;
}

std::vector<std::string> path_of(std::string_view name) {
  if (const size_t scope = name.rfind("::"); scope != std::string_view::npos) name.remove_prefix(scope + 2);
  // Deeper parts are one name: records stand in each other so deep.
  constexpr size_t kDeepest = 16;
  std::vector<std::string> path;
  while (!name.empty()) {
    const size_t end =
        path.size() + 1 < kDeepest ? std::min(name.find_first_of("./"), name.size()) : name.size();
    const std::string_view part = name.substr(0, end);
    name.remove_prefix(std::min(end + 1, name.size()));
    if (part.empty()) continue;
    path.push_back(is_number(part) ? std::string(part) : identifier(part, "part"));
  }
  return path;
}

std::string Names::unique(std::string_view name) {
  std::string candidate(name);
  int& number = next_.try_emplace(candidate, 2).first->second;
  for (; !taken_.insert(candidate).second; ++number) {
    // "relu1" and "relu1_2", not "relu12".
    candidate = fmt::format("{}{}{}", name, is_digit(name.back()) ? "_" : "", number);
  }
  return candidate;
}

}  // namespace quern::import_text
