#pragma once
// The memory that a program's tensors take, before it runs.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/line_origins.h"
#include "jit/vm/bytecode.h"

namespace quern {

/// An instruction that makes a tensor, with the most that is in memory when it does.
struct MemoryStep {
  uint32_t function, at;              ///< of the program; the position in its code
  const FnExpr* primitive = nullptr;  ///< of a kernel, otherwise null
  std::string_view text;              ///< the instruction
  Dim made;                           ///< bytes of its result; 0 in the memory of an operand
  Dim live;  ///< bytes of all that the program has made and still needs, its result included
  std::optional<uint32_t> stored{};  ///< vm::KernelSite::stored
  Origin origin;                     ///< of the instruction
};

/// Bytes are dims over the dims of the program. They are those of tensors: arguments, constants, prepacked forms and
/// a kernel's scratch memory are not among them.
struct MemoryPlan {
  std::vector<MemoryStep> steps;         ///< in the order of the code
  std::vector<Dim> peaks;                ///< of `live`: those that no other reaches for all dims
  std::map<uint32_t, Placement> blocks;  ///< of functions whose stored tensors have known sizes
  /// What calls of functions make that are known at run time only, and recursion, is not in the plan.
  bool is_whole = true;
};

/// Follows the values of a program through its registers, each branch and each function that it calls, a loop for two of
/// its turns. A register holds the tensors of its value until its last use.
MemoryPlan plan_memory(const Program& program);

/// The peak at these dims, `at most 48.0 KiB of tensors`, and what is not in the plan.
std::string peak_text(const MemoryPlan& plan, const DimMap& dims = {});
/// The peak, and the steps as a table with what a kernel is called. Adds the origin of each step to `origins`.
std::string to_string(const MemoryPlan& plan, const std::function<std::string(const FnExpr&)>& name_of,
                      LineOrigins& origins);

}  // namespace quern
