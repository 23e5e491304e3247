// Any bytes through the formatter: it fails for none, and what it gives is laid out already.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "frontend/format/format.h"
#include "tests/fuzz/fail.h"

using quern::fuzz::fail;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto once = quern::format(text);
  if (!once) fail("formatting fails", once.error().message);
  const auto twice = quern::format(*once);
  if (!twice) fail("formatting again fails", twice.error().message);
  if (*twice != *once) fail("formatting again changes", *once + "\nto\n" + *twice);
  return 0;
}
