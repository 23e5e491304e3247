#pragma once
// The pipeline: one list of passes, in order.

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "passes/pass.h"

namespace quern {

struct Pass {
  std::string_view name;
  std::string_view does;  ///< one line
  ExprPtr (*run)(const PassContext& context, ExprPtr expr);
  bool only_speeds = false;  ///< programs give the same without it
};

/// From typed IR to calls of kernels.
std::span<const Pass> pipeline();
/// Those that run where someone asks for them alone.
std::span<const Pass> passes_on_demand();
/// The pass of the pipeline with that name, or null.
const Pass* find_stage(std::string_view name);
/// The same, of the pipeline or on demand.
const Pass* find_pass(std::string_view name);

/// The pipeline up to and including the pass with that name; all of it without one.
std::span<const Pass> passes_to(std::string_view last);

/// An optimised expression and what owns its nodes.
struct Optimised {
  ExprPtr expr = nullptr;
  std::shared_ptr<const Arena> arena;
};

/// Runs passes on a definition's body. Null if interrupted (ir/base/interrupt.h). With QUERN_VERIFY=1 in the
/// environment the IR is verified after each pass (passes/verify.h): a violation is an InternalFailure whose
/// stage is the pass's name.
Optimised run_passes(const Definition& definition, FunctionSource& functions, std::span<const Pass> passes);
/// Runs the pipeline up to and including the pass named `last`, all of it without a name, except those left out.
Optimised optimise(const Definition& definition, FunctionSource& functions, std::string_view last = "",
                   std::span<const std::string> left_out = {});

}  // namespace quern
