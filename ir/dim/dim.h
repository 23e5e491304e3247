#pragma once
// Dims: symbolic integer expressions over dimension variables, canonical and interned, so that equal dims are
// one pointer: `n*2/2` and `n`, `a + b` and `b + a`. Index arithmetic uses the same dims, with index
// variables as variables, so that strides, bounds and substitution are operations on dims.
//
// Canonical form: a polynomial with integer coefficients over atoms. Atoms are variables and the
// non-polynomial nodes (floordiv, floormod, min, max, broadcast), whose operands are canonical themselves.
//     Sum      args: two or more terms, each Const, an atom or a Product; sorted, at most one Const, which is
//     last Product  value: the coefficient; args: one or more atoms, sorted, repeated for powers (never a
//     single atom with 1)
// floordiv and floormod extract every term that the divisor divides: (a*4 + b)/4 = a + b/4.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern {

enum class DimKind : uint8_t {
  Const,  ///< value
  Var,    ///< name, id: a rigid dimension variable or an index variable
  Any,    ///< `?` as written in a type; arithmetic on it yields it again
  Infer,  ///< id: an unknown of the running inference
  Sum,
  Product,
  FloorDiv,  ///< args: dividend, divisor; rounds towards minus infinity
  FloorMod,  ///< args: dividend, divisor; has the divisor's sign
  Min,       ///< args: two or more, sorted
  Max,
  Broadcast,  ///< args: two extents of one axis; the other one if one is 1 (they are equal or 1)
};

struct DimNode;
using Dim = const DimNode*;

struct DimNode {
  DimKind kind;
  bool has_infer : 1;  ///< contains an Infer: such nodes belong to the running inference and are not interned
  bool has_any : 1;    ///< contains a `?`
  bool opened : 1;     ///< Var: stands for a `?`, known at run time (existential)
  bool in_arena : 1;   ///< lives as long as a DimArena (ir/dim/arena.h)
  uint32_t order;      ///< creation order: the (arbitrary but stable within a process) order of atoms
  int64_t value;       ///< Const: the constant; Product: the coefficient; Var, Infer: the id
  std::string_view name;  ///< Var
  std::span<const Dim> args;
};

// --- construction; every result is canonical
Dim dim_const(int64_t value);
/// A new variable, distinct from every other; the name is for display.
Dim dim_var(std::string_view name);
/// A new existential variable that stands for a `?` of a value's type. Equating it with another dim is a
/// run-time check, where equating a dim_var is an error.
Dim dim_opened(std::string_view name);
Dim dim_any();
Dim dim_add(Dim a, Dim b);
Dim dim_sub(Dim a, Dim b);
Dim dim_mul(Dim a, Dim b);
/// Rounds towards minus infinity. The caller must exclude division by the constant 0.
Dim dim_floordiv(Dim a, Dim b);
Dim dim_floormod(Dim a, Dim b);
Dim dim_min(Dim a, Dim b);
Dim dim_max(Dim a, Dim b);
/// broadcast(a, a) = a; broadcast(1, a) = a; two different constants other than 1 stay a Broadcast node (the
/// caller reports them).
Dim dim_broadcast(Dim a, Dim b);
/// The product of all dims; 1 for none.
Dim dim_product(std::span<const Dim> dims);

// --- questions
inline std::optional<int64_t> as_const(Dim d) {
  return d->kind == DimKind::Const ? std::optional<int64_t>(d->value) : std::nullopt;
}
inline bool is_const(Dim d, int64_t value) { return d->kind == DimKind::Const && d->value == value; }

/// Text as a user would write it: `(h - r) / stride + 1`, `min(a, b)`, `?`.
std::string to_string(Dim d);
/// "(n, 64, ?)", "(3,)", "()".
std::string shape_to_string(std::span<const Dim> dims);

/// Calls `visit` for each variable (Var) inside, once per occurrence.
void for_each_var(Dim d, const std::function<void(Dim)>& visit);
bool contains_var(Dim d, Dim var);
bool contains_opened(Dim d);

using DimMap = std::unordered_map<Dim, Dim>;
/// Replaces variables by their images; variables that are not keys stay.
Dim substitute(Dim d, const DimMap& map);

/// The value of `d` if `lookup` gives the value of each variable; nothing if it does not, on division by
/// zero, on `?`, and on overflow.
std::optional<int64_t> evaluate(Dim d, const std::function<std::optional<int64_t>(Dim)>& lookup);

/// d == coefficient*var + rest, where var occurs in neither; nothing if d is not linear in var.
struct Linear {
  Dim coefficient;
  Dim rest;
};
std::optional<Linear> linear_in(Dim d, Dim var);

// --- proofs
/// Facts about variables: rigid dims are >= 0 unless stated otherwise; an index variable lies in [0, extent).
class Facts {
 public:
  /// 0 <= var < extent, for a point of an iteration (so the extent is at least 1, and an extent `max(0, e)`
  /// is `e`).
  void add_index(Dim var, Dim extent);
  /// lower <= var.
  void add_lower(Dim var, int64_t lower);
  /// d >= 0.
  void add_nonnegative(Dim d);
  const Dim* extent_of(Dim var) const;
  int64_t lower_of(Dim var) const;
  std::span<const Dim> nonnegative() const { return nonnegative_; }

  struct Answers;
  Answers& answers() const;

 private:
  friend class DimProver;

  std::unordered_map<Dim, Dim> extents_;
  std::unordered_map<Dim, int64_t> lowers_;
  std::vector<Dim> nonnegative_;
  /// Memoised answers under these facts, shared by copies until one of them gets more facts. Facts and their
  /// copies stay on one thread.
  mutable std::shared_ptr<Answers> answers_;
};

/// True only if d >= 0 follows from the facts. Decides linear arithmetic over index ranges with floordiv,
/// floormod, min and max, within a bounded amount of work; false means "not proved".
bool prove_nonnegative(Dim d, const Facts& facts);
bool prove_less(Dim a, Dim b, const Facts& facts);
bool prove_less_equal(Dim a, Dim b, const Facts& facts);

/// True only if a and b are equal, or differ, for all values of their variables that the facts allow.
bool prove_equal(Dim a, Dim b, const Facts& facts);
bool prove_different(Dim a, Dim b, const Facts& facts);
/// True only if no values make all of `zero` 0 and all of `nonnegative` >= 0. Decides linear arithmetic with
/// floordiv and floormod by constants, min, max and broadcast (ir/dim/omega.h), within a bounded amount of
/// work.
bool prove_impossible(std::span<const Dim> zero, std::span<const Dim> nonnegative, const Facts& facts);

/// An equal dim (under the facts) with fewer non-polynomial nodes: `min(i, n - 1)` is `i` when 0 <= i < n, `i
/// / n` is 0.
Dim simplify(Dim d, const Facts& facts);

// --- inference unknowns
/// Owns the unknowns, and every node that contains one, of the inference running on this thread. There is one
/// at a time per thread; the constructors above allocate nodes with unknowns from it. Such nodes must not
/// outlive it.
class DimScratch {
 public:
  DimScratch();
  ~DimScratch();
  DimScratch(const DimScratch&) = delete;
  DimScratch& operator=(const DimScratch&) = delete;
  static DimScratch* current();

  Dim fresh();
  /// Gives an unbound unknown its value; the value must not contain it.
  void bind(Dim infer, Dim value);
  /// `d` with every bound unknown replaced, canonical again.
  Dim resolve(Dim d);

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
  DimScratch* previous_;
};

}  // namespace quern
