#pragma once
// Random steps of schedules, and what the tests of them share.

#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "ir/interpret/interpreter.h"
#include "jit/codegen/codegen.h"
#include "jit/nest/nest.h"

namespace quern {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  int64_t in(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(engine_); }
  bool chance(int percent) { return in(1, 100) <= percent; }
  template <class T>
  const T& of(const std::vector<T>& list) {
    return list[static_cast<size_t>(in(0, static_cast<int64_t>(list.size()) - 1))];
  }
  std::mt19937_64& engine() { return engine_; }

 private:
  std::mt19937_64 engine_;
};

/// How often each primitive was applied.
using Uses = std::map<loops::Primitive, size_t>;

/// Applies random steps, as many as there is code for. As text they make the same loops.
void apply_random_steps(Random& random, loops::Nest& nest);

/// Steps one after the other, as long as each can be applied.
class StepRow {
 public:
  explicit StepRow(loops::Nest& nest) : nest_(nest) {}

  /// What the step makes; a pair of no loops where it, or one before it, cannot be applied.
  loops::LoopIds operator()(const loops::LoopStep& step);
  bool is_done() const { return is_done_; }

 private:
  loops::Nest& nest_;
  bool is_done_ = true;
};

/// Of small integers, so that every order of a sum gives the same.
TensorPtr random_tensor(Random& random, const Shape& shape);

/// With code that tests each access of a buffer.
CodeGenerator& checking_generator();

void expect_equal(const HostTensor& actual, const HostTensor& expected, const std::string& message);

}  // namespace quern
