// Compiles matches to a decision tree of switches over constructors.

#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "jit/vm/compile.h"
#include "jit/vm/decision_tree.h"

namespace quern::vm {

class MatchCompiler {
 public:
  /// `wanted`: the register for the value; in tail position each arm ends the function.
  MatchCompiler(FunctionCompiler& compiler, const MatchExpr& match, Register wanted, bool in_tail)
      : c_(compiler), match_(match), wanted_(wanted), in_tail_(in_tail), decision_(decide(match)) {
    for (const MatchArm& arm : match.arms) {
      std::vector<const Variable*> free = free_variables(arm.body);
      used_.insert(free.begin(), free.end());
    }
  }

  void run() {
    registers_ = {{0, c_.value(match_.scrutinee)}};
    known_ = c_.known_;
    labels_.resize(match_.arms.size(), kNone);
    end_ = c_.new_label();
    emit(*decision_.tree);
    for (uint32_t arm = 0; arm < labels_.size(); ++arm) {
      if (labels_[arm] == kNone) continue;
      c_.set_label(labels_[arm]);
      c_.known_ = known_;
      for_each_variable(match_.arms[arm].pattern, [&](const Variable* variable) {
        if (auto found = c_.registers_.find(variable); found != c_.registers_.end())
          c_.bind_dims(match_, found->second, variable->type, given_.at(variable), Trust::Given);
      });
      body(arm);
    }
    c_.known_ = known_;
    c_.set_label(end_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  void emit(const DecisionTree& tree) {
    switch (tree.kind) {
      case DecisionTree::Kind::Switch: return emit_switch(tree);
      case DecisionTree::Kind::Leaf: return emit_leaf(tree);
      case DecisionTree::Kind::Unmatched:
        c_.emit(match_, {.opcode = Opcode::Unmatched, .a = registers_.at(0)});
        return;
    }
  }

  void emit_switch(const DecisionTree& tree) {
    const Register value = register_of(tree.subject);
    uint32_t index = 0;
    auto& site = c_.add_site<SwitchSite>(index);
    site.operands = {value};
    const uint32_t otherwise = tree.otherwise ? c_.new_label() : kNone;
    for (const auto& arm : tree.cases) site.labels.push_back(arm ? c_.new_label() : otherwise);
    const std::vector<uint32_t> labels = site.labels;
    c_.emit(match_, {.opcode = Opcode::Switch, .a = index});
    for (size_t tag = 0; tag < tree.cases.size(); ++tag)
      if (tree.cases[tag]) emit_branch(labels[tag], *tree.cases[tag]);
    if (tree.otherwise) emit_branch(otherwise, *tree.otherwise);
  }

  /// Parts extracted in a branch are available only in that branch.
  void emit_branch(uint32_t label, const DecisionTree& tree) {
    const std::unordered_map<uint32_t, Register> registers = registers_;
    c_.set_label(label);
    c_.known_ = known_;
    emit(tree);
    registers_ = registers;
  }

  void emit_leaf(const DecisionTree& tree) {
    const bool shared = decision_.leaves[tree.arm] > 1;
    for (const DecisionTree::Name& name : tree.names) {
      if (!used_.contains(name.variable)) continue;
      const Register part = register_of(name.subject);
      if (!shared) {
        c_.registers_[name.variable] = part;
        c_.bind_dims(match_, part, name.variable->type, name.type, Trust::Given);
        continue;
      }
      auto [entry, added] = c_.registers_.try_emplace(name.variable, 0);
      if (added) entry->second = c_.new_register(name.variable->type);
      given_[name.variable] = name.type;
      c_.emit(match_, {.opcode = Opcode::Move, .result = entry->second, .a = part});
    }
    if (!shared) return body(tree.arm);
    if (labels_[tree.arm] == kNone) labels_[tree.arm] = c_.new_label();
    c_.emit(match_, {.opcode = Opcode::Jump, .a = labels_[tree.arm]});
  }

  void body(uint32_t arm) {
    ExprPtr expr = match_.arms[arm].body;
    if (in_tail_) return c_.tail(expr);
    c_.value(expr, wanted_);
    c_.emit(match_, {.opcode = Opcode::Jump, .a = end_});
  }

  Register register_of(uint32_t subject) {
    if (auto found = registers_.find(subject); found != registers_.end()) return found->second;
    const Subject& part = decision_.subjects[subject];
    const Register whole = register_of(part.parent);
    const Register result = registers_[subject] = c_.new_register(part.type);
    c_.emit(match_, {.opcode = Opcode::Field, .result = result, .a = whole, .b = part.index});
    return result;
  }

  FunctionCompiler& c_;
  const MatchExpr& match_;
  const Register wanted_;
  const bool in_tail_;
  const Decision decision_;
  std::unordered_set<const Variable*> used_;
  std::unordered_map<uint32_t, Register> registers_;  ///< of subjects, in the branch being compiled
  std::unordered_map<const Variable*, Type> given_;   ///< the types of variables in shared arms
  std::unordered_set<Dim> known_;
  std::vector<uint32_t> labels_;  ///< of arms shared by several leaves
  uint32_t end_ = 0;
};

void FunctionCompiler::match(const MatchExpr& e, Register wanted, bool in_tail) {
  MatchCompiler(*this, e, wanted, in_tail).run();
}

Register FunctionCompiler::make(const MatchExpr& e, Register wanted) {
  const Register result = or_new(wanted, e);
  match(e, result, false);
  return result;
}

}  // namespace quern::vm
