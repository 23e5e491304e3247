// Any bytes through the scanner, the parser, inference, the renderers of `check` and the index of names. What is
// wrong has a diagnostic; a name stands in the text.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "frontend/text/render.h"
#include "session/session.h"
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
  for (const quern::LocatedDiagnostic& d : session().check(source)) quern::render_terminal(d, false);
  if (!quern::silent_error(session(), source).empty()) std::abort();
  for (quern::DeclarationId id : session().declarations(source))
    for (const quern::Occurrence& name : session().occurrences(id))
      if (const quern::Range at = session().range_of(name, id); at.begin > at.end || at.end > text.size())
        std::abort();
  return 0;
}
