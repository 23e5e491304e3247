#pragma once
// Random functions with derivatives, which have to agree with central differences.

#include <string>

#include "tests/random/program.h"

namespace quern::random_programs {

/// `@f` of float64 tensors, made of index expressions, and statements: the arguments and directions `%a0 %d0
/// …`, then `grad(@f)` and `jvp(@f)` there. Its functions are smooth, and indices do not depend on its
/// parameters.
ProgramTerm generate_differentiable(uint64_t seed);

/// "" where gradients and directional derivatives, compiled and interpreted, are what differences of the
/// interpreted function say; otherwise what is not, its kind up to the first colon.
std::string gradient_problem(const ProgramTerm& program);

}  // namespace quern::random_programs
