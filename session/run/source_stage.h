#pragma once
// What a text becomes at a stage of its way, as `quern ir` shows it.

#include <string>
#include <vector>

#include "session/run/compiler.h"
#include "session/session.h"

namespace quern {

/// The definition `@name` of a source's module, or all of them and then the source's statements where the name
/// is empty. The source has no errors. Fails where there is no such definition, or only its calls have code.
Result<std::vector<const Definition*>> definitions_of(Session& session, SourceId source,
                                                      const std::string& name);

/// These at a stage, one after another; at "ast" and "typed" the text of a whole source where the name is empty.
/// The source has no errors, but at "ast".
Result<std::string> source_stage(Session& session, Compiler& compiler, SourceId source,
                                 const std::string& name, const std::string& stage);

}  // namespace quern
