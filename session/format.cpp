#include "session/db/database.h"
#include "session/session.h"

namespace quern {

Result<FormatResult> Session::format(SourceId source, std::optional<LineRange> lines) {
  auto text = quern::format(this->text(source), lines);
  if (!text) return text.error();
  FormatResult result{*text, format_edits(this->text(source), *text), {}};
  const Layout& all = *db_->layouts[source];
  for (const SyntaxProblem& p : all.scan.problems) result.diagnostics.push_back(locate(p, source));
  if (!result.diagnostics.empty()) return result;
  for (DeclarationId id : all.ids)
    for (const SyntaxProblem& p : db_->parsed(id).problems)
      result.diagnostics.push_back(locate(to_diagnostic(p, id)));
  return result;
}

}  // namespace quern
