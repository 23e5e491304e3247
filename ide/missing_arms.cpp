// Adds the missing arms of a `match`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

#include "frontend/infer/values/coverage.h"
#include "ide/refactoring.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

/// The placeholder result of an added arm.
constexpr std::string_view kToDo = "%todo";
/// The maximum number of arms to add.
constexpr size_t kMost = 64;

/// Converts patterns of a text for the search for missing cases: constructors, tuples, and the rest.
class Patterns {
 public:
  Patterns(Session& session, ModuleId module) : scope_(session.scope(module)) {}

  /// Null for a pattern without a meaning.
  PatternPtr of(SyntaxPtr s) {
    if (!s) return nullptr;
    switch (s->kind) {
      case SyntaxKind::WildcardPattern:
      case SyntaxKind::VariablePattern: return make({PatternKind::Wildcard, nullptr, {}}, {});
      case SyntaxKind::TuplePattern: return make({PatternKind::Tuple, nullptr, {}}, s->children);
      case SyntaxKind::ConstructorPattern: return constructor(s);
      default: return nullptr;
    }
  }

 private:
  PatternPtr constructor(SyntaxPtr s) {
    const DataDefinition* data = scope_.data_of_constructor(s->text);
    const DataConstructor* made = data ? find_constructor(*data, s->text) : nullptr;
    if (!made || !made->interned) return nullptr;
    std::vector<SyntaxPtr> parts(s->children.begin(), s->children.end());
    for (SyntaxPtr part : s->children) {
      if (!part->is(SyntaxKind::FieldPattern)) continue;
      const auto field = std::ranges::find(made->fields, part->text, &DataField::name);
      if (field == made->fields.end()) return nullptr;
      parts[static_cast<size_t>(field - made->fields.begin())] = part->child(0);
    }
    if (parts.size() != made->fields.size()) return nullptr;
    return make({PatternKind::Constructor, nullptr, {}, nullptr, made->interned}, parts);
  }
  PatternPtr make(Pattern pattern, std::span<const SyntaxPtr> parts) {
    std::vector<PatternPtr> made;
    for (SyntaxPtr part : parts) {
      made.push_back(of(part));
      if (!made.back()) return nullptr;
    }
    pattern.parts = arena_.copy(made);
    return arena_.make<Pattern>(pattern);
  }

  Scope& scope_;
  Arena arena_;
};

class MissingArms {
 public:
  explicit MissingArms(const Selection& selection) : selection_(selection), session_(selection.session) {
    for (SyntaxPtr node : selection.around)
      if (node->is(SyntaxKind::Match) && node->text == "match") match_ = node;
  }

  bool is_possible() {
    if (!match_) return false;
    Patterns patterns(session_, selection_.module());
    std::vector<PatternPtr> rows;
    for (SyntaxPtr arm : match_->children.subspan(1)) {
      rows.push_back(patterns.of(arm->child(0)));
      if (!rows.back()) return false;
    }
    if (rows.empty()) missing_ = constructors();
    // A search reports only a few of many missing cases.
    for (Coverage found = coverage_of(rows); !rows.empty() && !found.missing.empty();) {
      for (const std::string& one : found.missing) {
        missing_.push_back(spelled(one));
        const ParseOutcome parsed =
            parse_declaration(fmt::format("match (0) {{ {} => 0 }}", missing_.back()), false);
        const SyntaxPtr arm = parsed.tree.root->child(1);
        rows.push_back(arm ? patterns.of(arm->child(0)) : nullptr);
        if (!rows.back() || missing_.size() > kMost) return false;
      }
      found = coverage_of(rows);
    }
    return !missing_.empty() && find_end();
  }

  Result<Change> change() const {
    const std::string& text = selection_.text();
    const std::string end = line_end(text);
    const uint32_t brace = selection_.range_of(match_).end - 1;
    const auto indentation = indentation_at(text, brace);
    const std::string before = indentation ? end + *indentation + "  " : " ";
    std::string arms = needs_comma_ ? "," : "";
    for (size_t i = 0; i < missing_.size(); ++i)
      arms += fmt::format("{}{} => {}{}", before, missing_[i], kToDo,
                          indentation || i + 1 < missing_.size() ? "," : "");
    const bool has_blank = insertion_ < brace;
    if (!has_blank) arms += indentation ? end + *indentation : " ";
    return with_fewer_errors(session_, selection_.source, {{{insertion_, insertion_}, arms}}, kToDo);
  }

 private:
  /// The arms of a match that has none, over the constructors of the matched type.
  std::vector<std::string> constructors() const {
    const Type type = selection_.type_of(match_->child(0));
    const DataDefinition* data = type ? session_.data(selection_.module(), type) : nullptr;
    if (!data) return {};
    std::vector<std::string> all;
    for (const DataConstructor& made : data->constructors) {
      const std::vector<std::string> parts(made.fields.size(), "_");
      const std::string name = name_here(made.name);
      all.push_back(parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", ")));
    }
    return all;
  }

  /// Finds the end of the last arm, or of its comma.
  bool find_end() {
    const Range whole = selection_.range_of(match_);
    const LexedText& lexed = selection_.lexed();
    const auto after =
        std::partition_point(lexed.lexemes.begin(), lexed.lexemes.end(),
                             [&](const Lexeme& lexeme) { return lexeme.range.end <= whole.end; });
    const auto close = static_cast<size_t>(after - lexed.lexemes.begin()) - 1;
    if (close < 1 || !lexed.is_symbol(close, "}")) return false;
    insertion_ = lexed.lexemes[close - 1].range.end;
    needs_comma_ = match_->children.size() > 1 && !lexed.is_symbol(close - 1, ",");
    return true;
  }

  /// A pattern with the module's names of constructors.
  std::string spelled(const std::string& pattern) const {
    std::string text;
    for (size_t i = 0; i < pattern.size();) {
      size_t end = i;
      while (end < pattern.size() &&
             (std::isalnum(static_cast<unsigned char>(pattern[end])) != 0 || pattern[end] == '_'))
        ++end;
      if (end == i) {
        text += pattern[i++];
        continue;
      }
      text += name_here(pattern.substr(i, end - i));
      i = end;
    }
    return text;
  }
  std::string name_here(const std::string& name) const {
    if (name == "_" || session_.find_constructor(selection_.module(), name)) return name;
    for (const auto& [alias, declaration] : session_.import_names(selection_.module()))
      if (std::string here = fmt::format("{}.{}", alias, name);
          session_.find_constructor(selection_.module(), here))
        return here;
    return name;
  }

  const Selection& selection_;
  Session& session_;
  SyntaxPtr match_ = nullptr;
  std::vector<std::string> missing_;
  uint32_t insertion_ = 0;
  bool needs_comma_ = false;
};

}  // namespace

void add_missing_arms(const Selection& selection, std::vector<Offer>& offers) {
  auto arms = std::make_shared<MissingArms>(selection);
  if (arms->is_possible()) offers.push_back({"add the missing arms", [arms] { return arms->change(); }});
}

}  // namespace quern::ide
