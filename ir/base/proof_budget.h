#pragma once

#include <cstdint>

namespace quern {

/// Limits the proofs about dims on this thread (ir/dim/dim.h) to a total number of steps during its lifetime;
/// after that nothing more is proved, which is sound. A nested budget takes from both. It counts steps, not
/// time, so results do not depend on the machine.
class ProofBudget {
 public:
  explicit ProofBudget(int64_t steps);
  ~ProofBudget();
  ProofBudget(const ProofBudget&) = delete;
  ProofBudget& operator=(const ProofBudget&) = delete;

  bool is_spent() const { return left_ <= 0; }
  /// Takes steps from the budgets of this thread; false if one of them is spent, or after an interrupt
  /// (ir/base/interrupt.h): whoever keeps what follows from proofs asks for that flag first.
  static bool take(int64_t steps = 1);
  /// Whether the budgets of this thread have that many steps left.
  static bool has(int64_t steps);
  /// How many steps were taken on this thread, with or without a budget.
  static int64_t taken();

 private:
  int64_t left_;
  ProofBudget* outer_;
};

}  // namespace quern
