#pragma once
// Syntax trees: one uniform node, driven by one table of kinds (syntax.def). Nodes carry ids; a separate
// table has their places in the text, so that texts that differ only in white space and comments have equal
// trees.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"
#include "ir/base/arena.h"

namespace quern {

enum class SyntaxKind : uint8_t {
#define QUERN_SYNTAX(kind, children) kind,
#include "frontend/syntax/syntax.def"
#undef QUERN_SYNTAX
};

struct Syntax {
  SyntaxKind kind;
  uint32_t id;  ///< preorder number, from 1; 0 is no node
  std::string_view text;
  std::span<const Syntax* const> children;  ///< as syntax.def lists them; optional ones may be null

  const Syntax* child(size_t i) const { return i < children.size() ? children[i] : nullptr; }
  bool is(SyntaxKind k) const { return kind == k; }
};
using SyntaxPtr = const Syntax*;

/// Whether a parameter is really a function attribute: `Primitive=1`.
inline bool is_function_attribute(SyntaxPtr p) {
  return p->is(SyntaxKind::AttributeParam) && !p->child(0) && p->child(1);
}

/// Whether it is written as a type. A name where a type may stand is one of these, also if it is a dim's.
bool is_type(SyntaxPtr s);

/// The nodes that bind a statement's variables: the statement itself for a `let` of one name and the like;
/// for a `let` with a pattern, the pattern's nodes, from left to right.
std::vector<SyntaxPtr> binders_of(SyntaxPtr statement);

/// The part of a definition or an operator that its users see: the tree without its bodies and its schedules, which
/// concern only how a body runs. Nodes have the ids of the whole tree. Any other tree is its own head.
SyntaxPtr head_of(SyntaxPtr root, Arena& arena);

/// The node with this id in a tree, or null.
SyntaxPtr find_node(SyntaxPtr root, uint32_t id);

/// Same kinds, texts and children. (Ids are then equal too.)
bool equal(SyntaxPtr a, SyntaxPtr b);
/// `(Def f (Params (TensorParam x _)) …)`: what `quern ir --stage ast` prints, one node per line.
std::string dump(SyntaxPtr node);

/// The tree of one declaration or statement.
struct ParsedTree {
  std::shared_ptr<const Arena> arena;
  SyntaxPtr root = nullptr;  ///< never null after parsing: an Error node if the text could not be parsed
  SyntaxPtr head = nullptr;  ///< `head_of` the root
  uint32_t node_count = 0;   ///< ids are 1 … node_count
};

/// A problem found in a text before it has a tree. Places in notes and fixes are ranges like its own, without
/// a declaration.
struct SyntaxProblem {
  DiagnosticKind kind;
  Range range;  ///< relative to the text that was parsed
  std::string message;
  std::vector<Note> notes = {};
  std::vector<Fix> fixes = {};
  friend bool operator==(const SyntaxProblem&, const SyntaxProblem&) = default;
};

/// Visits the range of a problem and those in its notes and fixes.
void for_each_range(SyntaxProblem& problem, const std::function<void(Range&)>& visit);
/// Moves a problem and the places in its notes and fixes.
void move(SyntaxProblem& problem, int64_t by);
/// The problem as a diagnostic of a declaration.
Diagnostic to_diagnostic(const SyntaxProblem& problem, uint32_t declaration);

struct ParseOutcome {
  ParsedTree tree;
  std::vector<Range> spans;  ///< by node id (entry 0 is the whole text), relative to the parsed text
  std::vector<SyntaxProblem> problems;
};

/// Parses one declaration or statement (without the `;` that ends it). Never fails: unparsable text becomes
/// an Error node with a problem.
ParseOutcome parse_declaration(std::string_view text, bool slash_names);
/// Parses a chunk of a body (frontend/parse/body_chunks.h): the root is a Block of its statements.
ParseOutcome parse_chunk(std::string_view text, bool slash_names);

}  // namespace quern
