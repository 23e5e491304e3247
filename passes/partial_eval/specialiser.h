#pragma once
// The evaluation behind partial_eval.h.

#include <optional>
#include <unordered_set>

#include "passes/partial_eval/known.h"
#include "passes/partial_eval/partial_eval.h"

namespace quern::partial {

class Specialiser {
 public:
  Specialiser(const PassContext& context, const PartialEvalLimits& limits)
      : context_(context), arena_(context.arena), limits_(limits) {}

  /// The residual program.
  ExprPtr run(ExprPtr expr);

 private:
  /// A call that is being unfolded.
  struct Unfolding {
    const FnExpr* fn;
    int conditions;  ///< around it
    size_t steps;    ///< before it
  };
  /// Thrown to the unfolding that is to stay a call.
  struct GiveUp {
    size_t unfolding;
  };
  /// What a dynamic arm, or a residual function's body, has become.
  struct Arm {
    ExprPtr body;
    std::vector<Value*> written;
    bool forgot;
  };

  // --- specialiser.cpp: expressions. `name` is that of the variable which the value is bound to.
  Value* evaluate(ExprPtr expr, Frame& frame, std::string_view name = "t");
  Value* block(const BlockExpr& e, Frame& frame, std::string_view name);
  Value* closure(const FnExpr& e, Frame& frame, std::string_view name);
  Value* variable(const VarExpr& e, Frame& frame);
  Value* structure(const Expr& e, const Constructor* constructor, std::string_view spelling,
                   std::span<const ExprPtr> fields, Frame& frame);
  Value* field(const FieldExpr& e, Frame& frame, std::string_view name);
  Value* cell(const RefExpr& e, Frame& frame);
  Value* read(const RefReadExpr& e, Frame& frame, std::string_view name);
  Value* write(const RefWriteExpr& e, Frame& frame);
  Value* choose(const IfExpr& e, Frame& frame, std::string_view name);
  Value* match(const MatchExpr& e, Frame& frame, std::string_view name);
  Value* checked(const CheckDimsExpr& e, Frame& frame, std::string_view name);
  /// A copy in which the values of its variables stand; done now if it is arithmetic on known integers.
  Value* copied(ExprPtr expr, Frame& frame, std::string_view name);
  ExprPtr at(ExprPtr expr, Frame& frame);
  Value* unit(Origin origin);

  enum class Fit : uint8_t { No, Yes, Unknown };
  /// Whether the value matches; then binds the pattern's variables.
  Fit fit(PatternPtr pattern, Value* value, Frame& frame);
  /// For a pattern that every value of its type matches.
  Fit take_apart(PatternPtr pattern, Value* value, Frame& frame);
  MatchArm dynamic_arm(const MatchArm& arm, Frame& frame, std::vector<Arm>& arms);

  // --- calls.cpp
  Value* call(const CallExpr& e, Frame& frame, std::string_view name);
  Value* unfold(Value* callee, const std::vector<Value*>& args, Substitution at, const CallExpr& e,
                Frame& frame, std::string_view name);
  Value* residual_call(ExprPtr callee, const std::vector<Value*>& args, const CallExpr& e, Frame& frame,
                       std::string_view name);
  /// The unfolding that has to stop before another call of `fn`, if there is one.
  std::optional<size_t> to_give_up(const FnExpr* fn) const;
  bool is_spent() const { return steps_ > limits_.total; }

  // --- residual.cpp: giving values names
  Value* emit(ExprPtr expr, std::string_view name);
  Value* dynamic(ExprPtr atom);
  ExprPtr named(Value* value, std::string_view name = "t");
  std::vector<ExprPtr> named(const std::vector<Value*>& values);
  ExprPtr name_structure(Value* value, std::string_view name);
  ExprPtr name_closure(Value* value);
  ExprPtr name_cell(Value* value, std::string_view name);
  /// Names the cells that code may reach from elsewhere, whose contents are then no longer followed; once the
  /// limits are spent also the functions, which each block that uses them would make again.
  void name_reached(std::span<const ExprPtr> code, Frame& frame);
  void name_reached(Value* value, std::unordered_set<Value*>& seen);
  bool reaches(Value* from, const Value* cell, std::unordered_set<Value*>& seen);
  /// Calls `f` with the values that an expression uses: of what is known, only the fields that it reads.
  void for_each_used(ExprPtr expr, Frame& frame, const std::function<void(Value*)>& f);
  /// Evaluates code that may run in a block of its own; with `is_later`, at a time when anything may have been
  /// written.
  Arm arm(ExprPtr body, Frame& frame, bool is_later = false);
  void after(const std::vector<Arm>& arms);
  /// A block of the bindings, or less.
  ExprPtr closed(std::vector<Binding>& bindings, ExprPtr result, Origin origin);

  Type type(Type type, const Frame& frame) const { return substitute(type, frame.at); }
  /// Of a node of the body that is unfolded.
  Origin origin(const Expr& e, const Frame& frame) const {
    return frame.call ? inlined_at(e.origin, *frame.call) : e.origin;
  }
  /// The head of such a node's image.
  Expr head(const Expr& e, const Frame& frame) const {
    return {e.kind, type(e.type, frame), origin(e, frame)};
  }

  const PassContext& context_;
  Arena& arena_;
  const PartialEvalLimits limits_;
  Store store_;
  std::vector<Binding>* out_ = nullptr;  ///< of the open block
  std::vector<Unfolding> unfoldings_;
  int conditions_ = 0;  ///< dynamic arms and residual functions around
  size_t steps_ = 0;
};

/// The value of arithmetic on integers, booleans and dims that are all known; nothing of anything else.
ExprPtr folded(const PassContext& context, ExprPtr expr);

}  // namespace quern::partial
