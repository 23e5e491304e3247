#include "ir/dim/omega.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "ir/base/proof_budget.h"

namespace quern {

namespace {

constexpr int kMaxWork = 20'000;  ///< combinations of constraints, per question
constexpr size_t kMaxRows = 400;  ///< inequalities at a time
constexpr int kMaxDepth = 40;

using Row = LinearConstraint;

/// Thrown within this file only: a number that does not fit, or too much work.
struct GiveUp {};

int64_t add(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) throw GiveUp{};
  return sum;
}
int64_t mul(int64_t a, int64_t b) {
  int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) throw GiveUp{};
  return product;
}
int64_t floor_div(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  return quotient * b != a && (a < 0) != (b < 0) ? quotient - 1 : quotient;
}

Row combine(const Row& a, int64_t p, const Row& b, int64_t q) {
  Row out;
  out.coefficients.resize(std::max(a.coefficients.size(), b.coefficients.size()));
  for (size_t i = 0; i < out.coefficients.size(); ++i) {
    int64_t x = i < a.coefficients.size() ? a.coefficients[i] : 0;
    int64_t y = i < b.coefficients.size() ? b.coefficients[i] : 0;
    out.coefficients[i] = add(mul(x, p), mul(y, q));
  }
  out.constant = add(mul(a.constant, p), mul(b.constant, q));
  return out;
}

int64_t content(const Row& row) {
  int64_t g = 0;
  for (int64_t c : row.coefficients) {
    if (c == INT64_MIN) throw GiveUp{};
    g = std::gcd(g, c);
  }
  return g;
}

int64_t at(const Row& row, size_t variable) {
  return variable < row.coefficients.size() ? row.coefficients[variable] : 0;
}

class Problem {
 public:
  Problem(std::vector<Row> equalities, std::vector<Row> inequalities, int& work)
      : equalities_(std::move(equalities)), rows_(std::move(inequalities)), work_(work) {}

  Feasibility solve(int depth) {
    if (depth > kMaxDepth) throw GiveUp{};
    if (!substitute_equalities()) return Feasibility::Infeasible;
    while (true) {
      drop_unbounded();
      if (!tidy()) return Feasibility::Infeasible;
      if (rows_.empty()) return Feasibility::Feasible;
      auto choice = choose();
      if (!choice) return Feasibility::Feasible;
      if (!choice->exact) return eliminate_inexactly(choice->variable, depth);
      rows_ = shadow(choice->variable, false);
    }
  }

 private:
  struct Choice {
    size_t variable;
    bool exact;
  };

  void spend(int amount) {
    work_ += amount;
    if (work_ > kMaxWork || !ProofBudget::take(amount)) throw GiveUp{};
  }

  // --- equalities: each is solved for a variable, which is eliminated
  bool substitute_equalities() {
    while (!equalities_.empty()) {
      spend(1);
      Row row = std::move(equalities_.back());
      equalities_.pop_back();
      int64_t g = content(row);
      if (g == 0) {
        if (row.constant != 0) return false;
        continue;
      }
      if (row.constant % g != 0) return false;
      for (int64_t& c : row.coefficients) c /= g;
      row.constant /= g;
      size_t least = row.coefficients.size();
      for (size_t i = 0; i < row.coefficients.size(); ++i)
        if (row.coefficients[i] != 0 && (least == row.coefficients.size() ||
                                         std::abs(row.coefficients[i]) < std::abs(row.coefficients[least])))
          least = i;
      int64_t a = row.coefficients[least];
      if (a != 1 && a != -1) {
        // With m = |a| + 1 and a new variable: sum(mod(a_i, m) x_i) + mod(c, m) = m * new, where mod is the
        // residue nearest to 0. The coefficient of x_least there is -sign(a).
        const int64_t m = add(std::abs(a), 1);
        auto residue = [&](int64_t v) { return v - m * floor_div(add(mul(2, v), m), 2 * m); };
        const size_t fresh = std::max(variables(), row.coefficients.size());
        Row reduced;
        reduced.coefficients.resize(fresh + 1);
        for (size_t i = 0; i < row.coefficients.size(); ++i)
          reduced.coefficients[i] = residue(row.coefficients[i]);
        reduced.coefficients[fresh] = -m;
        reduced.constant = residue(row.constant);
        equalities_.push_back(std::move(row));
        row = std::move(reduced);
        a = row.coefficients[least];
      }
      eliminate(row, least, a);
    }
    return true;
  }

  size_t variables() const {
    size_t count = 0;
    for (const std::vector<Row>* list : {&equalities_, &rows_})
      for (const Row& row : *list) count = std::max(count, row.coefficients.size());
    return std::max(count, fresh_);
  }

  /// `row` == 0 and its coefficient of the variable is 1 or -1.
  void eliminate(const Row& row, size_t variable, int64_t unit) {
    fresh_ = std::max(fresh_, row.coefficients.size());
    for (std::vector<Row>* list : {&equalities_, &rows_})
      for (Row& other : *list) {
        int64_t c = at(other, variable);
        if (c != 0) other = combine(other, 1, row, mul(-c, unit));
      }
  }

  // --- inequalities
  /// Drops those with a variable that has bounds on one side only: they hold where it is large (or small) enough. In a
  /// question about many dims few are left.
  void drop_unbounded() {
    for (bool has_dropped = true; has_dropped;) {
      std::vector<bool> from_below(variables()), from_above(from_below.size());
      for (const Row& row : rows_)
        for (size_t v = 0; v < row.coefficients.size(); ++v) {
          if (row.coefficients[v] > 0) from_below[v] = true;
          if (row.coefficients[v] < 0) from_above[v] = true;
        }
      const auto is_dropped = [&](const Row& row) {
        for (size_t v = 0; v < row.coefficients.size(); ++v)
          if (row.coefficients[v] != 0 && from_below[v] != from_above[v]) return true;
        return false;
      };
      const size_t dropped = std::erase_if(rows_, is_dropped);
      spend(static_cast<int>(dropped));
      has_dropped = dropped > 0;
    }
  }

  /// Divides by common factors, rounding constants down; drops implied constraints. False on a contradiction.
  bool tidy() {
    std::map<std::vector<int64_t>, int64_t> least;
    for (Row& row : rows_) {
      while (!row.coefficients.empty() && row.coefficients.back() == 0) row.coefficients.pop_back();
      int64_t g = content(row);
      if (g == 0) {
        if (row.constant < 0) return false;
        continue;
      }
      for (int64_t& c : row.coefficients) c /= g;
      int64_t constant = floor_div(row.constant, g);
      auto [entry, added] = least.emplace(row.coefficients, constant);
      if (!added) entry->second = std::min(entry->second, constant);
    }
    rows_.clear();
    for (auto& [coefficients, constant] : least) {
      std::vector<int64_t> opposite = coefficients;
      for (int64_t& c : opposite) c = -c;
      auto other = least.find(opposite);
      if (other != least.end() && add(other->second, constant) < 0) return false;
      rows_.push_back({coefficients, constant});
    }
    if (rows_.size() > kMaxRows) throw GiveUp{};
    spend(static_cast<int>(rows_.size()));
    return true;
  }

  /// The variable whose elimination is exact, or otherwise yields the fewest inequalities.
  std::optional<Choice> choose() const {
    std::optional<Choice> best;
    size_t best_cost = SIZE_MAX;
    const size_t count = variables();
    for (size_t v = 0; v < count; ++v) {
      size_t lower = 0, upper = 0;
      bool lower_unit = true, upper_unit = true;
      for (const Row& row : rows_) {
        int64_t c = at(row, v);
        if (c > 0) ++lower, lower_unit &= c == 1;
        if (c < 0) ++upper, upper_unit &= c == -1;
      }
      if (lower + upper == 0) continue;
      bool exact = lower_unit || upper_unit || lower == 0 || upper == 0;
      size_t cost = lower * upper;
      bool better = !best || (exact && !best->exact) || (exact == best->exact && cost < best_cost);
      if (!better) continue;
      best = Choice{v, exact};
      best_cost = cost;
    }
    return best;
  }

  /// The constraints without the variable: over the reals, or (dark) with room for an integer between each
  /// pair of bounds.
  std::vector<Row> shadow(size_t v, bool dark) {
    std::vector<Row> out;
    for (const Row& lower : rows_) {
      int64_t b = at(lower, v);
      if (b == 0) out.push_back(lower);
      if (b <= 0) continue;
      for (const Row& upper : rows_) {
        int64_t a = -at(upper, v);
        if (a <= 0) continue;
        spend(1);
        Row row = combine(lower, a, upper, b);
        row.coefficients[v] = 0;
        if (dark) row.constant = add(row.constant, -mul(a - 1, b - 1));
        out.push_back(std::move(row));
      }
    }
    return out;
  }

  Feasibility eliminate_inexactly(size_t v, int depth) {
    if (Problem({}, shadow(v, false), work_).solve(depth + 1) == Feasibility::Infeasible)
      return Feasibility::Infeasible;
    if (Problem({}, shadow(v, true), work_).solve(depth + 1) == Feasibility::Feasible)
      return Feasibility::Feasible;
    // A solution outside the dark shadow lies close above a lower bound.
    int64_t most = 1;
    for (const Row& row : rows_) most = std::max(most, -at(row, v));
    for (const Row& lower : rows_) {
      int64_t b = at(lower, v);
      if (b <= 0) continue;
      int64_t last = floor_div(add(mul(most, b), -add(most, b)), most);
      for (int64_t i = 0; i <= last; ++i) {
        Row equal = lower;
        equal.constant = add(equal.constant, -i);
        if (Problem({equal}, rows_, work_).solve(depth + 1) == Feasibility::Feasible)
          return Feasibility::Feasible;
      }
    }
    return Feasibility::Infeasible;
  }

  std::vector<Row> equalities_, rows_;
  int& work_;
  size_t fresh_ = 0;
};

}  // namespace

Feasibility integers_satisfy(std::vector<LinearConstraint> equalities,
                             std::vector<LinearConstraint> inequalities) {
  int work = 0;
  try {
    return Problem(std::move(equalities), std::move(inequalities), work).solve(0);
  } catch (const GiveUp&) {
    return Feasibility::Unknown;
  }
}

}  // namespace quern
