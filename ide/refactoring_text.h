#pragma once
// What refactorings ask of texts and syntax: names that are free, what a statement takes with it, brackets.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "ide/lexed_text.h"
#include "ide/name_places.h"

namespace quern::ide {

/// How the text's first line ends; "\n" where it has one line.
std::string line_end(std::string_view text);

/// The blanks before an offset, where nothing else stands before it on its line.
std::optional<std::string> indentation_at(std::string_view text, uint32_t offset);

/// `%base` without its sigil, or `base_2` and so on where the text has such a variable; of names with the
/// sigil `@`, of operators and of types likewise.
std::string free_name(const LexedText& text, LexemeKind kind, const std::string& base);

/// What a variable of this value may be called: after the operator, the function or the field that gives it.
std::string name_after(SyntaxPtr value);

/// Whether a comment stands in a range.
bool has_comment(const LexedText& text, Range range);

/// What goes with a statement: its `;` and, where it has a line of its own, the line. Nothing where no `;`
/// follows it.
std::optional<Range> with_separator(const LexedText& text, Range statement);

/// From the root to the node of a number; empty where there is none.
std::vector<SyntaxPtr> path_to(SyntaxPtr root, uint32_t id);

/// Whether a node is in the tree of another: nodes are numbered in preorder.
bool is_inside(SyntaxPtr tree, uint32_t id);

/// Whether what stands in it is evaluated for single elements, or for the members of a family.
bool is_of_elements(SyntaxPtr node);

/// Whether nothing around it can split an expression that is this child.
bool is_delimited(SyntaxPtr parent, SyntaxPtr child);

/// Whether an expression has to have brackets in the place of a name that `parent`, if there is one, has.
bool needs_brackets(SyntaxPtr value, SyntaxPtr parent, SyntaxPtr name);

/// A name in some syntax that is declared outside of it.
struct FreeName {
  NameTarget target;
  std::string text;  ///< without its sigil
};
/// Each once, in the order of the nodes.
std::vector<FreeName> free_names(Session& session, DeclarationId declaration, SyntaxPtr node);

}  // namespace quern::ide
