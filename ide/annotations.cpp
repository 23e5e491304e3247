// Inserts inferred types as annotations, and removes annotations.

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"

namespace quern::ide {

namespace {

bool meets(Range a, Range b) { return a.begin <= b.end && b.begin <= a.end; }

/// The hints within a range that can be inserted as annotations.
std::vector<TypeHint> written_hints(const Selection& selection, Range within) {
  std::vector<TypeHint> hints =
      type_hints(selection.session, selection.source, within, selection.context.hints);
  std::erase_if(hints, [](const TypeHint& hint) { return !hint.can_be_inserted; });
  return hints;
}

Offer insertion(std::string title, const std::vector<TypeHint>& hints) {
  TextEdits edits;
  for (const TypeHint& hint : hints) edits.push_back({{hint.offset, hint.offset}, hint.text});
  return {std::move(title), [change = Change{std::move(edits), nullptr}] { return Result<Change>(change); }};
}

void remove_type(const Selection& selection, SyntaxPtr node, std::vector<Offer>& offers) {
  SyntaxPtr type = node->child(0);
  if (!type) return;
  const auto size = static_cast<uint32_t>(node->text.size());
  const Range name =
      selection.session.range_of(Occurrence{node->id, {}, {0, size}}, selection.at.declaration);
  const Range written = selection.range_of(type);
  if (!meets(selection.range, {name.begin, written.end}) || name.end > written.begin) return;
  const Result<Change> change =
      same_program(selection.session, selection.source, {{{name.end, written.end}, ""}});
  if (change)
    offers.push_back(
        {fmt::format("remove the type of `%{}`", node->text), [change] { return Result<Change>(change); }});
}

}  // namespace

void write_types(const Selection& selection, std::vector<Offer>& offers) {
  const std::vector<TypeHint> hints = written_hints(selection, selection.at.range);
  for (const TypeHint& hint : hints)
    if (meets(selection.range, {hint.name.begin, hint.offset}))
      offers.push_back(insertion(fmt::format("write the type{}", hint.text), {hint}));
  if (hints.size() > 1) offers.push_back(insertion("write every type of the declaration", hints));
}

void write_all_types(const Selection& selection, std::vector<Offer>& offers) {
  const auto size = static_cast<uint32_t>(selection.text().size());
  const std::vector<TypeHint> hints = written_hints(selection, {0, size});
  if (hints.size() > 1) offers.push_back(insertion("write every type of the file", hints));
}

/// Only a trial shows whether removing an annotation keeps the program the same, so each is tried before it is offered.
void remove_types(const Selection& selection, std::vector<Offer>& offers) {
  std::vector<Offer> found;
  for (SyntaxPtr node : selection.at.nodes)
    if (node->is(SyntaxKind::Let) || node->is(SyntaxKind::TensorParam) ||
        node->is(SyntaxKind::VariablePattern))
      remove_type(selection, node, found);
  for (Offer& offer : found)
    if (succeeds(selection.session, selection.source, *offer.change())) offers.push_back(std::move(offer));
}

}  // namespace quern::ide
