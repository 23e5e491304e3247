#pragma once
// General types: what a function literal or a group of definitions leaves unknown becomes variables of its
// scheme, and the relations among these its constraints (constrained Hindley-Milner: Odersky, Sulzmann, Wehr
// 1999; Roesch 3.3). What is general beyond dims and types is typed anew at each rank and dtype of its uses.

#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/infer/operators/operators.h"

namespace quern {

/// How far the inference had come: what is made after it may be general where it ends.
struct GeneralMark {
  size_t relations, matches, errors, dtypes;
};

/// A general type at fresh unknowns.
struct GeneralUse {
  Substitution substitution;
  Type type;
  size_t number;  ///< as broken where a constraint does not hold
};

class General : public Component {
 public:
  General(Context& context, Relations& relations, Operators& operators)
      : Component(context), relations_(relations), operators_(operators) {}

  GeneralMark mark();
  enum class Dims {
    All,
    Shown,  ///< those alone that the shape of an argument shows
  };
  /// The schemes of what was inferred since `mark` one level up, `types` being the function types to make
  /// general together: unknowns of that level become variables (in `types` and everywhere), relations among
  /// them leave the queue as constraints. `written` has the variables that stand in the text.
  std::vector<Scheme> generalise(const GeneralMark& mark, const std::vector<Type>& types,
                                 std::vector<Scheme> written, Dims dims);
  /// Fresh unknowns for the variables of a scheme.
  void instantiate(const Scheme& scheme, Substitution& substitution);
  /// The type at fresh unknowns, its constraints put into the queue for `at`, as needed by `name`.
  GeneralUse at_use(const Scheme& scheme, SyntaxPtr at, const std::string& name);

  std::unordered_map<const Variable*, Scheme> schemes;  ///< of the variables with general types
  /// Whether generalising made this variable of an unknown: it has no name of the user's.
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
