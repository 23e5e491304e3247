#include "ir/dim/range.h"

#include <algorithm>

namespace quern {

namespace {

Dim negated(Dim d) { return dim_sub(dim_const(0), d); }
Dim one_less(Dim d) { return dim_sub(d, dim_const(1)); }

DimRange product(const DimRange& a, const DimRange& b) {
  auto is_nonnegative = [](Dim d) { return prove_nonnegative(d, Facts()); };
  if (is_nonnegative(a.least) && is_nonnegative(b.least))
    return {dim_mul(a.least, b.least), dim_mul(a.greatest, b.greatest)};
  Dim least = nullptr, greatest = nullptr;
  for (Dim x : {a.least, a.greatest})
    for (Dim y : {b.least, b.greatest}) {
      Dim corner = dim_mul(x, y);
      least = least ? dim_min(least, corner) : corner;
      greatest = greatest ? dim_max(greatest, corner) : corner;
    }
  return {least, greatest};
}

// For a divisor known to be positive; for any other, the quotient is at most as far from 0 as the dividend.
DimRange quotient(const DimRange& dividend, const DimRange& divisor) {
  const bool is_one = divisor.least == divisor.greatest;
  const bool is_positive = prove_less(dim_const(0), divisor.least, Facts());
  if (is_one && is_positive)
    return {dim_floordiv(dividend.least, divisor.least), dim_floordiv(dividend.greatest, divisor.least)};
  if (is_positive) return {dim_min(dividend.least, dim_const(0)), dim_max(dividend.greatest, dim_const(0))};
  Dim farthest = dim_max(dividend.greatest, negated(dividend.least));
  return {negated(farthest), farthest};
}

DimRange remainder(const DimRange& divisor) {
  return {dim_min(dim_const(0), dim_add(divisor.least, dim_const(1))),
          dim_max(dim_const(0), one_less(divisor.greatest))};
}

}  // namespace

DimRange range_of(Dim d, const Facts& facts) {
  auto of = [&](Dim arg) { return range_of(arg, facts); };
  auto fold = [&](auto&& combine) {
    DimRange all = of(d->args[0]);
    for (Dim arg : d->args.subspan(1)) all = combine(all, of(arg));
    return all;
  };
  switch (d->kind) {
    case DimKind::Const:
    case DimKind::Any:
    case DimKind::Infer: return {d, d};
    case DimKind::Var:
      if (const Dim* extent = facts.extent_of(d))
        return {dim_const(0), dim_max(dim_const(0), one_less(of(*extent).greatest))};
      return {d, d};
    case DimKind::Sum:
      return fold([](const DimRange& a, const DimRange& b) {
        return DimRange{dim_add(a.least, b.least), dim_add(a.greatest, b.greatest)};
      });
    case DimKind::Product: return product({dim_const(d->value), dim_const(d->value)}, fold(product));
    case DimKind::FloorDiv: return quotient(of(d->args[0]), of(d->args[1]));
    case DimKind::FloorMod: return remainder(of(d->args[1]));
    case DimKind::Min:
      return fold([](const DimRange& a, const DimRange& b) {
        return DimRange{dim_min(a.least, b.least), dim_min(a.greatest, b.greatest)};
      });
    case DimKind::Max:
      return fold([](const DimRange& a, const DimRange& b) {
        return DimRange{dim_max(a.least, b.least), dim_max(a.greatest, b.greatest)};
      });
    case DimKind::Broadcast:
      return fold([](const DimRange& a, const DimRange& b) {
        return DimRange{dim_min(a.least, b.least), dim_max(a.greatest, b.greatest)};
      });
  }
  return {d, d};
}

}  // namespace quern
