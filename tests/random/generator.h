#pragma once
// Type-directed generation of random well-typed programs (after Palka et al., "Testing an optimising compiler
// by generating random lambda terms", 2011): a term of a wanted type is made by a production whose result has
// that type, from smaller terms of the types that the production wants.

#include <cstdint>
#include <functional>
#include <random>

#include "tests/random/program.h"

namespace quern::random_programs {

/// The same program for the same seed on every machine.
ProgramTerm generate(uint64_t seed);

/// A smallest closed term of a type; null where there is none (a data type without a constructor free of
/// itself).
TermPtr simplest(const TypePtr& type, const ProgramTerm& program);

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  /// From 0 to bound - 1.
  size_t below(size_t bound) { return bound ? engine_() % bound : 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low + 1)));
  }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  uint64_t bits() { return engine_(); }

 private:
  std::mt19937_64 engine_;
};

}  // namespace quern::random_programs
