#pragma once
// Type inference: syntax to typed IR (Roesch 2020, sections 3.2 and 3.3: Hindley-Milner with a queue of
// relations).
//
// One walk over the syntax makes draft nodes whose types may be unknown and puts a relation in the queue for
// each thing that waits for a type: an operator call, a field, an index expression. The queue is run to its
// fixpoint; literals that nothing decided take their defaults; what is left asks for an annotation. A second
// walk over the drafts makes the final, interned nodes.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "frontend/signature/signature.h"
#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"
#include "ir/expr/expr.h"

namespace quern {

/// A call of an operator whose definition is asked for late.
struct LateCall {
  std::shared_ptr<const OpInstance> instance;
  Place place;
};

/// A definition at the types that a use gives its parameters, and the use.
struct Specialisation {
  InstanceRequest request;
  Place use;
};

/// What inference finds out about one declaration.
struct Inferred {
  Definition definition;    ///< body null where there were errors
  std::vector<Type> types;  ///< by syntax node id; null where a node has none
  Diagnostics diagnostics;
  std::vector<LateCall> late_calls = {};
  std::vector<std::shared_ptr<const std::vector<Type>>> chunk_types =
      {};  ///< of each chunk of its body, as `types`
  const Variable* variable =
      nullptr;  ///< of a `let` statement: its type has every `?` opened to a dim of its own
  std::vector<Specialisation> needs;  ///< definitions typed per rank and dtype, as they are used here
  /// Of a statement's function literal that is typed per rank and dtype: see TopLevelVariable.
  std::shared_ptr<const Declaration> literal;
  std::vector<std::shared_ptr<const TopLevelVariable>> captured;
};

/// The general type of a definition whose parameters and result are all annotated; nothing for others (and
/// none is reported: that is left to the inference of the body).
std::optional<Scheme> annotated_scheme(const Declaration& def, Scope& scope);

/// Infers a group of mutually recursive definitions; one Inferred per member, in order.
std::vector<Inferred> infer_group(const std::vector<const Declaration*>& group, Scope& scope);

/// The same at the types that the request gives the parameters of one member: definitions that can be run of
/// what is general beyond dims and types. Their names are `specialised_name`s.
std::vector<Inferred> infer_copy(const std::vector<const Declaration*>& group, const InstanceRequest& request,
                                 Scope& scope);
/// The name of a member of a group in the copy of the group that a request is for: `f{…}`.
std::string specialised_name(std::string_view member, const InstanceRequest& request);

/// Infers a top-level statement.
Inferred infer_statement(const Declaration& statement, Scope& scope);

/// Checks an operator's own text as far as that is possible without a call: at its default attributes, dims
/// unknown.
Diagnostics check_operator(const Declaration& op, Scope& scope);

/// A definition with attributes or packs at an instance, named by the request's key.
Inferred infer_instance(const Declaration& def, const InstanceRequest& request, Scope& scope);

/// An instance as its callers see it: without a definition.
std::shared_ptr<OpInstance> instance_head(const InstanceRequest& request);
/// The typed definition of an operator at an instance; `function` is null after diagnostics.
std::shared_ptr<const OpInstance> make_instance(const InstanceRequest& request, Scope& scope,
                                                Diagnostics& diagnostics);

/// Whether a value has a gradient: it is a tensor of floating-point numbers, or a tuple with one.
bool has_floats(Type type);
/// The type of the gradient of a value: of floating-point tensors their own, `()` for what has none.
Type gradient_type(Type type);
/// Of a clause `gradient (%g, %y) { … }`: a function of the cotangent of the result, and of the result where
/// it has two parameters. Its result is the gradient of the parameter, or a tuple where there are several.
Type gradient_clause_type(std::span<const Type> params, Type result, size_t arity);
/// The `gradient` clause of a declaration; null where it has none.
SyntaxPtr gradient_clause_of(SyntaxPtr declaration);

/// The node that says the type of what a Let, a GraphLet or a parameter binds: its annotation, else its
/// value.
SyntaxPtr type_source(SyntaxPtr binding);

/// Names of other definitions (`@f`) in a declaration, for grouping recursion.
std::vector<std::string> referenced_globals(SyntaxPtr syntax);

}  // namespace quern
