#include "ir/base/proof_budget.h"

namespace quern {

namespace {

thread_local ProofBudget* innermost = nullptr;

}  // namespace

ProofBudget::ProofBudget(int64_t steps) : left_(steps), outer_(innermost) { innermost = this; }
ProofBudget::~ProofBudget() { innermost = outer_; }

bool ProofBudget::take(int64_t steps) {
  bool is_left = true;
  for (ProofBudget* budget = innermost; budget; budget = budget->outer_) {
    budget->left_ -= steps;
    is_left = is_left && budget->left_ >= 0;
  }
  return is_left;
}

}  // namespace quern
