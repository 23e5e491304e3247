#pragma once
// Generalisation: the unknowns that a function literal or a group of definitions leaves become variables of
// its scheme, and the relations among these its constraints (constrained Hindley-Milner: Odersky, Sulzmann,
// Wehr 1999; Roesch 3.3). A function that is polymorphic beyond dims and types is specialised per rank and
// dtype of its uses.

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/infer/operators/operators.h"

namespace quern {

/// A point in the inference: what is made after it may be generalised.
struct GeneralMark {
  size_t relations, matches, errors, dtypes;
};

/// A type scheme instantiated at fresh unknowns.
struct GeneralUse {
  Substitution substitution;
  Type type;
  size_t number;  ///< identifies the use if a constraint does not hold
};

class General : public Component {
 public:
  General(Context& context, Relations& relations, Operators& operators)
      : Component(context), relations_(relations), operators_(operators) {}

  GeneralMark mark();
  enum class Dims {
    All,
    Shown,  ///< only those that the shape of an argument determines
  };
  /// The schemes of what was inferred since `mark` one level up. `types` are the function types to generalise
  /// together: unknowns of that level become variables (in `types` and everywhere), and relations among them
  /// leave the queue as constraints. `written` has the variables declared in the text.
  std::vector<Scheme> generalise(const GeneralMark& mark, const std::vector<Type>& types,
                                 std::vector<Scheme> written, Dims dims);
  /// Fresh unknowns for the variables of a scheme.
  void instantiate(const Scheme& scheme, Substitution& substitution);
  /// Instantiates the scheme at fresh unknowns and queues its constraints for `at`, as needed by `name`.
  GeneralUse at_use(const Scheme& scheme, SyntaxPtr at, const std::string& name);

  std::unordered_map<const Variable*, Scheme> schemes;  ///< of the variables with polymorphic types
  /// Whether generalisation made this variable from an unknown: the user has not named it.
  bool made(Dim variable) const { return made_.contains(variable); }

 private:
  class Generalisation;
  void discharge(const Constraint& constraint, SyntaxPtr at, const std::string& name, const GeneralUse& use);

  Relations& relations_;
  Operators& operators_;
  std::set<Dim> made_;
  size_t uses_ = 0;
};

}  // namespace quern
