#pragma once
// The heads of functions: the types of their parameters and results, and the names that bodies may use.

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
  /// Written dtype parameters: unknowns that the body must leave unknown.
  std::vector<std::pair<std::string_view, DType>> dtype_vars;
};

/// What the parameters in brackets are in the body.
enum class Binder {
  General,  ///< variables: the function is general in them
  Copy,     ///< dims are variables, dtypes and types what the `given` types of the parameters make them
  Once,     ///< unknowns: a literal that is no definition is used at one type
};

class Heads : public Component {
 public:
  Heads(Context& context, Names& names) : Component(context), names_(names) {}

  /// Of a function whose parameters in brackets, parameters and result are written like this.
  Head of(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, const TypeEnv& outer, Binder binder,
          const std::vector<Type>* given = nullptr);
  /// Of a `fn` literal.
  Head of_literal(SyntaxPtr literal, Binder binder, const std::vector<Type>* given = nullptr) {
    return of(literal->child(0), literal->child(1), literal->child(2), names_.env, binder, given);
  }
  /// Of a definition: over its scheme's own variables where that is known without the body (`annotated`).
  Head of_definition(const Declaration& def, const Scheme** annotated = nullptr);
  /// The parameters as variables, in scope from here on.
  std::vector<const Variable*> bind_params(SyntaxPtr params, const Head& head,
                                           std::vector<FnAttribute>& attributes);
  /// Reports a dtype parameter that the body makes a certain dtype, or another parameter.
  void check_written_dtypes(SyntaxPtr at, const Head& head);

 private:
  void bind_type_params(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Binder binder,
                        const std::vector<Type>* given, Head& head);
  /// Dim names in annotations that no list of parameters declares: each is reported once and then is a dim.
  void declare_missing_dims(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Head& head);
  Head from_scheme(SyntaxPtr def, const Scheme& scheme, const Head& written);
  std::string attribute_text(SyntaxPtr value);

  Names& names_;
};

/// Whether all types of a definition's head are written.
bool fully_annotated(SyntaxPtr def);
/// Whether `_` stands in a type.
bool has_hole(SyntaxPtr s);

}  // namespace quern
