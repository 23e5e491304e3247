#pragma once
// Unknown types, dims and dtypes of one inference, and their unification.

#include <functional>
#include <set>
#include <unordered_map>
#include <vector>

#include "frontend/signature/signature.h"
#include "ir/type/scheme.h"
#include "ir/type/type.h"

namespace quern {

/// Which unknown: of a type, a dtype or a dim, and its number.
struct Unknown {
  enum class Kind : uint8_t { Type, DType, Dim } kind;
  uint64_t id;
  friend auto operator<=>(const Unknown&, const Unknown&) = default;
};
struct UnknownHash {
  size_t operator()(const Unknown& u) const { return u.id * 4 + static_cast<size_t>(u.kind); }
};

/// Unknowns have levels (Rémy 1992): how many function literals that generalise were open around the place
/// where they were made. Binding an unknown brings what is in its value to its level, so that at the end of a
/// literal exactly the unknowns above the level outside are its own, and general.
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
  /// Whether `?` is equal to nothing but `?`; otherwise to every dim.
  bool exactly = false;
  /// Asked about two different dims without unknowns: whether they may be taken as equal.
  std::function<bool(Dim, Dim)> equate;
  /// Told of each equality of dims that is put off: the first is number 0.
  std::function<void()> put_off;

  /// Literals that nothing decides take their defaults: floats, and integers where no float is left; but not
  /// the `kept` ones. True when there was one.
  bool apply_defaults(const std::set<Unknown>& kept = {});
  /// The same for those from number `first` on and above the current level, but for the `kept` ones.
  bool apply_inner_defaults(size_t first, const std::set<Unknown>& kept);
  size_t dtype_count() const { return dtypes_.size(); }
  /// Equalities of dims that were put off and do not hold, as they were asked for.
  struct Unsettled {
    Dim a, b;
    size_t number;
  };
  std::vector<Unsettled> unsettled();
  /// Of an equality `broadcast(a, b) = b` that was put off, with `a` unknown, two readings are left: `a` is
  /// 1, and `a` is `b`. Takes the second, as a literal takes its default; with `inner`, where `a` is of a
  /// level above the current one. True when there was one.
  bool settle_broadcasts(bool inner);
  /// For messages: "an integer literal" where nothing has decided its dtype yet.
  std::string describe(DType dtype) const;
  std::string describe(Type type);
  /// Whether the last failed unification would have made a type contain itself.
  bool infinite() const { return infinite_; }

  // --- generalisation
  void enter_level() { ++level_; }
  void leave_level() { --level_; }
  uint32_t level() const { return level_; }
  /// Whether an unknown that nothing has bound belongs to a level above the current one.
  bool is_inner(Unknown unknown);
  /// The unknowns in a type that nothing has bound, each once, in the order of the type's text.
  std::vector<Unknown> unknowns(Type type);
  /// Gives an unknown that nothing has bound its value.
  void settle(Unknown unknown, Type value);
  void settle(Unknown unknown, DType value);
  void settle(Unknown unknown, Dim value);
  Dim dim_of(Unknown unknown) const { return dim_nodes_.at(unknown.id); }
  /// The unknowns of a type that were made behind the unifier's back (each `_` of an annotation) are of the
  /// current level.
  void meet(Type type);
  /// The unknown stays one, of the current level.
  void settle_outside(Unknown unknown) { lower(unknown, level_); }
  DTypeClass class_of(DType unknown) const { return dtypes_[unknown.id].dtype_class; }
  /// Whether it is the dtype of a literal, which has a default.
  bool is_literal(Unknown unknown) const {
    return unknown.kind == Unknown::Kind::DType && dtypes_[unknown.id].dtype_class != DTypeClass::Any;
  }

  // --- who waits for what
  /// From `observe` to `observed` every unknown that `resolve` comes upon is noted. Nests.
  void observe() { observed_.emplace_back(); }
  std::vector<Unknown> observed();
  /// `waiter` is in the next `take_woken` after the unknown is bound.
  void watch(Unknown unknown, uint32_t waiter) { watchers_[unknown].push_back(waiter); }
  std::vector<uint32_t> take_woken() { return std::exchange(woken_, {}); }

 private:
  struct DTypeUnknown {
    DTypeClass dtype_class;
    bool wide;  ///< an integer literal past 32 bits defaults to int64
    bool bound = false;
    DType value{};
  };
  bool apply_defaults(size_t first, const std::function<bool(Unknown)>& applies);
  bool bind(Type unknown, Type value);
  bool occurs(Type unknown, Type in);
  Type root(Type unknown);
  /// `known`: what nested types of the same question resolve to.
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
  std::vector<Type> bindings_;                   ///< by the unknown's number; null for one that is not bound
  std::unordered_map<uint64_t, Dim> dim_nodes_;  ///< the nodes of dim unknowns that `unknowns` came upon
  mutable std::vector<DTypeUnknown> dtypes_;     ///< `resolve` shortens chains
  std::vector<std::pair<Dim, Dim>> deferred_;
  uint32_t level_ = 0;
  std::vector<uint32_t> levels_[3];  ///< by kind and number
  mutable std::vector<std::vector<Unknown>> observed_;
  std::unordered_map<Unknown, std::vector<uint32_t>, UnknownHash> watchers_;
  std::vector<uint32_t> woken_;
  bool infinite_ = false;
};

}  // namespace quern
