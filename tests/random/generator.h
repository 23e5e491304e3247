#pragma once
// Type-directed generation of random well-typed programs (after Palka et al., "Testing an optimising compiler
// by generating random lambda terms", 2011): a term of a wanted type is made by a production whose result has
// that type, from smaller terms of the types that the production wants.

#include <cstdint>
#include <functional>
#include <random>
#include <span>

#include "tests/random/program.h"

namespace quern::random_programs {

class Random;

/// The same program for the same choices on every machine.
ProgramTerm generate(Random random);

/// A smallest closed term of a type; null where there is none (a data type without a constructor free of
/// itself).
TermPtr simplest(const TypePtr& type, const ProgramTerm& program);

/// Choices: those of a seed, or those that bytes say as long as there are any.
class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  explicit Random(std::span<const uint8_t> bytes) : bytes_(bytes), engine_(0) {}
  /// From 0 to bound - 1.
  size_t below(size_t bound) { return bound ? bits() % bound : 0; }
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(below(static_cast<size_t>(high - low + 1)));
  }
  bool chance(int percent) { return below(100) < static_cast<size_t>(percent); }
  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  uint64_t bits() {
    if (bytes_.size() < 2) return engine_();
    const uint64_t chosen = bytes_[0] + 256U * bytes_[1];
    bytes_ = bytes_.subspan(2);
    return chosen;
  }

 private:
  std::span<const uint8_t> bytes_;
  std::mt19937_64 engine_;
};

}  // namespace quern::random_programs
