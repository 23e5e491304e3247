#include <algorithm>
#include <utility>

#include "ir/dim/prover.h"

namespace quern {

using namespace dim_detail;

namespace {

class Simplifier {
 public:
  Simplifier(Dim whole, const Facts& facts) : prover_(facts) { prover_.assume_evaluated(whole); }

  Dim run(Dim d) {
    if (d->args.empty()) return d;
    if (auto found = done_.find(d); found != done_.end()) return found->second;
    std::vector<Dim> args;
    for (Dim arg : d->args) args.push_back(run(arg));
    Dim out = std::ranges::equal(args, d->args) ? d : rebuild(d, args);
    Dim simpler = step(out);
    // A step can enable another; each removes a non-polynomial node, so this terminates.
    if (simpler != out) simpler = run(simpler);
    done_[d] = simpler;
    return simpler;
  }

 private:
  Dim step(Dim d) {
    switch (d->kind) {
      case DimKind::Sum: return recombine(d);
      case DimKind::FloorDiv: return divide(d);
      case DimKind::FloorMod: return modulo(d);
      case DimKind::Min:
      case DimKind::Max: return drop_operands(d);
      case DimKind::Const:
      case DimKind::Var:
      case DimKind::Any:
      case DimKind::Infer:
      case DimKind::Product:
      case DimKind::Broadcast: return d;
    }
    return d;
  }

  /// q*k*(e / k) + q*(e % k) = q*e.
  Dim recombine(Dim d) {
    for (const Term& term : to_poly(d)) {
      for (Dim mod : term.atoms) {
        if (mod->kind != DimKind::FloorMod) continue;
        Dim quotient = dim_floordiv(mod->args[0], mod->args[1]);
        if (quotient->kind != DimKind::FloorDiv) continue;
        std::optional<Linear> of_mod = linear_in(d, mod);
        std::optional<Linear> of_quotient = linear_in(d, quotient);
        if (!of_mod || !of_quotient) continue;
        if (of_quotient->coefficient != dim_mul(of_mod->coefficient, mod->args[1])) continue;
        Dim rest = linear_in(of_mod->rest, quotient)->rest;
        return dim_add(rest, dim_mul(of_mod->coefficient, mod->args[0]));
      }
    }
    return d;
  }

  /// Drops operands of min and max that another one dominates. Of equal ones a constant goes first, however old it is.
  Dim drop_operands(Dim d) {
    std::vector<Dim> kept(d->args.begin(), d->args.end());
    std::stable_partition(kept.begin(), kept.end(),
                          [](Dim operand) { return operand->kind == DimKind::Const; });
    for (size_t i = 0; i < kept.size();) {
      bool redundant = false;
      for (size_t j = 0; j < kept.size() && !redundant; ++j) {
        if (i == j) continue;
        redundant = d->kind == DimKind::Min ? prover_.less_equal(kept[j], kept[i])
                                            : prover_.less_equal(kept[i], kept[j]);
      }
      if (redundant) {
        kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(i));
      } else {
        ++i;
      }
    }
    return kept.size() == d->args.size() ? d : rebuild(d, kept);
  }

  /// (g*x + rest) over (g*k), with 0 <= rest < g.
  struct Factored {
    Dim factor;
    Dim dividend;
    Dim divisor;
    Dim rest;
  };
  std::optional<Factored> factor(Dim dividend, Dim divisor) {
    Poly by = to_poly(divisor);
    if (by.size() != 1 || by.front().coefficient <= 0) return std::nullopt;
    for (const Term& candidate : to_poly(dividend)) {
      Term common = term_gcd(candidate, by.front());
      Dim g = from_term(common);
      Dim k = from_term(*divide_term(by.front(), common));
      if (is_const(g, 1) || is_const(k, 1)) continue;
      if (prover_.lower(g).value_or(-1) < 0 || prover_.lower(k).value_or(-1) < 0) continue;
      Poly multiple;
      Poly rest;
      for (const Term& term : to_poly(dividend))
        (divide_term(term, common) ? multiple : rest).push_back(term);
      if (!prover_.in_range(from_poly(rest), g)) continue;
      return Factored{g, from_poly(divide_exactly(multiple, common)), k, from_poly(rest)};
    }
    return std::nullopt;
  }

  Dim divide(Dim d) {
    if (prover_.in_range(d->args[0], d->args[1])) return dim_const(0);
    if (is_just_below_zero(d)) return dim_const(-1);
    std::optional<Factored> parts = factor(d->args[0], d->args[1]);
    return parts ? dim_floordiv(parts->dividend, parts->divisor) : d;
  }

  Dim modulo(Dim d) {
    if (prover_.in_range(d->args[0], d->args[1])) return d->args[0];
    if (is_just_below_zero(d)) return dim_add(d->args[0], d->args[1]);
    std::optional<Factored> parts = factor(d->args[0], d->args[1]);
    if (!parts) return d;
    return dim_add(dim_mul(parts->factor, dim_floormod(parts->dividend, parts->divisor)), parts->rest);
  }

  /// -divisor <= dividend < 0.
  bool is_just_below_zero(Dim d) { return prover_.in_range(dim_add(d->args[0], d->args[1]), d->args[1]); }

  DimProver prover_;
  DimMap done_;
};

}  // namespace

Dim simplify(Dim d, const Facts& facts) {
  if (d->args.empty() || is_open(d)) return d;
  return facts.answers().simplified.of(d, [&] { return Simplifier(d, facts).run(d); });
}

}  // namespace quern
