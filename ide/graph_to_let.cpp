// Converts graph variables to named `let`s.

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

/// Where a graph variable is bound.
struct Bound {
  NameTarget target;
  SyntaxPtr let;
};

/// The graph variables of a declaration and its chunks or, for a statement, of all declarations of the source.
class GraphVariables {
 public:
  explicit GraphVariables(const Selection& selection) : selection_(selection), session_(selection.session) {
    const DeclarationId whole = selection.at.whole;
    const bool is_statement = session_.info(whole).kind == PieceKind::Statement;
    for (const DeclarationId id : session_.declarations(selection.source)) {
      if (id != whole && !is_statement) continue;
      declarations_.push_back(id);
      const std::vector<DeclarationId>& chunks = session_.chunks(id);
      declarations_.insert(declarations_.end(), chunks.begin(), chunks.end());
    }
  }

  /// The variable at the cursor, and all those of its block.
  std::optional<Bound> at_cursor() const {
    const auto name = name_at(session_, selection_.source, selection_.range.begin);
    return name && name->target.kind == NameKind::Variable ? bound(name->target) : std::nullopt;
  }
  std::vector<Bound> of_block(const Bound& one) const {
    std::vector<Bound> all;
    const DeclarationId declaration = one.target.declared.declaration;
    const SyntaxPtr block = block_of(one);
    for (const DeclarationId id : declarations_)
      for (const Occurrence& occurrence : session_.occurrences(id)) {
        if (!occurrence.declares || occurrence.target.kind != NameKind::Variable) continue;
        const auto other = bound(occurrence.target);
        // The chunks of a body, and the statements of a source, are one block.
        if (other && block_of(*other) == block && (id == declaration || !block)) all.push_back(*other);
      }
    return all;
  }

  Result<Change> change(const std::vector<Bound>& made) const {
    std::string text_with_new_names = selection_.text();
    TextEdits edits;
    for (const Bound& one : made) {
      const LexedText lexed = lexed_text(text_with_new_names);
      const std::string name = free_name(lexed, LexemeKind::Local, name_after(one.let->child(0)));
      text_with_new_names += " %" + name;
      rename(one, name, edits);
    }
    std::ranges::sort(edits, {}, [](const auto& edit) { return edit.first.begin; });
    const SeeThrough as_lets = [](Session&, TypedDeclarations& typed) {
      typed.take_for_lets();
      return true;
    };
    return same_program(session_, selection_.source, std::move(edits), as_lets, as_lets);
  }

 private:
  std::optional<Bound> bound(const NameTarget& target) const {
    const DeclarationId id = target.declared.declaration;
    if (std::ranges::find(declarations_, id) == declarations_.end()) return std::nullopt;
    const SyntaxPtr node = find_node(session_.declaration(id).syntax, target.declared.node);
    if (!node || !node->is(SyntaxKind::GraphLet)) return std::nullopt;
    return Bound{target, node};
  }
  /// Null if the block is a body in chunks, or the source.
  SyntaxPtr block_of(const Bound& one) const {
    const DeclarationId id = one.target.declared.declaration;
    const std::vector<SyntaxPtr> path = path_to(session_.declaration(id).syntax, one.let->id);
    const bool is_root = path.size() < 2 || (session_.info(id).part_of && path.size() == 2);
    return is_root ? nullptr : path[path.size() - 2];
  }
  void rename(const Bound& one, const std::string& name, TextEdits& edits) const {
    for (const DeclarationId id : declarations_)
      for (const Occurrence& occurrence : session_.occurrences(id)) {
        if (occurrence.target != one.target) continue;
        const Range number = session_.range_of(occurrence, id);
        edits.push_back({{number.begin - 1, number.end}, (occurrence.declares ? "let %" : "%") + name});
      }
  }

  const Selection& selection_;
  Session& session_;
  std::vector<DeclarationId> declarations_;
};

}  // namespace

void graph_to_let(const Selection& selection, std::vector<Offer>& offers) {
  auto graph = std::make_shared<const GraphVariables>(selection);
  const std::optional<Bound> one = graph->at_cursor();
  if (!one) return;
  offers.push_back(
      {fmt::format("make a `let` of `%{}`", one->let->text), [graph, one] { return graph->change({*one}); }});
  const std::vector<Bound> all = graph->of_block(*one);
  if (all.size() > 1)
    offers.push_back(
        {"make `let`s of the block's graph variables", [graph, all] { return graph->change(all); }});
}

}  // namespace quern::ide
