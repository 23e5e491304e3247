#pragma once
// Values of data types on their way into and out of the lifted program: functions over their structure.

#include <map>
#include <string>
#include <vector>

#include "passes/gradient/lifting/lifted.h"

namespace quern::lifting {

class Structures {
 public:
  /// `user`: the function that is differentiated, in whose module types are looked up.
  Structures(const Build& build, FunctionSource& functions, Origin user)
      : build_(build), functions_(functions), user_(user) {}

  /// The value with a cotangent, or a tangent of 0, for each tensor.
  ExprPtr lift(ExprPtr value);
  /// The value with its tangent, which is of the type of its gradient. One with another constructor stops the
  /// program.
  ExprPtr dual(ExprPtr value, ExprPtr tangent);
  /// What the tensors of a lifted value have received, or their tangents, in the structure of the value.
  ExprPtr received(Type type, ExprPtr lifted);

  /// Functions that the above call: to be bound before.
  std::vector<Binding> functions;
  /// Why the last was not possible; "" if it was.
  std::string problem;

 private:
  enum class Way : uint8_t { Lift, Dual, Received };
  struct Key {
    Type type;
    Way way;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // `of`: the value; for Dual, the value and its tangent.
  ExprPtr along(Way way, Type type, const std::vector<ExprPtr>& of);
  const Variable* function_of(Key key);
  ExprPtr body_of(Key key, const std::vector<const Variable*>& params);
  std::vector<const Variable*> parts_of(Key key, const TypedConstructor& constructor);
  PatternPtr pattern_of(Key key, const TypedConstructor& constructor,
                        const std::vector<const Variable*>& parts);
  ExprPtr arm_of(Key key, const TypedConstructor& constructor, const std::vector<const Variable*>& params,
                 const std::vector<const Variable*>& parts);

  const Build& build_;
  FunctionSource& functions_;
  const Origin user_;
  std::map<Key, const Variable*> known_;  ///< those in scope
};

}  // namespace quern::lifting
