#pragma once
// The paths through a function's code, of which every jump leads forward.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "jit/vm/bytecode.h"

namespace quern {

/// Calls `step(at, instruction)` for each instruction that can be reached, in the order of the code. `step` changes
/// `registers`, which are those of all paths that lead there: where two meet, `either(a, b)` says what a register holds.
template <class Held, class Step>
void follow_forward(const vm::Function& function, std::vector<Held>& registers, const Step& step) {
  using vm::Opcode;
  std::map<uint32_t, std::vector<Held>> waiting;
  const auto meet = [](std::vector<Held>& into, const std::vector<Held>& from) {
    for (size_t k = 0; k < into.size(); ++k) into[k] = either(into[k], from[k]);
  };
  bool is_reached = true;
  for (uint32_t at = 0; at < function.code.size(); ++at) {
    if (const auto here = waiting.find(at); here != waiting.end()) {
      if (is_reached) meet(here->second, registers);
      registers = std::move(here->second);
      is_reached = true;
    }
    if (!is_reached) continue;
    const vm::Instruction& in = function.code[at];
    step(at, in);
    const auto jumps_to = [&](uint32_t label) {
      const auto [known, is_new] = waiting.try_emplace(label, registers);
      if (!is_new) meet(known->second, registers);
    };
    if (in.opcode == Opcode::Jump) jumps_to(in.a);
    if (in.opcode == Opcode::JumpUnless || (in.opcode == Opcode::Element && in.flag)) jumps_to(in.b);
    if (in.opcode == Opcode::Switch)
      for (const uint32_t label : function.site<vm::SwitchSite>(in).labels) jumps_to(label);
    is_reached = in.opcode != Opcode::Jump && in.opcode != Opcode::Switch && in.opcode != Opcode::Return &&
                 in.opcode != Opcode::TailInvoke && in.opcode != Opcode::Fail &&
                 in.opcode != Opcode::Unmatched;
  }
}

/// Empties the registers whose value `instruction` uses for the last time.
template <class Held>
void release_last_uses(const vm::Function& function, const vm::Instruction& in,
                       std::vector<Held>& registers) {
  vm::for_each_operand(function, in, [&](vm::Register r) {
    if (r != vm::kNoRegister && (r & vm::kLastUse)) registers[r & ~vm::kLastUse] = {};
  });
  if (in.opcode == vm::Opcode::Drop) registers[in.a] = {};
}

}  // namespace quern
