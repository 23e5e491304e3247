#pragma once
// Uses of polymorphic definitions: each specialisation per rank and dtype is a separate definition.

#include <string_view>
#include <vector>

#include "frontend/infer/general/general.h"

namespace quern {

class Specialisations : public Component {
 public:
  Specialisations(Context& context, Names& names, Assignments& assignments, Relations& relations,
                  Operators& operators, General& general)
      : Component(context),
        names_(names),
        assignments_(assignments),
        relations_(relations),
        operators_(operators),
        general_(general) {}

  /// A use of `@name`, perhaps with type arguments.
  DraftPtr use(SyntaxPtr s, std::string_view name, const Scheme& scheme);

 private:
  struct Use {
    SyntaxPtr at;
    std::string_view name;
    std::vector<Dim> dims;  ///< values of the definition's own dims
    bool annotated;         ///< its type is known without its body
    size_t number;          ///< as in GeneralUse
  };
  bool attempt(DraftPtr waiting, const Use& use);
  void use_specialised(DraftPtr waiting, const Use& use, const Inferred& copy, std::string_view key,
                       uint32_t home);
  DraftPtr global(SyntaxPtr s, std::string_view name, const Scheme& scheme, const GeneralUse& use,
                  uint32_t module);
  // type_arguments.cpp
  void type_arguments(SyntaxPtr s, const Scheme& scheme, const Substitution& substitution);
  void type_argument(SyntaxPtr s, SyntaxPtr argument, std::string_view name, const Scheme& scheme,
                     const Substitution& substitution);

  Names& names_;
  Assignments& assignments_;
  Relations& relations_;
  Operators& operators_;
  General& general_;
};

}  // namespace quern
