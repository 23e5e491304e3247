#pragma once
// Scalar functions as LLVM instructions, on scalars and vectors: every value here has the register type of
// its dtype or is a vector of it, and all operands of a call have the same shape.
//
// In registers float16 and bfloat16 are float32 values representable in their dtype (each function rounds
// back to it once), bool is i1, and everything else is as in memory.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <string>

#include "ir/value/scalar.h"
#include "jit/codegen/machine.h"

namespace quern::codegen {

using Values = llvm::ArrayRef<llvm::Value*>;

class Operations {
 public:
  Operations(llvm::Module& module, llvm::IRBuilderBase& builder, const Machine& machine)
      : module_(module), b_(builder), machine_(machine) {}

  // --- types and constants ---
  llvm::Type* in_register(DType dtype);
  llvm::Type* in_memory(DType dtype);
  llvm::Value* from_memory(DType dtype, llvm::Value* bits);
  llvm::Value* to_memory(DType dtype, llvm::Value* value);
  llvm::Constant* constant(const Scalar& scalar);

  // --- functions: the meaning is that of ir/value/scalar.h ---
  llvm::Value* apply(ScalarOp op, DType operand, Values args);
  llvm::Value* cast(llvm::Value* value, DType from, DType to);
  /// One step of a reduction that is not an arg-reduction.
  llvm::Value* combine(ReduceKind kind, DType dtype, llvm::Value* accumulator, llvm::Value* value);
  /// Whether `value` replaces `best` in an arg-reduction.
  llvm::Value* is_better(ReduceKind kind, DType dtype, llvm::Value* value, llvm::Value* best);
  /// a*b + c, rounded once if the machine has a fused instruction.
  llvm::Value* multiply_add(llvm::Value* a, llvm::Value* b, llvm::Value* c);
  const Machine& machine() const { return machine_; }
  /// The host function of this name (host_functions.h), lane by lane.
  llvm::Value* call_host(const std::string& function, Values args);
  /// Rounded towards minus infinity; 0 for a division by zero.
  llvm::Value* floor_div(llvm::Value* a, llvm::Value* b);
  llvm::Value* floor_mod(llvm::Value* a, llvm::Value* b);

  /// An unsupported function on this machine, or empty. Values that use it are then meaningless.
  const std::string& unsupported() const { return unsupported_; }
  void refuse(std::string what) { unsupported_ = std::move(what); }

 private:
  llvm::Value* float_op(ScalarOp op, Values args);
  llvm::Value* constant_power(llvm::Value* x, llvm::Value* y);
  llvm::Value* math(ScalarOp op, Values args);
  llvm::Value* float_min_max(ScalarOp op, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_floor_mod(llvm::Value* a, llvm::Value* b);
  llvm::Value* float_sign(llvm::Value* a);
  llvm::Value* int_op(ScalarOp op, DType dtype, Values args);
  llvm::Value* divide(llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* remainder(llvm::Value* a, llvm::Value* b, bool is_signed);
  llvm::Value* shift(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* count);
  llvm::Value* int_power(DType dtype, llvm::Value* base, llvm::Value* exponent);
  llvm::Value* power_by_squaring(llvm::Value* base, llvm::Value* exponent);
  llvm::Value* compare(ScalarOp op, DType dtype, llvm::Value* a, llvm::Value* b);
  llvm::Value* float_to_float(llvm::Value* value, DType from, DType to);
  llvm::Value* to_odd_float32(llvm::Value* value);
  llvm::Value* round_to_grid(DType dtype, llvm::Value* value);

  llvm::Module& module_;
  llvm::IRBuilderBase& b_;
  Machine machine_;
  std::string unsupported_;
};

/// The constant in the shape and type of `like`.
llvm::Constant* int_like(llvm::Value* like, int64_t value);
llvm::Constant* float_like(llvm::Value* like, double value);
/// The constant that all lanes of `value` equal, or null.
const llvm::Constant* known_constant(llvm::Value* value);
/// `element`, or a vector of it with as many lanes as `like` has.
llvm::Type* shaped_like(llvm::Value* like, llvm::Type* element);

}  // namespace quern::codegen
