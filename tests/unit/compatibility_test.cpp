// The examples of docs/relay_compatibility.md: a block ```relay is accepted, a block ```relay Q0203 has that
// diagnostic.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "frontend/render.h"
#include "session/session.h"

namespace quern {
namespace {

struct Example {
  int line;
  std::string wanted, text;  ///< the code of the diagnostic that is wanted, or ""
};

std::vector<Example> examples() {
  std::vector<Example> found;
  std::ifstream in(std::string(QUERN_SOURCE_DIR) + "/docs/relay_compatibility.md");
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!inside && line.starts_with("```relay")) {
      found.push_back({number, line.size() > 9 ? line.substr(9) : "", ""});
      inside = true;
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back().text += line + "\n";
    }
  }
  return found;
}

TEST(RelayCompatibility, ExamplesAreAsThePageSays) {
  std::vector<Example> all = examples();
  EXPECT_GE(all.size(), 20u);
  for (const Example& example : all) {
    Session session;
    SourceId source = session.add_source(session.make_module(), "example.relay", example.text);
    std::vector<LocatedDiagnostic> found = session.check(source);
    if (example.wanted.empty()) {
      for (const LocatedDiagnostic& d : found)
        ADD_FAILURE() << "docs/relay_compatibility.md:" << example.line << "\n" << render_terminal(d, false);
      continue;
    }
    EXPECT_FALSE(found.empty()) << "docs/relay_compatibility.md:" << example.line << " has no diagnostic";
    for (const LocatedDiagnostic& d : found)
      EXPECT_EQ(code_of(d.kind), example.wanted) << "docs/relay_compatibility.md:" << example.line << "\n"
                                                 << render_terminal(d, false);
  }
}

}  // namespace
}  // namespace quern
