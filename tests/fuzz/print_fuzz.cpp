// Any bytes as a program: the typed text of one without errors is one without errors, and is printed the same
// again.

#include <cstddef>
#include <cstdint>
#include <string>

#include "frontend/text/render.h"
#include "session/session.h"
#include "tests/fuzz/fail.h"
#include "tests/support/metadata.h"

namespace {

using namespace quern;

std::string errors_of(Session& session, SourceId source) {
  std::string all;
  for (const LocatedDiagnostic& d : session.check(source))
    if (d.kind == DiagnosticKind::InternalError)
      fuzz::fail("an internal check failed", render_terminal(d, false));
    else if (severity_of(d.kind) == Severity::Error)
      all += render_terminal(d, false);
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Session* session = new Session();
  static const SourceId source = session->add_source(session->make_module(), "fuzz.relay", "");
  static const SourceId printed = session->add_source(session->make_module(), "printed.relay", "");
  session->set_text(source, std::string(reinterpret_cast<const char*>(data), size));
  if (!errors_of(*session, source).empty()) return 0;
  const TypedText typed = session->typed_text(source);
  const std::string& text = typed.text;
  session->set_text(printed, text + metadata_of(typed.constants));
  if (const std::string found = errors_of(*session, printed); !found.empty())
    fuzz::fail("the typed text has errors", text, found);
  if (const std::string again = session->typed_text(printed).text; again != text)
    fuzz::fail("the typed text is printed differently", text, again);
  return 0;
}
