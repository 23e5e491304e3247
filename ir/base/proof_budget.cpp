#include "ir/base/proof_budget.h"

#include "ir/base/interrupt.h"

namespace quern {

namespace {

thread_local ProofBudget* innermost_budget = nullptr;
thread_local int64_t taken_steps = 0;

}  // namespace

ProofBudget::ProofBudget(int64_t steps) : left_(steps), outer_(innermost_budget) { innermost_budget = this; }
ProofBudget::~ProofBudget() { innermost_budget = outer_; }

bool ProofBudget::take(int64_t steps) {
  taken_steps += steps;
  bool is_left = true;
  for (ProofBudget* budget = innermost_budget; budget; budget = budget->outer_) {
    budget->left_ -= steps;
    is_left = is_left && budget->left_ >= 0;
  }
  return is_left && !is_interrupted();
}

bool ProofBudget::has(int64_t steps) {
  for (const ProofBudget* budget = innermost_budget; budget; budget = budget->outer_)
    if (budget->left_ < steps) return false;
  return true;
}

int64_t ProofBudget::taken() { return taken_steps; }

}  // namespace quern
