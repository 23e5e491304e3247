#pragma once
// The heads of functions: the types of parameters and results, and the names visible in bodies.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/infer/names/names.h"

namespace quern {

/// A definition's head, resolved.
struct Head {
  std::vector<Type> params;
  Type result = nullptr;
  TypeEnv env;
  std::vector<Dim> dim_vars;
  std::vector<Type> type_vars;
  /// Written dtype parameters: unknowns that the body must not bind.
  std::vector<std::pair<std::string_view, DType>> dtype_vars;
};

/// How the body sees the parameters in brackets.
enum class Binder {
  General,  ///< as variables: the function is polymorphic in them
  Copy,     ///< dims as variables, dtypes and types as bound by the `given` parameter types
  Once,     ///< as unknowns: an anonymous literal is used at one type
};

class Heads : public Component {
 public:
  Heads(Context& context, Names& names) : Component(context), names_(names) {}

  /// The head of a function from the syntax of its type parameters, parameters and result.
  Head of(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, const TypeEnv& outer, Binder binder,
          const std::vector<Type>* given = nullptr);
  /// The head of a `fn` literal.
  Head of_literal(SyntaxPtr literal, Binder binder, const std::vector<Type>* given = nullptr) {
    return of(literal->child(0), literal->child(1), literal->child(2), names_.env, binder, given);
  }
  /// The head of a definition, over its scheme's variables if the scheme is known without the body
  /// (`annotated`). Reports what its annotations report.
  Head of_definition(const Declaration& def, const Scheme** annotated = nullptr);
  /// The parameters as variables, in scope from here on.
  std::vector<const Variable*> bind_params(SyntaxPtr params, const Head& head,
                                           std::vector<FnAttribute>& attributes);
  /// Reports a dtype parameter that the body binds to a dtype or to another parameter.
  void check_written_dtypes(SyntaxPtr at, const Head& head);

 private:
  void bind_type_params(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Binder binder,
                        const std::vector<Type>* given, Head& head);
  /// Reports each undeclared dim name in annotations once, and then declares it.
  void declare_missing_dims(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Head& head);
  Head from_annotations(SyntaxPtr def, const Annotations& annotations);
  std::string attribute_text(SyntaxPtr value);

  Names& names_;
};

/// Whether a definition's head is fully annotated.
bool fully_annotated(SyntaxPtr def);
/// The diagnostic for an operator, or a function with attributes, that lacks an annotation.
Diagnostic missing_signature(const Declaration& def);
/// Whether a type contains `_`.
bool has_hole(SyntaxPtr s);

}  // namespace quern
