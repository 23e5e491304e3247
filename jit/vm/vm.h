#pragma once
// The register virtual machine: runs optimised IR whose tensor work is in primitive functions (kernels).
//
// Accepted nodes (verified by passes/verify.h): Block, If, Call, Global, Fn, Var, Tuple, Field, Construct,
// Intrinsic, Const, DimValue, View, and calls of primitive functions: a CallExpr whose callee is an FnExpr
// with `primitive` set, its parameters tensors (or rank-0 values), its body one Comprehension over them. A
// primitive whose result has rank 0 and whose body has no reduction runs as scalar instructions on unboxed
// registers and calls no kernel.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/line_origins.h"
#include "ir/expr/expr.h"
#include "ir/interpret/evaluation.h"
#include "ir/value/device.h"
#include "ir/value/value.h"
#include "jit/codegen/codegen.h"
#include "jit/runtime/prepacked_forms.h"
#include "jit/vm/profile.h"

namespace quern {

/// Machine code of a primitive function. Buffers: the function's parameters in order, the result, then the
/// packed forms. A parameter of rank 0 is passed as the address of its element.
struct KernelCode {
  /// A prepacked form of a parameter, which `code` makes from the tensor (its buffers: the tensor, then the
  /// form) with the same dims.
  struct Packed {
    size_t buffer;  ///< the parameter's, or an earlier form's
    std::shared_ptr<CompiledKernel> code;
    DType dtype;
    std::vector<Dim> shape;
    Dim range, work;              ///< of `code`
    std::vector<size_t> reads{};  ///< the numbers of KernelCode::dims on which the form depends
    std::string name{};
  };
  std::shared_ptr<CompiledKernel> code;
  std::vector<Dim> dims;  ///< the dims of the calling frame that the entry takes, in order
  Dim range = nullptr;    ///< loops::Kernel::range
  Dim work = nullptr;     ///< loops::Kernel::work
  std::vector<Packed> packed{};
  std::string name{};  ///< for display: `dense_relu_` and a hash, the same for equal code
};

struct MachineOptions {
  bool checks_nan = false;      ///< execution fails at the operation that makes the first NaN
  bool keeps_forms = true;      ///< prepacked forms are made once, and not for each call of a kernel
  bool writes_in_place = true;  ///< a result may take the memory of an operand that is not used again
  bool shares_storage = true;   ///< results that are gone when their call is share a block
  bool poisons_memory = false;  ///< new memory is filled with NaNs, so that tests see who reads it
  std::vector<std::shared_ptr<Device>> devices{};  ///< besides the host

  /// Null if there is none of this name, or it is the host's.
  std::shared_ptr<Device> device(std::string_view name) const {
    for (const std::shared_ptr<Device>& known : devices)
      if (known->name() == name) return known;
    return nullptr;
  }
};

/// Supplies the machine with kernels; implemented by the session, which compiles and caches them.
class KernelSource {
 public:
  virtual ~KernelSource() = default;
  virtual Result<KernelCode> kernel(const FnExpr& primitive) = 0;
  /// The prepacked forms that its kernels take.
  virtual PrepackedForms& forms() = 0;
  /// The profile in which an execution that begins now records its calls, or null.
  virtual Profile* profile() { return nullptr; }
  virtual const MachineOptions& options() const = 0;
};

/// A top-level function by its name without the @, as a module of the session sees it.
struct GlobalName {
  uint32_t module;
  std::string name;
  friend auto operator<=>(const GlobalName&, const GlobalName&) = default;
};

/// Bytecode of one function and of the function literals inside it.
class Program;

/// Supplies the machine with top-level functions, optimised and compiled to bytecode; null if @name has
/// errors.
class ProgramSource {
 public:
  virtual ~ProgramSource() = default;
  virtual std::shared_ptr<const Program> program(const GlobalName& name) = 0;
};

/// Bytecode for an expression whose free variables are `inputs` (they become the parameters of its entry),
/// or, if `body` is a function and there are no inputs, for that function (a Block around it makes it a
/// value). `owner` keeps the IR alive.
std::shared_ptr<Program> compile_program(ExprPtr body, const std::vector<const Variable*>& inputs,
                                         std::shared_ptr<const Arena> owner);

/// The text form: one instruction per line, `r3 = kernel #0 (r1, r2)`.
std::string to_string(const Program& program);
/// The same; adds the origin of each instruction to `origins`.
std::string to_string(const Program& program, LineOrigins& origins);

/// Runs a program on arguments. Tail calls take constant stack; recursion too deep is an EvaluationError.
/// Kernels are fetched from `kernels` on first use and kept by the Program.
EvaluationResult execute(const std::shared_ptr<const Program>& program, std::vector<Value> arguments,
                         ProgramSource& programs, KernelSource& kernels, Host& host);

}  // namespace quern
