// Any bytes through the formatter: it fails for none. What it gives for a text that parses is its canonical
// layout.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "frontend/format.h"
#include "frontend/render.h"
#include "session/session.h"

namespace {

[[noreturn]] void fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s:\n%s\n", what, text.c_str());
  std::abort();
}

/// Whether a part of the text cannot be read; such parts stay as they are written.
bool has_syntax_errors(std::string_view text) {
  static quern::Session* session = new quern::Session();
  static const quern::SourceId source = session->add_source(session->make_module(), "fuzz.relay", "");
  session->set_text(source, std::string(text));
  for (const quern::LocatedDiagnostic& d : session->check(source))
    if (std::string_view(quern::code_of(d.kind)).starts_with("Q01")) return true;
  return false;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto once = quern::format(text);
  if (!once) fail("formatting fails", once.error().message);
  if (has_syntax_errors(text)) return 0;
  const auto twice = quern::format(*once);
  if (!twice) fail("formatting again fails", twice.error().message);
  if (*twice != *once) fail("formatting again changes", *once + "\nto\n" + *twice);
  return 0;
}
