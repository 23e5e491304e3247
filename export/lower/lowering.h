#pragma once
// A function of the typed IR, whose calls of known functions are unfolded, as a graph of ONNX. An operator that ONNX has is a
// node (export/operators); any other one is what its definition says: the operators of a composite, or the nodes of its
// index expression (export/lower/index.h).

#include <functional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "export/lower/extents.h"
#include "export/lower/value.h"
#include "ir/expr/expr.h"

namespace quern::onnx {

class Lowering {
 public:
  Lowering(Names& names, FunctionSource& functions) : functions_(functions), writers_{GraphWriter(names)} {}

  /// From now on the variable is this value.
  void bind(const Variable* variable, GraphValue value) {
    values_.insert_or_assign(variable, std::move(value));
  }
  /// The extents of a tensor's axes that are variables are those of this value.
  void bind_extents(Type type, const GraphValue& value);

  /// The value of an expression. What has no counterpart is reported, and stands for a value that no node makes.
  GraphValue lower(ExprPtr expr);
  Name tensor(ExprPtr expr) { return lower(expr).tensor; }

  GraphWriter& graph() { return writers_.back(); }
  const Extents& extents() const { return extents_; }
  /// What has no counterpart.
  struct Problem {
    Origin origin;
    std::string text;
  };
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  GraphValue lower_kind(ExprPtr expr);
  GraphValue variable(const VarExpr& var) const;
  /// A tuple, or the value of a record.
  GraphValue structure(std::span<const ExprPtr> fields);
  GraphValue checked(const CheckDimsExpr& check);
  GraphValue block(const BlockExpr& block);
  GraphValue call(const OpCallExpr& call);
  GraphValue call(const CallExpr& call);
  /// A call of an operator that has no row: its definition at the call's dims.
  GraphValue by_definition(const OpCallExpr& call, const OpInstance& instance);
  GraphValue conditional(const IfExpr& choice);
  GraphValue match(const MatchExpr& match);
  GraphValue kernel(const ExternExpr& kernel);
  GraphValue intrinsic(const IntrinsicExpr& intrinsic);
  void bind_pattern(PatternPtr pattern, const GraphValue& value);
  GraphValue scan(const IntrinsicExpr& scan);
  GraphValue inner_input(Type type, std::string_view hint, std::vector<Port>& inputs);
  struct Inner {
    GraphPtr graph;
    GraphValue value;  ///< in it
  };
  /// The graph of an expression, with values of the graphs around it.
  Inner inner(ExprPtr expr, std::vector<Port> inputs, std::string_view name);
  GraphValue unknown(Type type, Origin origin, const std::string& why);

  FunctionSource& functions_;
  Arena arena_;
  std::vector<GraphWriter> writers_;  ///< of the graphs around what is being lowered, the innermost last
  std::unordered_map<const Variable*, GraphValue> values_;
  Extents extents_;
  std::vector<Problem> problems_;
  std::set<std::string> reported_;
  std::vector<const FnExpr*> unfolded_;  ///< the functions around what is being lowered
  int definitions_ = 0;  ///< of operators around it: what they lack is reported at their calls
};

/// A tensor of a graph, with the names of its symbolic dims.
Port port_of(const Name& name, Type type);

/// The tensors of a value, from left to right.
void for_each_tensor(const GraphValue& value, const std::function<void(const Name&)>& visit);

}  // namespace quern::onnx
