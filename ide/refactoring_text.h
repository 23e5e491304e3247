#pragma once
// Helpers of refactorings for texts and syntax: free names, ranges of statements, brackets.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "ide/lexed_text.h"
#include "ide/name_places.h"

namespace quern::ide {

/// The line break of the text's first line; "\n" if it has one line.
std::string line_end(std::string_view text);

/// The blanks before an offset, if nothing else precedes it on its line.
std::optional<std::string> indentation_at(std::string_view text, uint32_t offset);

/// `%base` without its sigil, or `base_2` and so on if the text has such a variable; likewise for names with the sigil
/// `@`, operators and types.
std::string free_name(const LexedText& text, LexemeKind kind, const std::string& base);

/// A name for a variable with this value, after the operator, the function or the field that yields it.
std::string name_after(SyntaxPtr value);

/// Whether a comment is in a range.
bool has_comment(const LexedText& text, Range range);

/// A statement with its `;` and, if it is alone on its line, the line. Nothing if no `;` follows it.
std::optional<Range> with_separator(const LexedText& text, Range statement);

/// The path from the root to the node with this id; empty if there is none.
std::vector<SyntaxPtr> path_to(SyntaxPtr root, uint32_t id);

/// Whether a node is in the tree of another: nodes are numbered in preorder.
bool is_inside(SyntaxPtr tree, uint32_t id);

/// Whether it is an expression that may stand alone, and not just a name.
bool can_be_extracted(SyntaxPtr node);

/// Whether its content is evaluated for single elements, or for the members of a family.
bool is_of_elements(SyntaxPtr node);

/// Whether the parent delimits this child, so that any expression there needs no brackets.
bool is_delimited(SyntaxPtr parent, SyntaxPtr child);

/// Whether an expression needs brackets when it replaces a name in `parent`, which may be null.
bool needs_brackets(SyntaxPtr value, SyntaxPtr parent, SyntaxPtr name);

/// A name in some syntax that is declared outside of it.
struct FreeName {
  NameTarget target;
  std::string text;  ///< without its sigil
};
/// Each once, in the order of the nodes.
std::vector<FreeName> free_names(Session& session, DeclarationId declaration, SyntaxPtr node);

}  // namespace quern::ide
