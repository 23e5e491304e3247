// Types that are written, and types that are left out.

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"

namespace quern::ide {

namespace {

bool meets(Range a, Range b) { return a.begin <= b.end && b.begin <= a.end; }

void remove_type(const Selection& selection, SyntaxPtr node, std::vector<Offer>& offers) {
  SyntaxPtr type = node->child(0);
  if (!type) return;
  const auto size = static_cast<uint32_t>(node->text.size());
  const Range name =
      selection.session.range_of(Occurrence{node->id, {}, {0, size}}, selection.at.declaration);
  const Range written = selection.range_of(type);
  if (!meets(selection.range, {name.begin, written.end}) || name.end > written.begin) return;
  const std::optional<Change> change =
      same_program(selection.session, selection.source, {{{name.end, written.end}, ""}});
  if (change)
    offers.push_back({fmt::format("remove the type of `%{}`", node->text), [change] { return change; }});
}

}  // namespace

void write_types(const Selection& selection, std::vector<Offer>& offers) {
  std::vector<TypeHint> hints =
      type_hints(selection.session, selection.source, selection.at.range, selection.context.hints);
  std::erase_if(hints, [](const TypeHint& hint) { return !hint.can_be_inserted; });
  auto offer = [&](std::string title, TextEdits edits) {
    offers.push_back({std::move(title), [edits = std::move(edits)] {
                        return std::optional(Change{edits, nullptr});
                      }});
  };
  for (const TypeHint& hint : hints)
    if (meets(selection.range, {hint.name.begin, hint.offset}))
      offer(fmt::format("write the type{}", hint.text), {{{hint.offset, hint.offset}, hint.text}});
  if (hints.size() < 2) return;
  TextEdits every;
  for (const TypeHint& hint : hints) every.push_back({{hint.offset, hint.offset}, hint.text});
  offer("write every type of the declaration", std::move(every));
}

/// Whether the program is the same without it only a trial tells, so each is tried before it is offered.
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
