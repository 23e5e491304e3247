#pragma once
// Agreement of dims: proved where possible, otherwise checked at run time. A check is attached to the value
// that needs it, and holds at the later points of the program (frontend/unify/gradual.h).

#include <functional>
#include <string>
#include <vector>

#include "frontend/infer/context/context.h"
#include "frontend/unify/gradual.h"

namespace quern {

/// Where requested checks go: after the value of `draft`, before its uses. Without a draft there is no check.
struct CheckSite {
  DraftPtr draft = nullptr;
  Origin origin = {}, source = {};  ///< of the expression that needs them, and of the expectation
  std::function<std::string()> what = nullptr;
};

class DimChecks : public Component {
 public:
  explicit DimChecks(Context& context);

  CheckSite site;
  /// Whether the relation holds, or is checked from now on. `strict`: among dims that are not `?` it must be
  /// proved.
  bool require(DimRelation relation, Dim a, Dim b, bool strict);
  /// Rewrites dims known to be equal at this point to the same representative.
  template <class T>
  T normalise(T of) const {
    return known_.normalise(of, point_);
  }

  // --- points and regions of the program
  ProgramPoint step() { return known_.step(); }
  /// Compares next at the current point of the walk, or of the relation being attempted.
  void compare_here() { point_ = in_relation_ ? point_ : known_.step(); }
  ProgramPoint point() const { return point_; }
  void compare_at(ProgramPoint point) { point_ = point; }
  /// Attempts a relation that was made at this point.
  bool attempt_at(ProgramPoint point, const std::function<bool()>& attempt);
  /// Enters a region inside the current one; returns the outer one, for `leave_region`.
  uint32_t enter_region() { return known_.enter(); }
  void leave_region(uint32_t outer) { known_.leave(outer); }
  uint32_t region() const { return known_.region(); }

  // --- opening
  /// The value, of type `type`, with each `?` of its shape opened to a fresh dim named after `name`.
  DraftPtr opened(DraftPtr value, Type type, std::string_view name);
  /// A dim that is known when the program runs, at the current point.
  Dim open(std::string_view name) {
    return known_.open(name, in_relation_ ? point_.region : known_.region());
  }
  /// The type with `?` for each dim bound inside a region, for use outside it.
  Type closed(Type type, uint32_t region);

  /// The purpose of an equality of dims that the unifier deferred, by its number.
  struct PutOff {
    Place place;
    std::string what;
  };
  const PutOff& put_off(size_t number) const { return put_off_[number]; }

 private:
  DimFacts known_;
  ProgramPoint point_;        ///< of the current comparison
  bool in_relation_ = false;  ///< a relation is being attempted, which has its own point
  std::vector<PutOff> put_off_;
};

}  // namespace quern
