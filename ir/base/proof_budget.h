#pragma once

#include <cstdint>

namespace quern {

/// While it lives, the proofs about dims on this thread (ir/dim/dim.h) take at most so many steps together;
/// then nothing more is proved, which is sound. A budget inside of another takes from both. Steps are
/// counted, never time, so that what is found does not depend on the machine.
class ProofBudget {
 public:
  explicit ProofBudget(int64_t steps);
  ~ProofBudget();
  ProofBudget(const ProofBudget&) = delete;
  ProofBudget& operator=(const ProofBudget&) = delete;

  bool is_spent() const { return left_ <= 0; }
  /// Takes steps from the budgets of this thread; false where one of them is spent.
  static bool take(int64_t steps = 1);
  /// Whether the budgets of this thread have so many steps left.
  static bool has(int64_t steps);
  /// How many steps were taken on this thread, from budgets or where there was none.
  static int64_t taken();

 private:
  int64_t left_;
  ProofBudget* outer_;
};

}  // namespace quern
