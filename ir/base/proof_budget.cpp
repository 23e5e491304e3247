#include "ir/base/proof_budget.h"

namespace quern {

namespace {

thread_local ProofBudget* innermost_budget = nullptr;

}  // namespace

ProofBudget::ProofBudget(int64_t steps) : left_(steps), outer_(innermost_budget) { innermost_budget = this; }
ProofBudget::~ProofBudget() { innermost_budget = outer_; }

bool ProofBudget::take(int64_t steps) {
  bool is_left = true;
  for (ProofBudget* budget = innermost_budget; budget; budget = budget->outer_) {
    budget->left_ -= steps;
    is_left = is_left && budget->left_ >= 0;
  }
  return is_left;
}

}  // namespace quern
