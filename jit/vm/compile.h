#pragma once
// Compiles IR to function drafts: each expression leaves its value in a register.

#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ir/expr/expr.h"
#include "jit/vm/bytecode.h"
#include "passes/device_domains.h"

namespace quern::vm {

/// Compiles one function of a program; function literals inside it become functions of the same program.
class FunctionCompiler {
 public:
  /// `devices`: of what it compiles, or null where all is the host's.
  FunctionCompiler(Program& program, FunctionCompiler* outer, const DeviceDomains* devices);

  /// An expression over `inputs`.
  std::unique_ptr<Function> compile(ExprPtr body, std::span<const Variable* const> inputs);
  /// A top-level function.
  std::unique_ptr<Function> compile(const FnExpr& fn);
  /// A function literal whose closure holds `captures`; `self` is the variable it is bound to, or null.
  std::unique_ptr<Function> compile(const FnExpr& fn, std::span<const Variable* const> captures,
                                    const Variable* self);

 private:
  // --- instructions
  Register new_register(Type type);
  Register or_new(Register wanted, const Expr& e) {
    return wanted == kNoRegister ? new_register(e.type) : wanted;
  }
  void emit(const Expr& at, Instruction instruction);
  template <class T>
  T& add_site(uint32_t& index);
  uint32_t new_label();
  void set_label(uint32_t label);
  Register fail(const Expr& at, std::string text, Register wanted);

  // --- functions
  void enter(std::span<const Variable* const> params, std::span<const Dim> dim_vars);
  std::unique_ptr<Function> leave(ExprPtr body);
  uint32_t slot_of(Dim var);
  DimCode code(Dim dim) { return compile_dim(dim, slots_of_); }
  std::vector<DimCode> codes(std::span<const Dim> dims);
  uint32_t global(const GlobalExpr& e);

  // --- control
  void tail(ExprPtr expr);
  void bind(const Binding& binding);
  void bind_dims(const Expr& at, Register value, Type type, Type given, Trust trust);
  /// `wanted`: the register for the value; without one the value may be in any register, even a shared one.
  Register value(ExprPtr expr, Register wanted = kNoRegister);
  std::vector<Register> values(std::span<const ExprPtr> exprs);
  Register call(const CallExpr& e, Register wanted, bool in_tail);
  friend class MatchCompiler;
  void match(const MatchExpr& e, Register wanted, bool in_tail);
  Register closure(const FnExpr& fn, const Variable* self, Register wanted);
  Register variable(const Expr& at, const Variable* variable, Register wanted);

  // --- primitive functions
  Register primitive(const CallExpr& e, const FnExpr& fn, Register wanted);
  Register scalar_code(const CallExpr& e, const FnExpr& fn, ExprPtr body, Register wanted);
  Register kernel(const CallExpr& e, const FnExpr& fn, Register wanted);

  // --- the kinds
#define QUERN_NODE(kind, ...) Register make(const kind##Expr& e, Register wanted);
#include "ir/expr/nodes.def"
#undef QUERN_NODE

  Program& program_;
  FunctionCompiler* outer_;
  const DeviceDomains* devices_;
  Draft draft_;
  Function& function_ = draft_.function;
  const SlotOf slots_of_ = [this](Dim var) { return slot_of(var); };

  std::unordered_map<const Variable*, Register> registers_;
  std::unordered_map<const Variable*, uint32_t> captures_;
  std::unordered_map<Register, uint32_t> constants_;  ///< registers that hold a scalar constant
  const Variable* self_ = nullptr;
  std::unordered_map<Dim, uint32_t> slots_;
  std::unordered_set<Dim> own_dims_;
  std::unordered_set<Dim> known_;      ///< dims that are definitely bound at this point
  std::vector<uint32_t> outer_slots_;  ///< of the enclosing function, one per given slot
  const Expr* inlined_ = nullptr;      ///< the call whose primitive function is being compiled inline
};

template <class T>
T& FunctionCompiler::add_site(uint32_t& index) {
  index = static_cast<uint32_t>(function_.sites.size());
  auto site = std::make_unique<T>();
  T& result = *site;
  function_.sites.push_back(std::move(site));
  return result;
}

}  // namespace quern::vm
