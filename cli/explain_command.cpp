#include <fmt/format.h>

#include <cstdio>

#include "cli/commands.h"
#include "ide/explain.h"
#include "repl/commands/explain.h"

namespace quern {

namespace {

std::string list_of_codes() {
  std::string out;
  for (DiagnosticKind kind : all_diagnostic_kinds())
    out += fmt::format("{}  {}\n", code_of(kind), title_of(kind));
  return out;
}

}  // namespace

int CommandLine::explain() {
  if (codes_.empty()) {
    fmt::print("{}", list_of_codes());
    return kFine;
  }
  int code = kFine;
  bool first = true;
  for (const std::string& typed : codes_) {
    auto kind = ide::kind_of_code(typed);
    if (!kind) {
      say(ide::unknown_code(typed) + "; `quern explain` lists all");
      code = kMisuse;
      continue;
    }
    fmt::print("{}{}", first ? "" : "\n", quern::explain(*kind, colours_wanted(stdout)));
    first = false;
  }
  return code;
}

}  // namespace quern
