#pragma once
// The schedule of a kernel in source form.

#include <string>

#include "jit/loops/lowered.h"
#include "session/session.h"

namespace quern {

/// The clause that reproduces a kernel's loops when stated at its index expression or operator. A comment if
/// there is none, or none that can be stated: the default loops have no steps, and the rules may split a
/// computation first.
std::string schedule_text(Session& session, const FnExpr& primitive, const loops::Lowered& lowered);

}  // namespace quern
