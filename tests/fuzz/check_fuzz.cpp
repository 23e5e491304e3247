// Any bytes through the scanner, the parser, inference, the renderers of `check` and the index of names. What is
// wrong has a diagnostic; a name stands in the text; no internal check fails.

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontend/text/render.h"
#include "session/session.h"
#include "tests/fuzz/fail.h"
#include "tests/silent_errors.h"

namespace {

quern::Session& session() {
  static quern::Session* instance = new quern::Session();
  return *instance;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const quern::SourceId source = session().add_source(session().make_module(), "fuzz.relay", "");
  std::string text(reinterpret_cast<const char*>(data), size);
  session().set_text(source, text);
  for (const quern::LocatedDiagnostic& d : session().check(source)) {
    const std::string shown = quern::render_terminal(d, false);
    if (d.kind == quern::DiagnosticKind::InternalError) quern::fuzz::fail("an internal check failed", shown);
  }
  if (const std::string name = quern::silent_error(session(), source); !name.empty())
    quern::fuzz::fail("what is wrong has no diagnostic", name);
  for (quern::DeclarationId id : session().declarations(source))
    for (const quern::Occurrence& name : session().occurrences(id))
      if (const quern::Range at = session().range_of(name, id); at.begin > at.end || at.end > text.size())
        quern::fuzz::fail("a name is outside of the text", text);
  return 0;
}
