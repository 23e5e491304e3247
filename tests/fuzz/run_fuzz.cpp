// Bytes that choose a random well-typed program, which is interpreted and compiled with every access checked:
// both give the same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/fuzz/fail.h"
#include "tests/random/check.h"
#include "tests/random/generator.h"

using namespace quern::random_programs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Workshop workshop;
  const std::string problem = workshop.checked_problem(generate(Random({data, size})));
  if (problem.empty()) return 0;
  quern::fuzz::fail("interpreted and compiled are not the same", problem);
}
