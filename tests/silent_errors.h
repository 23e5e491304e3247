#pragma once
// Whether a text has a part that is wrong without a diagnostic: then it would fail when it runs, for a reason that
// nobody is told.

#include <string>

#include "frontend/signature/signature.h"
#include "session/session.h"

namespace quern {

/// The name of a definition or statement that inference left out of a source without errors; empty where there is
/// none.
inline std::string silent_error(Session& session, SourceId source) {
  for (const LocatedDiagnostic& d : session.check(source))
    if (severity_of(d.kind) == Severity::Error) return "";
  for (const auto& [id, tree] : session.trees(source)) {
    const Inferred* known = tree.root->is(SyntaxKind::FreeVar) ? nullptr : session.inferred(id);
    // What is typed anew at each use, or called by its signature, has no body of its own.
    if (!known || known->definition.body || known->definition.scheme.specialised ||
        has_attributes_or_packs(Declaration{id, session.info(id).name, tree.root, tree.arena}))
      continue;
    const std::string& name = session.info(id).name;
    return name.empty() ? "a statement" : name;
  }
  return "";
}

}  // namespace quern
