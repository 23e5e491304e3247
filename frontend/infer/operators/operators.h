#pragma once
// Calls of operators as relations: each is matched with the operator's declaration when its arguments' types
// are known well enough.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/infer/gradual/assignments.h"
#include "frontend/infer/names/names.h"
#include "frontend/infer/relations/relations.h"

namespace quern {

class Operators : public Component {
 public:
  Operators(Context& context, Names& names, DimChecks& checks, Assignments& assignments, Relations& relations)
      : Component(context),
        names_(names),
        checks_(checks),
        assignments_(assignments),
        relations_(relations) {}

  /// A call that has no arguments and type yet.
  OperatorCallDraft& make(const Declaration& op, SyntaxPtr at);
  /// Queues the call until its argument types are known; its type becomes an unknown if it has none.
  void relate(SyntaxPtr at, OperatorCallDraft& call, std::string wanting);
  /// Matches the call again at the final types; nothing if it does not match.
  std::optional<SignatureBinding> match_again(const OperatorCallDraft& call);
  /// The constraint that a call represents; nothing if it is not a constraint of a scheme.
  static std::optional<Constraint> constraint_of(DraftPtr draft);

  /// Calls that were matched before all dims and dtypes were known.
  std::vector<OperatorCallDraft*> open_matches;
  /// Whether a constraint fails at a use of a polymorphic function.
  bool is_broken(size_t use) const { return broken_uses_.contains(use); }

 private:
  MatchOutcome match(const OperatorCallDraft& call);
  bool attempt(OperatorCallDraft& call);
  Type open_result(OperatorCallDraft& waiting);
  void report_as_needed(const OperatorCallDraft& call, size_t from);

  Names& names_;
  DimChecks& checks_;
  Assignments& assignments_;
  Relations& relations_;
  std::set<size_t> broken_uses_;
};

}  // namespace quern
