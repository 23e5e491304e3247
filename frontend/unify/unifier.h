#pragma once
// The unknown types, dims and dtypes of one inference, and their unification.

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "frontend/signature/signature.h"
#include "ir/type/scheme.h"
#include "ir/type/type.h"

namespace quern {

/// Identifies an unknown type, dtype or dim by its number.
struct Unknown {
  enum class Kind : uint8_t { Type, DType, Dim } kind;
  uint64_t id;
  friend auto operator<=>(const Unknown&, const Unknown&) = default;
};
struct UnknownHash {
  size_t operator()(const Unknown& u) const { return u.id * 4 + static_cast<size_t>(u.kind); }
};

/// Unknowns have levels (Rémy 1992): the number of enclosing generalising function literals when they were
/// made. Binding an unknown lowers the unknowns in its value to its level, so that at the end of a literal
/// exactly the unknowns above the outer level are its own, and can be generalised.
class Unifier {
 public:
  Type fresh_type();
  Dim fresh_dim();
  DType fresh_dtype(DTypeClass dtype_class, bool wide = false);

  Type resolve(Type type);
  Dim resolve(Dim dim) { return dim->has_infer ? dims_.resolve(dim) : dim; }
  DType resolve(DType dtype) const;

  bool unify(Type a, Type b);
  bool unify(Dim a, Dim b);
  bool unify(DType a, DType b);
  /// Whether `?` equals only `?`; otherwise it equals every dim.
  bool exactly = false;
  /// Asked about two different dims without unknowns: whether they may be taken as equal.
  std::function<bool(Dim, Dim)> equate;
  /// Called for each deferred equality of dims; the first has number 0.
  std::function<void()> put_off;

  /// Gives undecided literals their defaults: floats first, and integers if no float is left, except the
  /// `kept` ones. True if there was one.
  bool apply_defaults(const std::set<Unknown>& kept = {});
  /// The same for those from number `first` on and above the current level, except the `kept` ones.
  bool apply_inner_defaults(size_t first, const std::set<Unknown>& kept);
  size_t dtype_count() const { return dtypes_.size(); }
  /// Deferred equalities of dims that do not hold, as originally stated.
  struct Unsettled {
    Dim a, b;
    size_t number;
  };
  std::vector<Unsettled> unsettled();
  /// A deferred equality `broadcast(a, b) = b` with `a` unknown has two solutions: `a` is 1, or `a` is `b`.
  /// Takes the second, like a literal's default; with `inner`, only if the level of `a` is above the current
  /// one. True if there was one.
  bool settle_broadcasts(bool inner);
  /// For messages: "an integer literal" if its dtype is undecided.
  std::string describe(DType dtype) const;
  std::string describe(Type type);
  /// Whether the last failed unification would have made a type contain itself.
  bool infinite() const { return infinite_; }

  // --- generalisation
  void enter_level() { ++level_; }
  void leave_level() { --level_; }
  uint32_t level() const { return level_; }
  /// Whether an unbound unknown belongs to a level above the current one.
  bool is_inner(Unknown unknown);
  /// The unbound unknowns in a type, each once, in the order of the type's text.
  std::vector<Unknown> unknowns(Type type);
  /// Binds an unbound unknown.
  void settle(Unknown unknown, Type value);
  void settle(Unknown unknown, DType value);
  void settle(Unknown unknown, Dim value);
  Dim dim_of(Unknown unknown) const { return dim_nodes_.at(unknown.id); }
  /// Registers unknowns of a type that the unifier did not make (each `_` of an annotation) at the current
  /// level.
  void meet(Type type);
  /// Keeps the unknown unbound, at the current level.
  void settle_outside(Unknown unknown) { lower(unknown, level_); }
  DTypeClass class_of(DType unknown) const { return dtypes_[unknown.id].dtype_class; }
  /// Whether it is the dtype of a literal, and thus has a default.
  bool is_literal(Unknown unknown) const {
    return unknown.kind == Unknown::Kind::DType && dtypes_[unknown.id].dtype_class != DTypeClass::Any;
  }

  // --- who waits for what
  /// From `observe` to `observed`, records every unknown that `resolve` encounters. Nests.
  void observe() { observed_.emplace_back(); }
  std::vector<Unknown> observed();
  /// The next `take_woken` after the unknown is bound contains `waiter`.
  void watch(Unknown unknown, uint32_t waiter) { watchers_[unknown].push_back(waiter); }
  std::vector<uint32_t> take_woken() { return std::exchange(woken_, {}); }

 private:
  struct DTypeUnknown {
    DTypeClass dtype_class;
    bool wide;  ///< an integer literal beyond 32 bits defaults to int64
    bool bound = false;
    DType value{};
  };
  bool apply_defaults(size_t first, const std::function<bool(Unknown)>& applies);
  bool bind(Type unknown, Type value);
  bool occurs(Type unknown, Type in);
  Type root(Type unknown);
  /// `known`: memo for nested types of the same call.
  Type resolve(Type type, std::unordered_map<Type, Type>& known);
  void wake(Unknown unknown);
  uint32_t& level_of(Unknown unknown);
  void lower(Type type, uint32_t level);
  void lower(Dim dim, uint32_t level);
  void lower(Unknown unknown, uint32_t level);
  void note(Unknown unknown) const {
    if (!observed_.empty()) observed_.back().push_back(unknown);
  }

  DimScratch dims_;
  TypeScratch types_;
  std::vector<Type> bindings_;                   ///< by the unknown's number; null if unbound
  std::unordered_map<uint64_t, Dim> dim_nodes_;  ///< the nodes of dim unknowns encountered by `unknowns`
  mutable std::vector<DTypeUnknown> dtypes_;     ///< `resolve` compresses paths
  std::vector<std::pair<Dim, Dim>> deferred_;
  uint32_t level_ = 0;
  std::vector<uint32_t> levels_[3];  ///< by kind and number
  mutable std::vector<std::vector<Unknown>> observed_;
  std::unordered_map<Unknown, std::vector<uint32_t>, UnknownHash> watchers_;
  std::vector<uint32_t> woken_;
  bool infinite_ = false;
};

}  // namespace quern
