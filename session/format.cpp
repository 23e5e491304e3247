#include "session/session_impl.h"

namespace quern {

Result<FormatResult> Session::format(SourceId source, std::optional<LineRange> lines) {
  auto text = quern::format(this->text(source), lines);
  if (!text) return text.error();
  FormatResult result{*text, format_edits(this->text(source), *text), {}};
  const Layout& all = impl_->layouts[source];
  for (const SyntaxProblem& p : all.scan.problems) result.diagnostics.push_back(locate(p, source));
  if (!result.diagnostics.empty()) return result;
  for (DeclarationId id : all.ids)
    for (const SyntaxProblem& p : impl_->parsed(id).outcome.problems)
      result.diagnostics.push_back(locate(to_diagnostic(p, id)));
  return result;
}

}  // namespace quern
