// Bytes that choose a random well-typed program, which is interpreted and compiled with every access checked:
// both give the same.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "tests/random/check.h"
#include "tests/random/generator.h"

using namespace quern::random_programs;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Workshop workshop;
  const std::string problem = workshop.checked_problem(generate(Random({data, size})));
  if (problem.empty()) return 0;
  std::fprintf(stderr, "%s\n", problem.c_str());
  std::abort();
}
