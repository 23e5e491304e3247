#pragma once
// Operator signatures: the type relation of an operator, derived from its declaration. Matching a call binds
// the names of the signature (packs, dims, dtypes, attributes) from the arguments, checks the constraints and
// computes the result type.

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/signature/resolve_type.h"
#include "frontend/static/eval.h"
#include "frontend/static/scope.h"

namespace quern {

/// The matcher's interface to inference.
class TypeHooks {
 public:
  virtual ~TypeHooks() = default;
  virtual Type resolve(Type type) = 0;
  virtual Dim resolve(Dim dim) = 0;
  virtual DType resolve(DType dtype) = 0;
  /// Makes two things equal if possible; false if they differ.
  virtual bool unify(Type a, Type b) = 0;
  virtual bool unify(Dim a, Dim b) = 0;
  virtual bool unify(DType a, DType b) = 0;
  /// Whether a relation holds, or will be checked at run time. `strict`: among dims that are not `?` it must
  /// be proved.
  virtual bool require(DimRelation relation, Dim a, Dim b, bool strict) = 0;
  /// Sets the purpose of the following relations and their place in the call, for the messages of checks.
  virtual void asking(SyntaxPtr at, const Place& source, std::function<std::string()> what) = 0;
  virtual std::string describe(DType dtype) = 0;
  virtual std::string describe(Type type) = 0;
  /// Notes that explain where an argument's type comes from.
  virtual std::vector<Note> origin_of_argument(size_t i) = 0;
};

/// An operator call as its signature sees it.
struct SignatureCall {
  SyntaxPtr syntax;           ///< the call
  std::vector<Type> tensors;  ///< types of the tensor arguments
  std::vector<SyntaxPtr> tensor_syntax;
  std::vector<std::pair<std::string, StaticValue>>
      attributes;  ///< as given, evaluated; "" for a positional one
  std::vector<SyntaxPtr> attribute_syntax;
};

struct SignatureBinding {
  StaticEnv env;                   ///< every name of the signature
  std::vector<std::string> bound;  ///< those bound to dims and dtypes of the arguments (packs, dims, dtypes)
  Type result = nullptr;
  std::vector<std::pair<std::string, StaticValue>>
      attributes;  ///< those that differ from their defaults, in declared order
  /// Of a call: the answers of tests of form in the clauses (`StaticEvaluator::answers_of_form`), which an instance must share.
  std::optional<std::string> answers_of_form = std::nullopt;

  bool is_bound(std::string_view name) const { return std::ranges::find(bound, name) != bound.end(); }
  void bind(std::string_view name, StaticValue value) {
    env.insert_or_assign(name, std::move(value));
    if (!is_bound(name)) bound.emplace_back(name);
  }
};

enum class MatchStatus { Matched, Stuck, Failed };
struct MatchOutcome {
  MatchStatus status;
  SignatureBinding binding;
};

/// Whether a parameter's shape is `permute((n, c, h, w), axes)`.
bool is_permuted_shape(SyntaxPtr shape);

/// The number of tensor parameters of a signature (the others are attributes).
size_t tensor_param_count(SyntaxPtr op);
SyntaxPtr params_of(SyntaxPtr op);

/// Stuck: an argument's type is not sufficiently known yet (nothing was reported or unified). Failed:
/// reported.
MatchOutcome match_signature(const Declaration& op, const SignatureCall& call, Scope& scope, TypeHooks& hooks,
                             Diagnostics& diagnostics, uint32_t caller);

/// What an instance of an operator depends on: ranks, dtypes and attribute values; dims only as unknowns.
struct InstanceRequest {
  std::string op;            ///< its name in its module
  uint32_t declaration = 0;  ///< of the operator
  std::string key;
  SignatureBinding binding;
  /// For a definition without attributes and packs: its parameter types, with `?` for each dim, instead of a
  /// binding.
  std::optional<std::vector<Type>> params = std::nullopt;
};
/// The request for a settled binding (without unknowns).
InstanceRequest make_request(const Declaration& op, SignatureBinding binding);
InstanceRequest make_request(const Declaration& def, std::vector<Type> params);

/// Whether calls of a `def @…` match its signature like an operator's: it has attributes, packs, or clauses.
bool has_attributes_or_packs(const Declaration& def);

/// Whether an instance evaluates the clause, and a call too: a `static`, or an equality, which is a fact there.
bool defines_instance(SyntaxPtr clause);

/// The binding with fresh rigid dims instead of the arguments' dims.
SignatureBinding with_fresh_dims(const InstanceRequest& request);
/// The dims of a binding in the order of an instance's dim_vars: for the call's binding, the values of the
/// variables of `with_fresh_dims`.
std::vector<Dim> instance_dims(const SignatureBinding& binding);

/// For instances: evaluates the clauses and the parameter and result types over fresh dims; `where a == b`
/// between dims replaces one by the other in the environment. Reports a test of form in them that the call answered in another
/// way.
struct InstanceSignature {
  StaticEnv env;
  std::vector<Type> params;
  Type result;
};
std::optional<InstanceSignature> instantiate_signature(const Declaration& op, const SignatureBinding& binding,
                                                       Scope& scope, Diagnostics& diagnostics);

}  // namespace quern
