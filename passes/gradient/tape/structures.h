#pragma once
// Values of data types on their way into and out of the lifted program: functions over their structure.

#include <map>
#include <string>
#include <vector>

#include "passes/gradient/tape/lifted.h"

namespace quern::tape {

class Structures {
 public:
  /// `user`: the function that is differentiated, in whose module types are looked up.
  Structures(const Build& build, FunctionSource& functions, Origin user)
      : build_(build), functions_(functions), user_(user) {}

  /// The value with a cotangent for each tensor.
  ExprPtr lift(ExprPtr value);
  /// What the tensors of a lifted value have received, in the structure of the value.
  ExprPtr received(Type type, ExprPtr lifted);

  /// Functions that the above call: to be bound before.
  std::vector<Binding> functions;
  /// Why the last was not possible; "" if it was.
  std::string problem;

 private:
  enum class Way : uint8_t { Lift, Received };
  struct Key {
    Type type;
    Way way;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  ExprPtr along(Way way, Type type, ExprPtr value);
  const Variable* function_of(Key key);
  ExprPtr body_of(Key key, const Variable* param);

  const Build& build_;
  FunctionSource& functions_;
  const Origin user_;
  std::map<Key, const Variable*> known_;  ///< those in scope
};

}  // namespace quern::tape
