#pragma once
// Which device computes each value, by unification (Roesch, "Principled Optimization of Dynamic Neural Networks" (2020),
// 5.4.2): each value has a domain, `to_device` fixes domains, and the operands and the result of a computation on tensors
// share one. What nothing fixes is the host's.
//
// Domains are of tensors with memory; those of rank 0 are the host's, wherever they are used. The parts of a tuple share one.
// Everything that reaches over the edge of a function that is known only when it runs is the host's, and so are values of
// data types, references, and what the outside gives or takes.

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// Whether a value of the type is, or has in a tuple, a tensor with a domain.
bool has_domain(Type type);

/// The node as a mark: a `to_device`; null for others.
const IntrinsicExpr* as_mark(ExprPtr expr);

/// The names in the marks of an expression, without the host's and without repetitions; `""` where a mark leaves one out.
std::vector<std::string> devices_of(ExprPtr expr);

class DeviceDomains {
 public:
  static constexpr size_t kHost = 0;

  /// Of an expression in A-normal form; its free variables are the host's. `names`: of the devices besides the host, from 1.
  DeviceDomains(ExprPtr expr, const std::vector<std::string>& names);

  /// The number of the device that computes a variable's value; of a function's parameter, the one that it is given on.
  size_t of(const Variable* variable) const;
  /// Of a function bound to a variable: where its result is.
  size_t of_result(const Variable* function) const;
  /// Of a computation on tensors: the number of the device that runs it.
  size_t of_computation(ExprPtr expr) const;
  /// The number of a device that a text of `to_device` names; nothing for none and for those that are not there.
  std::optional<size_t> number_of(std::string_view name) const;
  std::string_view name_of(size_t device) const;
  /// Null where a variable is no function of this expression.
  const FnExpr* function(const Variable* variable) const;

 private:
  using Domain = size_t;
  friend class DomainInference;

  Domain root(Domain domain) const;
  /// False where both are of devices, and not of the same.
  bool unify(Domain a, Domain b);
  Domain fresh();
  size_t device(Domain domain) const;

  std::vector<std::string> names_;
  mutable std::vector<Domain> parents_;  ///< the first are the devices
  std::unordered_map<const Variable*, Domain> of_variable_, of_result_;
  std::unordered_map<ExprPtr, Domain> of_computation_;
  std::unordered_map<const Variable*, const FnExpr*> functions_;
};

}  // namespace quern
