#pragma once
// What an editor evaluates for a selection or at the cursor.

#include "ide/evaluation.h"
#include "ir/base/result.h"

namespace quern::ide {

using Evaluable = decltype(EvaluationRequest::what);

/// Of a selection its text; if that is a part of a `def`, with what it uses of the body above, which is evaluated before
/// it. Without a selection the first of these:
///   - the text after `// >>>` in the line;
///   - the statement there, or the last one that begins or ends in the line;
///   - the test there;
///   - in a `def`: the value of the innermost statement or, where that depends on a parameter, the largest part around
///     the offset that does not, with what it uses of the body above. Outside of the body the whole body, if the `def`
///     has no parameters.
/// Fails with what stands there and what to do instead.
Result<Evaluable> evaluable_at(Session& session, SourceId source, Range selected);

}  // namespace quern::ide
