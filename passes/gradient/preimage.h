#pragma once
// Which points of an iteration space read a given element: the equations `e(v) = u` solved for v.
//
// This is what turns the adjoint of an index expression, "each point v adds to the element e(v)", into
// another index expression, "the element u is the sum over the points with e(v) = u". The equations are
// quasi-affine in the variables v: floordiv and floormod by a divisor free of the variables are replaced by
// new bounded variables (e = m q + r, 0 <= r < m); the remaining linear system over the integers is solved by
// substitution, as in the Hermite normal form (one column operation at a time), in checked arithmetic; bounds
// become extents.

#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "ir/dim/dim.h"

namespace quern {

/// The points `v`, 0 <= v[k] < extents[k] (an extent may mention earlier variables), at which all of `zero`
/// are 0 and all of `nonnegative` are >= 0, and the element of a tensor that they read: `indices`.
struct ReadSite {
  std::vector<Dim> vars, extents;
  std::vector<Dim> zero, nonnegative;
  std::vector<Dim> indices;
};

/// The points of a read site that read the element at `targets`: for each assignment of `vars`, 0 <= vars[k]
/// < extents[k], the point at which each variable of the site has its value in `values`, provided that the
/// guards hold: all of `zero` are 0 and all of `nonnegative` are >= 0. Each point occurs once.
struct Preimage {
  std::vector<Dim> vars, extents;
  DimMap values;
  std::vector<Dim> zero, nonnegative;
};

/// Why the equations cannot be solved.
struct Unsolvable {
  std::string reason;
};
/// Disjoint parts; none if no point reads the element.
using PreimageResult = std::variant<std::vector<Preimage>, Unsolvable>;

/// The points that read the element at `targets`, dims over variables that `facts` bounds.
PreimageResult preimage(const ReadSite& site, std::span<const Dim> targets, const Facts& facts);

/// For each variable of the targets, the number of residue classes to split it into (1 for no split) so that
/// the preimage of a class has neither divisibility guards nor extents that depend on the target.
std::vector<int64_t> residue_moduli(const ReadSite& site, std::span<const Dim> targets, const Facts& facts);

}  // namespace quern
