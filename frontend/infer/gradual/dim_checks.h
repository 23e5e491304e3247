#pragma once
// Which dims have to agree, where that is known, and where it is checked when the program runs. A check goes
// behind the value that needs it, and holds at the later points of the program (frontend/unify/gradual.h).

#include <functional>
#include <string>
#include <vector>

#include "frontend/infer/context/context.h"
#include "frontend/unify/gradual.h"

namespace quern {

/// Where the checks go that are asked for: after the value of `draft`, before what uses it. Without a draft
/// there is no check.
struct CheckSite {
  DraftPtr draft = nullptr;
  Origin origin = {}, source = {};  ///< of what needs them, and of what says what is expected
  std::function<std::string()> what = nullptr;
};

class DimChecks : public Component {
 public:
  explicit DimChecks(Context& context);

  CheckSite site;
  /// Whether the relation holds, or is checked from now on. `strict`: among dims that are no `?` it has to be
  /// known.
  bool require(DimRelation relation, Dim a, Dim b, bool strict);
  /// What is known to be equal at this point written alike.
  template <class T>
  T normalise(T of) const {
    return known_.normalise(of, point_);
  }

  // --- points and regions of the program
  ProgramPoint step() { return known_.step(); }
  /// What is compared next is compared at the point that the walk, or the relation that is tried, is at.
  void compare_here() { point_ = in_relation_ ? point_ : known_.step(); }
  ProgramPoint point() const { return point_; }
  void compare_at(ProgramPoint point) { point_ = point; }
  /// Tries a relation that was made at this point.
  bool attempt_at(ProgramPoint point, const std::function<bool()>& attempt);
  /// A region inside of the one that the walk is in; gives the outer one, for `leave_region`.
  uint32_t enter_region() { return known_.enter(); }
  void leave_region(uint32_t outer) { known_.leave(outer); }
  uint32_t region() const { return known_.region(); }

  // --- opening
  /// The value, of type `type`, with each `?` of its shape opened to a dim named after `name`.
  DraftPtr opened(DraftPtr value, Type type, std::string_view name);
  /// The type with `?` for each dim that is bound inside a region, for use outside of it.
  Type closed(Type type, uint32_t region);

  /// What an equality of dims that the unifier put off was asked for, by its number.
  struct PutOff {
    Place place;
    std::string what;
  };
  const PutOff& put_off(size_t number) const { return put_off_[number]; }

 private:
  DimFacts known_;
  ProgramPoint point_;        ///< of what is compared now
  bool in_relation_ = false;  ///< a relation is attempted, which has a point of its own
  std::vector<PutOff> put_off_;
};

}  // namespace quern
