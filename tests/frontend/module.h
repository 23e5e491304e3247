#pragma once

#include <string>
#include <vector>

#include "ir/expr/equality.h"
#include "session/session.h"

namespace quern {

/// A module of one text, in a session of its own.
struct Module {
  Session session;
  ModuleId id = session.make_module();
  SourceId source;
  std::vector<LocatedDiagnostic> diagnostics;

  Module(const std::string& text, const std::string& folder)
      : source(session.add_source(id, "module.relay", text, folder)),
        diagnostics(session.check_with_imports(source)) {}

  std::vector<ModulePart> parts() {
    std::vector<ModulePart> list;
    for (const std::string& name : session.definitions(id))
      if (const Definition* definition = session.definition(id, name)) list.push_back({definition});
    for (DeclarationId statement : session.statements(source)) {
      const Inferred& inferred = session.inferred_statement(statement);
      list.push_back({&inferred.definition, inferred.variable});
    }
    return list;
  }
};

}  // namespace quern
