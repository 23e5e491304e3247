#include "ide/refactorings.h"

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"

namespace quern::ide {

namespace {

struct Row {
  std::string_view name;
  RefactoringKind kind;
  FindOffers find;
  bool tries = false;  ///< a text before it offers one, which invalidates syntax
};

constexpr Row kRows[] = {
    {"add missing arms", RefactoringKind::QuickFix, add_missing_arms},
    {"repair arguments", RefactoringKind::QuickFix, repair_arguments, true},
    {"import module", RefactoringKind::QuickFix, import_module},
    {"extract variable", RefactoringKind::Extract, extract_variable},
    {"extract function", RefactoringKind::Extract, extract_function},
    {"inline variable", RefactoringKind::Inline, inline_variable},
    {"graph variables to let", RefactoringKind::Rewrite, graph_to_let},
    {"name dim", RefactoringKind::Rewrite, name_dim},
    {"write gradient out", RefactoringKind::Rewrite, expand_gradient},
    {"fuse calls", RefactoringKind::Rewrite, fuse_calls},
    {"write schedule", RefactoringKind::Rewrite, write_schedule},
    {"write types", RefactoringKind::Rewrite, write_types},
    {"remove types", RefactoringKind::Rewrite, remove_types, true},
    {"write all types", RefactoringKind::Source, write_all_types},
};

}  // namespace

std::vector<Refactoring> refactorings(Session& session, const SelectedRange& selected,
                                      const RefactoringContext& context,
                                      const std::function<bool(RefactoringKind)>& is_wanted) {
  std::vector<Refactoring> all;
  std::optional<Selection> selection;
  for (const Row& row : kRows) {
    if (!is_wanted(row.kind)) continue;
    if (!selection) {
      std::optional<Selection> made = Selection::of(session, selected, context);
      if (!made) return all;
      selection.emplace(std::move(*made));
    }
    std::vector<Offer> offers;
    row.find(*selection, offers);
    for (Offer& offer : offers) all.push_back({row.name, row.kind, std::move(offer.title)});
    offers.clear();
    if (row.tries) selection.reset();
  }
  return all;
}

Result<RefactoringEdits> edits_of(Session& session, const SelectedRange& selected,
                                  const RefactoringContext& context, std::string_view name,
                                  std::string_view title) {
  const Row* row = std::ranges::find(kRows, name, &Row::name);
  const std::optional<Selection> selection = Selection::of(session, selected, context);
  std::vector<Offer> offers;
  if (row != std::end(kRows) && selection) row->find(*selection, offers);
  const auto offer = std::ranges::find(offers, title, &Offer::title);
  if (offer == offers.end()) return Failure{fmt::format("to {} is not offered here", title)};
  const Result<Change> change = offer->change();
  if (!change) return Failure{fmt::format("cannot {}: {}", title, change.error().message)};
  if (change->holds && !succeeds(session, selected.source, *change))
    return Failure{fmt::format("to {} would make another program of it", title)};
  return change->edits;
}

}  // namespace quern::ide
