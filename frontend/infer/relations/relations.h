#pragma once
// The queue of what waits for types. A relation is tried again when one of the unknowns that stopped it is
// bound, and at no other time: the graph of relations and unknowns (Roesch 2020, section 3.3) is in who
// watches what.

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "frontend/infer/gradual/dim_checks.h"

namespace quern {

/// Something that waits for types.
struct Relation {
  std::function<bool()> attempt;  ///< true when it is done (also when it failed and was reported)
  SyntaxPtr at;
  uint32_t declaration;
  DraftPtr draft;
  std::string wanting;  ///< what has to be known, for the message when it never is
  bool done = false, running = false, again = false;
  std::vector<Unknown> waits_for = {};  ///< the unknowns that it came upon when it was last tried
};

class Relations : public Component {
 public:
  Relations(Context& context, DimChecks& checks) : Component(context), checks_(checks) {}

  /// Tries it at once, and puts it into the queue where it has to wait.
  void relate(SyntaxPtr at, DraftPtr draft, std::string wanting, std::function<bool()> attempt);
  /// Tries what bindings have woken until nothing is left.
  void run();
  /// Those that had to wait; a number keeps its meaning.
  std::deque<Relation>& all() { return all_; }
  bool has_waiting() const;
  /// Literals in calls that wait for the type of another operand, which may decide theirs.
  std::set<Unknown> awaiting_literals();

 private:
  bool attempt(size_t number);

  DimChecks& checks_;
  std::deque<Relation> all_;
};

}  // namespace quern
