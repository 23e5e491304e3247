#include "tests/numeric/last_value.h"

#include "frontend/text/render.h"
#include "jit/runtime/threads.h"
#include "session/session.h"

namespace quern {

std::string last_value(const std::string& text, const ExecutionOptions& options) {
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "p.relay", text);
  std::string last;
  for (const LocatedDiagnostic& d : session.check(source))
    if (severity_of(d.kind) == Severity::Error) last += render_terminal(d, false);
  Execution execution(session, module, options, [](std::string_view) {});
  for (DeclarationId statement : session.statements(source)) {
    if (last.starts_with("error")) break;
    StatementResult result = execution.run(statement);
    last = result.failure ? render_terminal(*result.failure, false) : to_json(*result.value);
  }
  set_thread_count(1);
  return last;
}

}  // namespace quern
