// Gradients that cannot be made, reported where they are requested.

#include <fmt/format.h>

#include <utility>

#include "passes/gradient/gradient.h"
#include "session/db/database.h"

namespace quern {

Diagnostics Database::of_gradients(const Inferred& inferred) {
  Diagnostics result;
  ExprPtr body = inferred.definition.body;
  if (!body || has_errors(inferred.diagnostics)) return result;
  // Places in the library are reported at the call.
  auto place = [&](Origin at) {
    while (at.inlined != 0 && in_library(at.declaration)) at = origin_of_inlined(at.inlined);
    return Place{at, {}};
  };
  auto is_users = [&](Origin at) { return !in_library(at.declaration); };
  for (const GradientProblem& problem : gradient_problems(functions, body, is_users)) {
    std::vector<Note> notes;
    for (const auto& [origin, what] : problem.parts) notes.push_back({place(origin), what});
    for (const auto& [origin, why] : problem.scattered)
      if (problem.parts.empty()) notes.push_back({place(origin), fmt::format("this read: {}", why)});
    bool possible = problem.parts.empty();
    std::string message = fmt::format("{} parts of the function have no derivative", notes.size());
    if (!possible && notes.size() == 1) message = std::exchange(notes[0].message, "it is here");
    result.push_back({possible ? DiagnosticKind::GradientByScatter : DiagnosticKind::NotDifferentiable,
                      {problem.gradient, {}},
                      possible ? "the gradient is added up element by element (`scatter`), as its index "
                                 "equations are not solved"
                               : fmt::format("there is no gradient: {}", message),
                      std::move(notes)});
  }
  return result;
}

}  // namespace quern
