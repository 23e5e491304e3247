#pragma once
// Operator signatures: the type relation of an operator, read off its declaration. Matching a call binds the
// names of the signature (packs, dims, dtypes, attributes) to what the arguments have, checks the constraints
// and gives the result type.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/signature/resolve_type.h"
#include "frontend/static/eval.h"
#include "frontend/static/scope.h"

namespace quern {

/// How the matcher reaches the inference that it works for.
class TypeHooks {
 public:
  virtual ~TypeHooks() = default;
  virtual Type resolve(Type type) = 0;
  virtual Dim resolve(Dim dim) = 0;
  virtual DType resolve(DType dtype) = 0;
  /// Makes two things equal where that is possible; false where they differ.
  virtual bool unify(Type a, Type b) = 0;
  virtual bool unify(Dim a, Dim b) = 0;
  virtual bool unify(DType a, DType b) = 0;
  /// Whether a relation holds, or will be checked at run time. `strict`: among dims that are no `?` it has to
  /// be known.
  virtual bool require(DimRelation relation, Dim a, Dim b, bool strict) = 0;
  /// What the relations that follow are asked for, and where in the call: for the messages of checks.
  virtual void asking(SyntaxPtr at, const Place& source, std::function<std::string()> what) = 0;
  virtual std::string describe(DType dtype) = 0;
  virtual std::string describe(Type type) = 0;
  /// Notes that say where an argument's type comes from.
  virtual std::vector<Note> origin_of_argument(size_t i) = 0;
};

/// An operator's call as far as its signature is concerned.
struct SignatureCall {
  SyntaxPtr syntax;           ///< the call
  std::vector<Type> tensors;  ///< types of the tensor arguments
  std::vector<SyntaxPtr> tensor_syntax;
  std::vector<std::pair<std::string, StaticValue>>
      attributes;  ///< as given, evaluated; "" for a positional one
  std::vector<SyntaxPtr> attribute_syntax;
};

struct SignatureBinding {
  StaticEnv env;  ///< every name of the signature
  std::set<std::string>
      bound;  ///< those that stand for dims and dtypes of the arguments (packs, dims, dtypes)
  Type result = nullptr;
  std::vector<std::pair<std::string, StaticValue>>
      attributes;  ///< that differ from their defaults, in declared order
};

enum class MatchStatus { Matched, Stuck, Failed };
struct MatchOutcome {
  MatchStatus status;
  SignatureBinding binding;
};

/// Whether a parameter's shape is `permute((n, c, h, w), axes)`.
bool is_permuted_shape(SyntaxPtr shape);

/// How many parameters of a signature are tensors (the others are attributes).
size_t tensor_param_count(SyntaxPtr op);
SyntaxPtr params_of(SyntaxPtr op);

/// Stuck: an argument's type is not known well enough yet (nothing was reported or unified). Failed:
/// reported.
MatchOutcome match_signature(const Declaration& op, const SignatureCall& call, Scope& scope, TypeHooks& hooks,
                             Diagnostics& diagnostics, uint32_t caller);

/// What an instance of an operator depends on: ranks, dtypes and attribute values; dims only as unknowns.
struct InstanceRequest {
  std::string op;            ///< its name where it is declared
  uint32_t declaration = 0;  ///< of the operator
  std::string key;
  SignatureBinding binding;
  /// For a definition without attributes and packs its parameters' types, `?` for each dim, instead of a
  /// binding.
  std::optional<std::vector<Type>> params = std::nullopt;
};
/// The request for a settled binding (no unknowns left in it).
InstanceRequest make_request(const Declaration& op, SignatureBinding binding);
InstanceRequest make_request(const Declaration& def, std::vector<Type> params);

/// Whether calls of a `def @…` go by its signature as those of operators do: it has attributes, packs, or
/// clauses.
bool has_attributes_or_packs(const Declaration& def);

/// The binding with fresh rigid dims in place of the arguments' dims.
SignatureBinding with_fresh_dims(const InstanceRequest& request);
/// The dims of a binding in the order of an instance's dim_vars: applied to the call's binding it gives what
/// the variables of `with_fresh_dims` stand for.
std::vector<Dim> instance_dims(const SignatureBinding& binding);

/// For instances: evaluates the clauses and the parameter and result types over fresh dims; `where a == b`
/// between dims replaces one by the other in the environment.
struct InstanceSignature {
  StaticEnv env;
  std::vector<Type> params;
  Type result;
};
std::optional<InstanceSignature> instantiate_signature(const Declaration& op, const SignatureBinding& binding,
                                                       Scope& scope, Diagnostics& diagnostics);

}  // namespace quern
