#include "passes/verify.h"

#include <fmt/format.h>

#include <unordered_set>

namespace quern {

namespace {

class Verifier {
 public:
  explicit Verifier(const std::vector<const Variable*>& inputs) : bound_(inputs.begin(), inputs.end()) {}

  std::string problem;

  void run(ExprPtr expr) {
    if (!problem.empty()) return;
    visit(expr,
          overloaded{
              [&](const VarExpr& e) {
                require(bound_.contains(e.variable),
                        fmt::format("%{} is used where it is not bound", e.variable->name));
                // A function that is general in dims and types is used at others.
                require(e.type == e.variable->type || e.type->kind == TypeKind::Function,
                        fmt::format("a use of %{} has another type than the variable: {} and {}",
                                    e.variable->name, to_string(e.type), to_string(e.variable->type)));
              },
              [&](const BlockExpr& e) {
                for (const Binding& b : e.bindings) {
                  // A function literal sees its own name.
                  if (b.variable && b.value->kind == ExprKind::Fn) bound_.insert(b.variable);
                  run(b.value);
                  if (b.variable) bound_.insert(b.variable);
                }
                run(e.result);
                require(e.type == e.result->type, "a block has another type than its result");
              },
              [&](const FnExpr& e) {
                for (const Variable* p : e.params) bound_.insert(p);
                run(e.body);
              },
              [&](const MatchExpr& e) {
                run(e.scrutinee);
                for (const MatchArm& arm : e.arms) {
                  require(arm.pattern->type == e.scrutinee->type,
                          "a pattern has another type than what it is matched with");
                  for_each_variable(arm.pattern, [&](const Variable* v) { bound_.insert(v); });
                  run(arm.body);
                }
              },
              [&](const RefReadExpr& e) {
                children(expr);
                Type t = e.reference->type;
                require(t->kind == TypeKind::Ref && t->args[0] == e.type,
                        "what is read has another type than its reference holds");
              },
              [&](const RefWriteExpr& e) {
                children(expr);
                Type t = e.reference->type;
                require(t->kind == TypeKind::Ref && t->args[0] == e.content->type && e.type->is_unit(),
                        "what is written has another type than its reference holds");
              },
              [&](const CallExpr& e) {
                children(expr);
                Type f = e.callee->type;
                require(f->kind == TypeKind::Function && f->params().size() == e.args.size(),
                        "a call does not fit its callee's type");
              },
              [&](const ReadExpr& e) {
                children(expr);
                require(e.tensor->type->is_tensor() && e.tensor->type->dims.size() == e.indices.size() &&
                            e.checked.size() == e.indices.size(),
                        "a read has another number of indices than its tensor has dims");
                require(e.type->is_scalar() && e.type->dtype == e.tensor->type->dtype,
                        "a read has another dtype than its tensor");
              },
              [&](const ComprehensionExpr& e) {
                require(e.vars.size() == e.extents.size() && e.type->is_tensor() &&
                            e.type->dims.size() == e.extents.size(),
                        "a comprehension has another rank than its type");
                require(e.body->type->is_scalar() && e.body->type->dtype == e.type->dtype,
                        "a comprehension's body has another dtype");
                require(!e.schedule || e.scheduled.size() == tensors_of(e.schedule->schedule).size(),
                        "a schedule names another number of tensors than it has");
                auto* scatter = as<ScatterExpr>(e.body);
                require(!scatter || scatter->indices.size() == e.vars.size(),
                        "a scatter has another number of indices than its comprehension");
                children(expr);
              },
              [&](const ScanExpr& e) {
                require(e.vars.size() == 1 && e.extents.size() == 1 && e.type == e.body->type,
                        "a scan has another dtype than its body, or more than one variable");
                children(expr);
              },
              [&](const ScatterExpr& e) {
                require(e.vars.size() == e.extents.size() && e.checked.size() == e.indices.size(),
                        "a scatter's variables and extents, or its indices and checks, differ in number");
                require(e.type == e.init->type && e.type == e.value->type,
                        "a scatter has another dtype than its init or its value");
                children(expr);
              },
              [&](const ErrorExpr&) { require(false, "an error node is left"); },
              [&](const auto&) { children(expr); }});
  }

 private:
  void children(ExprPtr expr) {
    for_each_child(expr, [&](ExprPtr child) { run(child); });
  }
  void require(bool holds, std::string message) {
    if (!holds && problem.empty()) problem = std::move(message);
  }
  std::unordered_set<const Variable*> bound_;
};

}  // namespace

std::string verify(ExprPtr expr, const std::vector<const Variable*>& inputs) {
  Verifier verifier(inputs);
  verifier.run(expr);
  return verifier.problem;
}

}  // namespace quern
