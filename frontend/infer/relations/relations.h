#pragma once
// The queue of relations that wait for types. A relation is retried exactly when one of the unknowns that
// blocked it is bound: the watchers represent the graph of relations and unknowns (Roesch 2020, section 3.3).

#include <deque>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "frontend/infer/gradual/dim_checks.h"

namespace quern {

/// A deferred computation that waits for types.
struct Relation {
  std::function<bool()> attempt;  ///< true when it is done (also when it failed and was reported)
  SyntaxPtr at;
  uint32_t declaration;
  DraftPtr draft;
  std::string wanting;  ///< what must be known, for the message if it never is
  bool done = false, running = false, again = false;
  std::vector<Unknown> waits_for = {};  ///< the unknowns encountered by the last attempt
};

class Relations : public Component {
 public:
  Relations(Context& context, DimChecks& checks) : Component(context), checks_(checks) {}

  /// Attempts it at once, and queues it if it must wait.
  void relate(SyntaxPtr at, DraftPtr draft, std::string wanting, std::function<bool()> attempt);
  /// Retries relations woken by bindings until none is left.
  void run();
  /// All queued relations; indices are stable.
  std::deque<Relation>& all() { return all_; }
  bool has_waiting() const;
  /// Literals in waiting calls whose type another operand may still decide.
  std::set<Unknown> awaiting_literals();

 private:
  bool attempt(size_t number);

  DimChecks& checks_;
  std::deque<Relation> all_;
};

}  // namespace quern
