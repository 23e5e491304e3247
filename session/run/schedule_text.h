#pragma once
// The schedule of a kernel as one may write it.

#include <string>

#include "jit/loops/lowered.h"
#include "session/session.h"

namespace quern {

/// The clause that makes a kernel's loops again, stated at the index expression or the operator that it is
/// of; as a comment where there is none, or none that could be stated: the default loops have no steps, and
/// the rules may split a computation first.
std::string schedule_text(Session& session, const FnExpr& primitive, const loops::Lowered& lowered);

}  // namespace quern
