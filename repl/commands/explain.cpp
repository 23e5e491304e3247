#include "repl/commands/explain.h"

#include <fmt/format.h>

#include <sstream>

#include "ide/explain.h"

namespace quern {

namespace {

constexpr std::string_view kFence = "```", kHeading = "## ", kFile = "file=";

/// The heading of an example by the words after its fence: `relay wrong run --seed=1`.
std::string label_of(const std::string& words) {
  std::istringstream in(words);
  std::string label, options, word;
  in >> word;  // the language
  while (in >> word) {
    if (word == "wrong") label = "Wrong";
    if (word == "right") label = "Right";
    if (word.starts_with(kFile)) label = word.substr(kFile.size());
    if (word.starts_with("--")) options += " " + word;
  }
  return options.empty() ? label + ":" : fmt::format("{} (with{}):", label, options);
}

}  // namespace

std::string explain(DiagnosticKind kind, bool colour) {
  std::istringstream lines{std::string(ide::explanation_of(kind))};
  std::string out;
  bool in_example = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kFence)) {
      in_example = !in_example;
      if (in_example) out += label_of(line.substr(kFence.size())) + "\n";
    } else if (in_example) {
      out += line.empty() ? "\n" : "    " + line + "\n";
    } else if (line.starts_with(kHeading)) {
      std::string heading = line.substr(kHeading.size());
      out += colour ? fmt::format("\033[1m{}\033[0m\n", heading) : heading + "\n";
    } else {
      out += line + "\n";
    }
  }
  while (out.ends_with("\n\n")) out.pop_back();
  return out;
}

}  // namespace quern
