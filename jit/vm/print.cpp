// The text form of bytecode.

#include <string>

#include <fmt/format.h>

#include "jit/vm/bytecode.h"
#include "jit/vm/scalar.h"

namespace quern {

namespace vm {

namespace {

constexpr OpcodeInfo kOpcodes[] = {
#define QUERN_INSTRUCTION(name, text, a, b) {text, OperandKind::a, OperandKind::b},
#include "jit/vm/instruction.def"
#undef QUERN_INSTRUCTION
};

/// `r1`; `r1!` at the value's last use; `_` for none.
std::string register_text(Register r) {
  if (r == kNoRegister) return "_";
  return fmt::format("r{}{}", r & ~kLastUse, (r & kLastUse) ? "!" : "");
}

std::string plan_text(const BindPlan& plan) {
  std::string text;
  auto write = [&](const TensorBinding& binding, const ExtentBinding& extent) {
    if (!text.empty()) text += ", ";
    text += std::to_string(binding.value);
    for (uint32_t field : binding.path) text += fmt::format(".{}", field);
    text += fmt::format("[{}]: {}", extent.axis, to_string(extent.code.dim));
  };
  for (const TensorBinding& binding : plan.tensors) {
    for (const ExtentBinding& extent : binding.simple) write(binding, extent);
    for (const ExtentBinding& extent : binding.compound) write(binding, extent);
  }
  return text;
}

std::string list(const std::vector<Register>& registers) {
  std::string text;
  for (Register r : registers) text += (text.empty() ? "" : ", ") + register_text(r);
  return "(" + text + ")";
}

std::string shape_text(const std::vector<DimCode>& shape) {
  std::string text;
  for (const DimCode& dim : shape) text += (text.empty() ? "" : ", ") + to_string(dim.dim);
  return "[" + text + "]";
}

std::string called(const Program& program, const Function& function, const Instruction& in) {
  const auto& site = function.site<CallSite>(in);
  switch (site.callee) {
    case CalleeKind::Global: return "@" + program.globals[site.global].name + " " + list(site.operands);
    case CalleeKind::Self: return "self " + list(site.operands);
    case CalleeKind::Closure: break;
  }
  std::vector<Register> arguments(site.operands.begin(), site.operands.end() - 1);
  return register_text(site.operands.back()) + " " + list(arguments);
}

std::string element_text(const ElementSite& site) {
  std::string text = register_text(site.operands[0]) + "[";
  size_t operand = 1;
  for (size_t axis = 0; axis < site.indices.size(); ++axis) {
    const ElementSite::Index& index = site.indices[axis];
    if (axis > 0) text += ", ";
    text += index.computed ? register_text(site.operands[operand++]) : to_string(index.dim.dim);
  }
  return text + "]";
}

std::string checks_text(const CheckSite& site) {
  std::string text;
  for (const CheckSite::Check& check : site.checks) {
    constexpr std::string_view kSigns[] = {"==", "!=", "<=", "~"};
    const DimCondition& c = check.condition;
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", to_string(c.left),
                        kSigns[static_cast<size_t>(c.relation)], to_string(c.right));
  }
  return text;
}

std::string kernel_text(const Function& function, const Instruction& in) {
  const auto& site = function.site<KernelSite>(in);
  const std::string in_place =
      site.under_result ? " in " + register_text(site.operands[*site.under_result] & ~kLastUse) : "";
  const std::string stored =
      site.stored ? fmt::format(" stored until {}", function.storage->tensors[*site.stored].last) : "";
  const std::string device = site.device.empty() ? "" : " on " + site.device;
  return fmt::format("#{} {} -> {}{}{}{}{}", in.a, list(site.operands), to_string(site.dtype),
                     shape_text(site.shape), device, in_place, stored);
}

std::string site_text(const Program& program, const Function& function, const Instruction& in) {
  switch (in.opcode) {
    case Opcode::CheckDims: return checks_text(function.site<CheckSite>(in));
    case Opcode::Element: return element_text(function.site<ElementSite>(in));
    case Opcode::Construct: {
      const auto& site = function.site<ConstructSite>(in);
      return std::string(site.constructor->name) + " " + list(site.operands);
    }
    case Opcode::Switch: {
      const auto& site = function.site<SwitchSite>(in);
      return fmt::format("{} -> {}", register_text(site.operands[0]), fmt::join(site.labels, ", "));
    }
    case Opcode::Kernel: return kernel_text(function, in);
    case Opcode::View: {
      const auto& site = function.site<ViewSite>(in);
      return register_text(site.operands[0]) + " as " + shape_text(site.shape);
    }
    case Opcode::Closure: {
      const auto& site = function.site<ClosureSite>(in);
      return fmt::format("fn{} {}", site.function, list(site.operands));
    }
    case Opcode::Global: return "@" + program.globals[function.site<GlobalSite>(in).global].name;
    case Opcode::Invoke:
    case Opcode::TailInvoke: return called(program, function, in);
    case Opcode::Intrinsic: {
      const auto& site = function.site<IntrinsicSite>(in);
      return fmt::format("{} {}", to_string(site.node->intrinsic), list(site.operands));
    }
    case Opcode::Extern: {
      const auto& site = function.site<ExternSite>(in);
      return fmt::format("{} {}", site.node->kernel, list(site.operands));
    }
    case Opcode::Tuple:
    case Opcode::Move:
    case Opcode::Const:
    case Opcode::DimValue:
    case Opcode::Scalar:
    case Opcode::Cast:
    case Opcode::Jump:
    case Opcode::JumpUnless:
    case Opcode::Unmatched:
    case Opcode::Field:
    case Opcode::Ref:
    case Opcode::RefRead:
    case Opcode::RefWrite:
    case Opcode::Capture:
    case Opcode::Self:
    case Opcode::Return:
    case Opcode::Bind:
    case Opcode::Drop:
    case Opcode::Fail: break;
  }
  return list(function.sites[in.a]->operands);
}

std::string operand_text(const Program& program, const Function& function, const Instruction& in,
                         OperandKind kind, uint32_t operand) {
  switch (kind) {
    case OperandKind::None: return "";
    case OperandKind::Register: return register_text(operand);
    case OperandKind::Constant: return to_string(function.constants[operand], on_one_line(4));
    case OperandKind::Dim: return to_string(function.dims[operand].dim);
    case OperandKind::DType: return to_string(function.dtypes[operand]);
    case OperandKind::Label: return fmt::format("-> {}", operand);
    case OperandKind::Site: return site_text(program, function, in);
    case OperandKind::Number: return std::to_string(operand);
    case OperandKind::Plan: return plan_text(function.plans[operand]);
    case OperandKind::Text: return "\"" + function.texts[operand] + "\"";
  }
  return "";
}

std::string instruction_text(const Program& program, const Function& function, const Instruction& in) {
  const OpcodeInfo& kinds = vm::info(in.opcode);
  std::string text = in.result == kNoRegister ? "" : register_text(in.result) + " = ";
  text += in.opcode == Opcode::Scalar ? std::string(quern::info(scalar_op(in.function)).name)
                                      : std::string(kinds.text);
  const bool is_unary = in.opcode == Opcode::Scalar && quern::info(scalar_op(in.function)).arity == 1;
  const bool no_label = in.opcode == Opcode::Element && !in.flag;
  std::string a = operand_text(program, function, in, kinds.a, in.a);
  const bool b_is_constant = in.opcode == Opcode::Scalar && in.flag;
  const OperandKind kind_b = b_is_constant ? OperandKind::Constant : kinds.b;
  std::string b = is_unary || no_label ? "" : operand_text(program, function, in, kind_b, in.b);
  if (!a.empty()) text += " " + a;
  if (!b.empty()) text += (kinds.b == OperandKind::Label ? " " : ", ") + b;
  return text;
}

std::string function_text(const Program& program, size_t number) {
  const Function& function = *program.functions[number];
  std::string text =
      fmt::format("fn{}{}: {} parameters, {} registers", number,
                  function.name.empty() ? "" : " " + function.name, function.parameters, function.registers);
  if (std::string bound = plan_text(function.bind); !bound.empty()) text += ", binds " + bound;
  text += "\n";
  for (size_t at = 0; at < function.code.size(); ++at)
    text += fmt::format("{:4}  {}\n", at, instruction_text(program, function, function.code[at]));
  return text;
}

}  // namespace

const OpcodeInfo& info(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }

}  // namespace vm

std::string to_string(const Program& program) {
  std::string text;
  for (size_t number = 0; number < program.functions.size(); ++number) {
    if (number > 0) text += "\n";
    text += vm::function_text(program, number);
  }
  return text;
}

std::string to_string(const Program& program, LineOrigins& origins) {
  uint32_t line = 0;
  for (const auto& function : program.functions) {
    // The head is a line of its own, as is what separates functions.
    for (const Origin& origin : function->origins) {
      ++line;
      origins.push_back({line, line, origin});
    }
    line += 2;
  }
  return to_string(program);
}

}  // namespace quern
