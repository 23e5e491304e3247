#include "ide/derivative.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "ide/added_source.h"
#include "ide/gradient_text.h"

namespace quern::ide {

Result<std::string> derivative_text(Session& session, ModuleId module, std::string_view name) {
  if (session.find_definition(module, name) == 0)
    return Failure{fmt::format("there is no definition `@{}`", name)};
  const Definition* definition = session.definition(module, name);
  const std::string gradient = fmt::format("grad_{}", name);
  const auto made = definition ? gradient_definition(*definition, gradient) : std::nullopt;
  if (!made)
    return Failure{
        fmt::format("`@{}` is typed anew for the arguments of each call: annotate its parameters", name)};
  const AddedSource added(session, module, "<gradient>", *made);
  for (const LocatedDiagnostic& problem : session.check(added.id()))
    if (severity_of(problem.kind) == Severity::Error) return Failure{problem.message};
  if (!session.definition(module, gradient))
    return Failure{fmt::format("`@{}` has no gradient that can be shown", name)};
  auto text = derived_definition(session, module, gradient);
  if (!text) return Failure{"interrupted"};
  return std::move(*text);
}

}  // namespace quern::ide
