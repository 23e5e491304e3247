#pragma once

#include "passes/pass.h"

namespace quern {

/// A pass: functions that are only called stand before everything else, closed: what they captured are further
/// parameters (Johnsson 1985). One that is a value, that calls a function around it, or that is over dims which
/// only its surroundings bind stays where it is.
ExprPtr lambda_lift(const PassContext& context, ExprPtr expr);

}  // namespace quern
