#include "passes/pipeline.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/base/internal_failure.h"
#include "ir/base/interrupt.h"
#include "ir/base/result.h"
#include "passes/cse.h"
#include "passes/dead_code.h"
#include "passes/forward_fields.h"
#include "passes/fuse.h"
#include "passes/fuse_rows.h"
#include "passes/gradient/drop_derivatives.h"
#include "passes/gradient/gradient.h"
#include "passes/gradient/local_functions.h"
#include "passes/hoist_from_loops.h"
#include "passes/inline.h"
#include "passes/inline_local.h"
#include "passes/instantiate_ops.h"
#include "passes/known_functions.h"
#include "passes/lambda_lift.h"
#include "passes/lift_kernels.h"
#include "passes/localise_loops.h"
#include "passes/lower_scans.h"
#include "passes/order_axes.h"
#include "passes/part_reductions.h"
#include "passes/partial_eval/partial_eval.h"
#include "passes/partial_eval/specialize.h"
#include "passes/place_devices.h"
#include "passes/scatter_onto.h"
#include "passes/share_reductions.h"
#include "passes/simplify_index.h"
#include "passes/stack_products.h"
#include "passes/to_anf.h"
#include "passes/verify.h"

namespace quern {

namespace {

/// What a copy calls is inlined as well, and that may pass functions on.
ExprPtr bind_functions(const PassContext& context, ExprPtr expr) {
  constexpr int kMostRounds = 3;
  for (int round = 0; round < kMostRounds; ++round) {
    ExprPtr bound = known_functions(context, expr);
    if (bound == expr) break;
    expr = inline_calls(context, bound);
  }
  return expr;
}

constexpr Pass kPipeline[] = {
    {"specialize", "evaluates in part what `specialize` takes", specialize},
    {"inline", "puts the bodies of functions in the place of their calls", inline_calls},
    {"known_functions", "puts definitions that derive a function they are given where that function is known",
     bind_functions},
    {"localise_loops", "puts functions that call themselves last into those that call them", localise_loops},
    {"instantiate_ops", "puts the definitions of operators in the place of their calls", instantiate_ops},
    {"gradient", "makes functions of `grad` and the other derivatives, and of `vmap`",
     [](const PassContext& context, ExprPtr expr) { return expand_gradients(context, expr); }},
    {"drop_derivatives", "drops what only derivatives ask for", drop_derivatives},
    {"inline_local", "puts the bodies of local functions in the place of their calls", inline_local},
    {"to_anf", "gives each value a name: operands are variables and constants", to_anf},
    {"evaluate_tapes", "does what is known of a gradient's tape (partial_eval, where there is one)",
     evaluate_tapes},
    {"lower_scans", "makes functions that call themselves of `scan_over`", lower_scans},
    {"place_devices", "copies values where one device needs what another computes", place_devices},
    {"forward_fields", "replaces fields of tuples by what stands in them, and further names by the first",
     forward_fields},
    {"hoist_from_loops", "moves what does not change out of functions that call themselves last",
     hoist_from_loops, true},
    {"simplify_index", "simplifies indices by what is known of them, and drops checks that hold",
     simplify_index},
    {"dead_code", "drops values that nothing uses", dead_code},
    {"stack_products", "makes one product of stacks of a sum of products", stack_products},
    {"fuse", "puts producers into the index expressions that read them", fuse, true},
    {"scatter_onto", "adds what a scatter adds to zeros to the tensor that it is added to", scatter_onto},
    {"drop_fused", "drops producers that nothing reads any more (dead_code again)", dead_code},
    {"share_reductions", "computes once what a reduction is for many elements", share_reductions},
    {"order_axes", "stores tensors with their axes in the order that suits what makes and reads them",
     order_axes, true},
    {"part_reductions", "cuts long reductions into parts, for threads and for accuracy", part_reductions},
    {"fuse_rows", "makes one kernel of expressions that reduce rows and use the results", fuse_rows, true},
    {"lift_kernels", "makes a kernel of every index expression that is left", lift_kernels},
    {"place_kernels", "copies what the device of a kernel needs (place_devices again)", place_devices},
};

constexpr Pass kOnDemand[] = {
    {"local_functions", "puts the definitions that it calls inside of it",
     [](const PassContext& context, ExprPtr expr) { return local_functions(context, expr); }},
    {"partial_eval", "unfolds calls of known functions, and does what is known of their values",
     [](const PassContext& context, ExprPtr expr) { return partial_eval(context, expr); }},
    {"lambda_lift", "puts local functions to the outermost level, what they capture is passed to them",
     lambda_lift},
    // Not of the pipeline: what a checkpoint computes again is equal to what it did not keep.
    {"cse", "computes equal reductions once", cse},
};

/// Fails if a pass's result breaks an invariant.
void check(ExprPtr expr, const FreeNames& given) {
  const std::optional<Breach> breach = verify(expr, given);
  if (!breach) return;
  Stage at(Stage::current(), breach->node->origin);
  throw InternalFailure(
      fmt::format("{} (in a node of the kind {})", breach->reason, to_string(breach->node->kind)));
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

std::span<const Pass> passes_on_demand() { return kOnDemand; }

const Pass* find_stage(std::string_view name) {
  const auto* pass = std::ranges::find(kPipeline, name, &Pass::name);
  return pass == std::end(kPipeline) ? nullptr : pass;
}

const Pass* find_pass(std::string_view name) {
  const auto* pass = std::ranges::find(kOnDemand, name, &Pass::name);
  return pass == std::end(kOnDemand) ? find_stage(name) : pass;
}

Optimised run_passes(const Definition& definition, FunctionSource& functions, std::span<const Pass> passes) {
  auto arena = std::make_shared<Arena>();
  arena->keep(definition.arena);
  PassContext context{*arena, functions};
  ExprPtr expr = definition.body;
  const FreeNames given = is_verifying() ? free_names(expr) : FreeNames();
  for (const Pass& pass : passes) {
    Stage stage(pass.name);
    expr = pass.run(context, expr);
    if (is_interrupted()) return {nullptr, arena};
    QUERN_CHECK(expr != nullptr && expr->type != nullptr);
    if (is_verifying()) check(expr, given);
  }
  return {expr, arena};
}

std::span<const Pass> passes_to(std::string_view last) {
  const Pass* to = find_stage(last);
  return {kPipeline, to ? to + 1 : std::end(kPipeline)};
}

Optimised optimise(const Definition& definition, FunctionSource& functions, std::string_view last,
                   std::span<const std::string> left_out) {
  std::vector<Pass> passes;
  std::ranges::copy_if(passes_to(last), std::back_inserter(passes), [&](const Pass& pass) {
    return std::ranges::find(left_out, pass.name) == left_out.end();
  });
  return run_passes(definition, functions, passes);
}

}  // namespace quern
