#include "ide/refactorings.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ide/trial.h"

namespace quern::ide {

namespace {

bool meets(Range a, Range b) { return a.begin <= b.end && b.begin <= a.end; }

/// What is found at a place is noted first: to try it is to edit the text, after which its syntax is another.
class Refactorer {
 public:
  Refactorer(Session& session, SourceId source, Range selected, const SyntaxPath& at)
      : session_(session), source_(source), selected_(selected), at_(at) {}

  std::vector<Refactoring> run() {
    for (SyntaxPtr node : at_.nodes) {
      if (node->is(SyntaxKind::Let) || node->is(SyntaxKind::TensorParam) ||
          node->is(SyntaxKind::VariablePattern))
        remove_annotation(node);
    }
    std::vector<Refactoring> found;
    for (Candidate& candidate : candidates_)
      if (keep_meaning(session_, source_, candidate.refactoring.edits, candidate.before))
        found.push_back(std::move(candidate.refactoring));
    return found;
  }

 private:
  struct Candidate {
    Refactoring refactoring;
    TypedDeclarations before;  ///< what its edits touch
  };

  Range range_of(SyntaxPtr node) { return session_.range_of(Place{{at_.declaration, node->id}, {}}); }
  /// Of the name that a node declares, without its sigil.
  Range name_of(SyntaxPtr node) {
    const auto size = static_cast<uint32_t>(node->text.size());
    return session_.range_of(Occurrence{node->id, {}, {0, size}}, at_.declaration);
  }

  void remove_annotation(SyntaxPtr node) {
    SyntaxPtr type = node->child(0);
    if (!type) return;
    const Range name = name_of(node), written = range_of(type);
    if (!meets(selected_, {name.begin, written.end}) || name.end > written.begin) return;
    const TextEdits edits{{{name.end, written.end}, ""}};
    auto before = TypedDeclarations::of(session_, source_, touched(session_, source_, edits));
    if (!before) return;
    const std::string title = fmt::format("remove the type of `%{}`", node->text);
    candidates_.push_back({{title, edits}, std::move(*before)});
  }

  Session& session_;
  SourceId source_;
  Range selected_;
  const SyntaxPath& at_;
  std::vector<Candidate> candidates_;
};

}  // namespace

std::vector<Refactoring> refactorings(Session& session, SourceId source, Range selected, KnownHints& known) {
  std::vector<Refactoring> all;
  const std::optional<SyntaxPath> at = session.syntax_at(source, selected.begin);
  if (!at) return all;
  std::vector<TypeHint> hints = type_hints(session, source, at->range, known);
  std::erase_if(hints, [](const TypeHint& hint) { return !hint.can_be_inserted; });
  for (const TypeHint& hint : hints)
    if (meets(selected, {hint.name.begin, hint.offset}))
      all.push_back({fmt::format("write the type{}", hint.text), {{{hint.offset, hint.offset}, hint.text}}});
  if (hints.size() > 1) {
    Refactoring every{"write every type of the declaration", {}};
    for (const TypeHint& hint : hints) every.edits.push_back({{hint.offset, hint.offset}, hint.text});
    all.push_back(std::move(every));
  }
  for (Refactoring& tried : Refactorer(session, source, selected, *at).run()) all.push_back(std::move(tried));
  return all;
}

}  // namespace quern::ide
