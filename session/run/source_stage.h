#pragma once
// A text at a stage of compilation, as `quern ir` shows it.

#include <string>
#include <vector>

#include "session/run/compiler.h"
#include "session/session.h"

namespace quern {

/// The diagnostics of what a stage shows: of a source with its imports, or, if the name is not empty, of its
/// definition `@name` with all that it needs; others in the source do not matter to that.
std::vector<LocatedDiagnostic> problems_of(Session& session, SourceId source, const std::string& name);

/// The definition `@name` of a source's module, or all definitions followed by the source's statements if the
/// name is empty. They must have no errors (problems_of). Fails if there is no such definition, or if only its calls
/// have code.
Result<std::vector<const Definition*>> definitions_of(Session& session, SourceId source,
                                                      const std::string& name);

/// Their texts at a stage, one after another; at "ast" and "typed" the text of the whole source if the name
/// is empty. Except at "ast", they must have no errors. Adds to `origins` what Compiler::stage_text does;
/// at "ast" the syntax nodes, one per line.
Result<std::string> source_stage(Session& session, Compiler& compiler, SourceId source,
                                 const std::string& name, const std::string& stage,
                                 LineOrigins* origins = nullptr,
                                 Compiler::PrintKernel print_kernel = loops::print_kernel);

}  // namespace quern
