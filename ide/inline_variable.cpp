// Inlines the value of a `let` or of a graph variable.

#include <fmt/format.h>

#include <algorithm>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"
#include "ide/typed_syntax.h"

namespace quern::ide {

namespace {

/// A use of the variable.
struct Use {
  DeclarationId declaration;
  SyntaxPtr name, parent;  ///< no parent: it is a statement
  Range range;
  bool in_string;  ///< in the braces of a format string
};

bool is_name(SyntaxPtr node) { return node->is(SyntaxKind::Local) || node->is(SyntaxKind::GraphName); }

/// Whether a place allows only names: in index expressions, and among the positions of a slice.
bool takes_names_alone(const std::vector<SyntaxPtr>& path) {
  for (size_t i = 0; i + 1 < path.size(); ++i) {
    if (path[i]->is(SyntaxKind::Index) && path[i]->child(0) != path[i + 1]) return true;
    if (is_of_elements(path[i])) return true;
  }
  return false;
}

class Inlining {
 public:
  Inlining(const Selection& selection, const NameTarget& target)
      : selection_(selection), session_(selection.session), target_(target) {
    const Origin declared = target.declared;
    if (!declared.declaration || session_.info(declared.declaration).source != selection.source) return;
    declaration_ = declared.declaration;
    let_ = find_node(session_.declaration(declaration_).syntax, declared.node);
    if (let_ && let_->is(SyntaxKind::Let)) value_ = let_->child(1);
    if (let_ && let_->is(SyntaxKind::GraphLet)) value_ = let_->child(0);
  }

  bool is_possible() {
    // A bound function is polymorphic, and may refer to itself.
    if (!value_ || is_function() || !find_uses() || !is_pure()) return false;
    statement_ = range_of(let_);
    const std::optional<Range> removed = with_separator(selection_.lexed(), statement_);
    if (!removed || has_own_comment()) return false;
    removed_ = *removed;
    return keeps_names() && std::ranges::all_of(uses_, [&](const Use& use) { return fits(use); });
  }

  Result<Change> change() const {
    TextEdits edits{{removed_, ""}};
    const std::string text(selection_.text_of(range_of(value_)));
    for (const Use& use : uses_)
      edits.push_back({use.range, needs_brackets(value_, use.parent, use.name) ? "(" + text + ")" : text});
    const ExprPtr whole = is_statement() ? typed_body(session_, declaration_) : nullptr;
    const IsBinding of_body = is_binding_of(declaration_, let_, value_);
    const IsBinding is_it = [whole, of_body](const quern::Binding& binding) {
      return whole ? binding.value == whole : of_body(binding);
    };
    return same_program(
        session_, selection_.source, std::move(edits),
        [is_it](Session&, TypedDeclarations& typed) { return typed.put_value_in_place(is_it); });
  }

  std::string name() const { return std::string(let_->text); }

 private:
  bool is_function() const {
    SyntaxPtr value = value_;
    while (value->is(SyntaxKind::Paren)) value = value->child(0);
    return value->is(SyntaxKind::Fn);
  }
  Range range_of(SyntaxPtr node) const { return session_.range_of(Place{{declaration_, node->id}, {}}); }

  /// The declarations that can refer to the variable.
  std::vector<DeclarationId> declarations() const {
    const DeclarationId whole = whole_of(session_, declaration_);
    std::vector<DeclarationId> all;
    for (const DeclarationId id : session_.declarations(selection_.source)) {
      if (id != whole && session_.info(whole).kind != PieceKind::Statement) continue;
      all.push_back(id);
      const std::vector<DeclarationId>& chunks = session_.chunks(id);
      all.insert(all.end(), chunks.begin(), chunks.end());
    }
    return all;
  }

  /// False if there is no use, or one that a value cannot replace.
  bool find_uses() {
    for (const DeclarationId id : declarations())
      for (const Occurrence& occurrence : session_.occurrences(id)) {
        if (occurrence.target != target_ || occurrence.declares) continue;
        const std::vector<SyntaxPtr> path = path_to(session_.declaration(id).syntax, occurrence.node);
        if (path.empty()) return false;
        const SyntaxPtr name = path.back(), parent = path.size() > 1 ? path[path.size() - 2] : nullptr;
        if (!is_name(name) || (parent && parent->is(SyntaxKind::ScheduleGroup))) return false;
        if (id == declaration_ && is_inside(value_, name->id)) return false;
        if (!is_name(value_) && takes_names_alone(path)) return false;
        const bool in_string =
            std::ranges::any_of(path, [](SyntaxPtr node) { return node->is(SyntaxKind::Formatted); });
        uses_.push_back({id, name, parent, session_.range_of(Place{{id, name->id}, {}}), in_string});
      }
    std::ranges::sort(uses_, {}, [](const Use& use) { return use.range.begin; });
    return !uses_.empty();
  }

  /// For a statement, the value is its whole body.
  bool is_statement() const {
    return session_.declaration(declaration_).syntax == let_ && !session_.info(declaration_).part_of;
  }
  bool is_pure() const {
    const ExprPtr body = typed_body(session_, whole_of(session_, declaration_));
    const ExprPtr value = !body || is_statement() ? body : expr_of(body, declaration_, value_);
    return value && effects_of(session_, body, value).none() &&
           std::ranges::all_of(uses_, [&](const Use& use) {
             return typed_body(session_, whole_of(session_, use.declaration)) != nullptr;
           });
  }

  /// Whether a comment would be removed with the statement.
  bool has_own_comment() const {
    const Range value = range_of(value_);
    return has_comment(selection_.lexed(), {statement_.begin, value.begin}) ||
           has_comment(selection_.lexed(),
                       {value.end, with_separator(selection_.lexed(), statement_).value_or(statement_).end});
  }

  /// Whether no name in the value is rebound before the last use.
  bool keeps_names() const {
    const std::vector<FreeName> free = free_names(session_, declaration_, value_);
    if (free.empty()) return true;
    for (const DeclarationId id : declarations())
      for (const Occurrence& occurrence : session_.occurrences(id)) {
        if (!occurrence.declares) continue;
        const Range range = session_.range_of(occurrence, id);
        if (range.begin < statement_.end || range.begin > uses_.back().range.begin) continue;
        if (std::ranges::find(free, selection_.text_of(range), &FreeName::text) != free.end()) return false;
      }
    return true;
  }

  /// In a string, the value must not contain characters of strings and formats.
  bool fits(const Use& use) const {
    constexpr std::string_view kSigns = "\"\\{}:\r\n";
    return !use.in_string || selection_.text_of(range_of(value_)).find_first_of(kSigns) == std::string::npos;
  }

  const Selection& selection_;
  Session& session_;
  NameTarget target_;
  DeclarationId declaration_ = 0;
  SyntaxPtr let_ = nullptr, value_ = nullptr;
  Range statement_, removed_;
  std::vector<Use> uses_;
};

}  // namespace

void inline_variable(const Selection& selection, std::vector<Offer>& offers) {
  const std::optional<NamePlace> name = name_at(selection.session, selection.source, selection.range.begin);
  if (!name || name->target.kind != NameKind::Variable) return;
  auto inlining = std::make_shared<Inlining>(selection, name->target);
  if (inlining->is_possible())
    offers.push_back(
        {fmt::format("inline `%{}`", inlining->name()), [inlining] { return inlining->change(); }});
}

}  // namespace quern::ide
