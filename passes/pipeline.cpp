#include "passes/pipeline.h"

#include <fmt/format.h>

#include <cstdio>

#include "passes/dead_code.h"
#include "passes/forward_fields.h"
#include "passes/fuse.h"
#include "passes/fuse_rows.h"
#include "passes/gradient/drop_derivatives.h"
#include "passes/gradient/gradient.h"
#include "passes/inline.h"
#include "passes/instantiate_ops.h"
#include "passes/lift_kernels.h"
#include "passes/part_reductions.h"
#include "passes/simplify_index.h"
#include "passes/to_anf.h"
#include "passes/verify.h"

namespace quern {

namespace {

constexpr Pass kPipeline[] = {
    {"inline", inline_calls},
    {"instantiate_ops", instantiate_ops},
    {"gradient", expand_gradients},
    {"drop_derivatives", drop_derivatives},
    {"to_anf", to_anf},
    {"forward_fields", forward_fields},
    {"simplify_index", simplify_index},
    {"dead_code", dead_code},
    {"fuse", fuse},
    {"drop_fused", dead_code},
    {"part_reductions", part_reductions},
    {"fuse_rows", fuse_rows},
    {"lift_kernels", lift_kernels},
};

void check(ExprPtr expr, const std::vector<const Variable*>& inputs, std::string_view pass) {
  std::string problem = verify(expr, inputs);
  if (problem.empty()) return;
  std::fprintf(stderr, "quern: internal error: after the pass %.*s: %s\n", static_cast<int>(pass.size()),
               pass.data(), problem.c_str());
  std::exit(70);
}

}  // namespace

std::span<const Pass> pipeline() { return kPipeline; }

Optimised optimise(const Definition& definition, FunctionSource& functions, std::string_view last) {
  auto arena = std::make_shared<Arena>();
  arena->keep(definition.arena);
  PassContext context{*arena, functions};
  ExprPtr expr = definition.body;
  std::vector<const Variable*> inputs = free_variables(expr);
  for (const Pass& pass : kPipeline) {
    expr = pass.run(context, expr);
#ifndef NDEBUG
    check(expr, inputs, pass.name);
#endif
    if (pass.name == last) break;
  }
#ifdef NDEBUG
  (void)check;
#endif
  return {expr, arena};
}

}  // namespace quern
