#pragma once
// The primitive functions that a program's @main becomes.

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "jit/schedule/lower.h"
#include "passes/pipeline.h"
#include "session/session.h"

namespace quern {

class PrimitivesOfMain {
 public:
  std::vector<const FnExpr*> primitives;

  explicit PrimitivesOfMain(const std::string& program) {
    const ModuleId module = session_.make_module();
    session_.add_source(module, "test.relay", program);
    const Definition* main = session_.definition(module, "main");
    if (!main) {
      ADD_FAILURE() << program;
      return;
    }
    FunctionSource& functions = session_.functions();
    optimised_ = optimise(*main, functions);
    const std::function<void(ExprPtr)> walk = [&](ExprPtr expr) {
      const auto* fn = as<FnExpr>(expr);
      if (fn && fn->primitive)
        primitives.push_back(fn);
      else
        for_each_child(expr, walk);
    };
    walk(optimised_.expr);
  }

 private:
  Session session_;
  Optimised optimised_{};
};

/// A machine with 32 registers of 64 bytes, as with AVX-512, or with 16 of 32 bytes, as with AVX2.
inline loops::MachineModel wide_machine() { return {.vector_bytes = 64, .vector_registers = 32}; }
inline loops::MachineModel narrow_machine() { return {.vector_bytes = 32, .vector_registers = 16}; }

/// @main's first primitive, for that machine.
inline loops::Lowered lowered_main(const std::string& program,
                                   const loops::MachineModel& machine = wide_machine()) {
  const PrimitivesOfMain main(program);
  auto lowered = loops::lower(*main.primitives.at(0), machine);
  if (lowered) return *std::move(lowered);
  ADD_FAILURE() << program << lowered.error().message;
  std::abort();
}

}  // namespace quern
