#pragma once
// Internal to ir/dim: the search behind prove_nonnegative and simplify.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/base/proof_budget.h"
#include "ir/dim/arena.h"
#include "ir/dim/dim.h"
#include "ir/dim/poly.h"

namespace quern {

constexpr int kMaxProofDepth = 40;

/// Memoised answers, each with its cost in steps. A repeated answer charges the proof budgets the same, so
/// what remains of them does not depend on earlier questions.
template <class Question, class Answer, class Hash = std::hash<Question>>
class AnswerMap {
 public:
  template <class Search>
  Answer of(const Question& question, const Search& search) {
    if (const auto found = known_.find(question); found != known_.end())
      if (ProofBudget::has(found->second.steps)) {
        ProofBudget::take(found->second.steps);
        return found->second.answer;
      }
    const int64_t before = ProofBudget::taken();
    const Answer answer = search();
    const bool is_whole = ProofBudget::take(0);
    if (is_whole) known_.insert_or_assign(question, Known{answer, ProofBudget::taken() - before});
    return answer;
  }

 private:
  struct Known {
    Answer answer;
    int64_t steps;
  };
  std::unordered_map<Question, Known, Hash> known_;
};

/// more - less >= gap; without `less`, more >= gap.
struct Goal {
  Dim more, less;
  int64_t gap;
  friend bool operator==(const Goal&, const Goal&) = default;
};
struct GoalHash {
  size_t operator()(const Goal& goal) const {
    const std::hash<Dim> hash;
    return (hash(goal.more) * 31 + hash(goal.less)) * 31 + static_cast<size_t>(goal.gap);
  }
};

struct Facts::Answers {
  AnswerMap<Goal, bool, GoalHash> proved;
  AnswerMap<Dim, Dim> simplified;
};

/// The tightest integer form of p >= 0: g*x + c >= 0 becomes x + c/g >= 0, rounded down.
Dim tighten(Dim p);

/// Proves d >= 0 by elimination, after the interval method for linear arithmetic: a variable or
/// non-polynomial atom is replaced by a bound that can only make d smaller, until every remaining term is
/// clearly nonnegative. Each step is sound by itself, so a search that gives up answers "not proved".
///
/// Questions concern points where the dim is evaluated, so its divisors are not 0 there: a divisor known to
/// be >= 0 is >= 1.
class DimProver {
 public:
  explicit DimProver(const Facts& facts);

  /// `d` has a value at the points in question: its divisors are not 0.
  void assume_evaluated(Dim d);
  bool nonnegative(Dim d);
  bool less_equal(Dim a, Dim b);
  /// 0 <= d < bound.
  bool in_range(Dim d, Dim bound);
  /// A constant that d is never below, found without search.
  std::optional<int64_t> lower(Dim d);

 private:
  enum class Sign { Unknown, NonNegative, NonPositive };

  /// P as a polynomial in one atom: `sign` holds for the coefficients of all its powers.
  struct Split {
    Sign sign;
    bool linear;
    Dim coefficient;  ///< of the first power
  };

  void assume_positive(Dim extent);
  void assume_nonnegative(Dim d);
  void raise_lower(Dim var, int64_t bound);
  std::optional<int64_t> lower_of_atom(Dim atom);
  std::optional<int64_t> lower_of_terms(const auto& terms, int64_t scale);
  std::optional<int64_t> lower_of_expanded(const auto& terms, int64_t scale);
  Sign sign_of(const dim_detail::Poly& poly);
  bool is_nonnegative(const dim_detail::Term& term);
  bool is_positive_divisor(Dim d, int depth);
  Split split(Dim p, Dim atom);
  Dim upper_of_index(Dim var) const;
  Dim bound(Dim e, bool upper, int depth);

  bool prove(Dim p, int depth);
  bool prove_without_hypotheses(Dim p, int depth);
  Dim choose_index(Dim p, const std::vector<Dim>& atoms) const;
  bool eliminate_index(Dim p, Dim var, int depth);
  bool eliminate_floordiv(Dim p, Dim atom, int depth);
  bool eliminate_floormod(Dim p, Dim atom, int depth);
  bool eliminate_choice(Dim p, Dim atom, int depth);
  bool prove_each_case(Dim p, Dim choice, int depth);
  bool prove_assuming(Dim p, const std::vector<Dim>& nonnegative, int depth);
  bool use_hypothesis(Dim p, int depth);
  std::optional<Dim> small_quotient(Dim dividend, Dim divisor, int depth);

  DimArena arena_;  ///< owns all dims it makes
  const Facts& facts_;
  std::unordered_map<Dim, int64_t> lowers_;  ///< of variables, where tighter than the facts
  std::unordered_map<Dim, std::optional<int64_t>> atom_lowers_;
  std::vector<Dim> hypotheses_;  ///< dims known to be >= 0
  /// Goals that failed or are in progress, each under the hypotheses with that number.
  std::set<std::pair<Dim, int>> tried_;
  int context_ = 0;
  int last_context_ = 0;
  int fuel_ = 0;
};

}  // namespace quern
