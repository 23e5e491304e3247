#pragma once
// The declaration scanner: splits a file into top-level declarations and statements using only brackets,
// strings, comments and keywords, so that an edit reparses only the pieces whose text changed.

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/syntax/syntax.h"
#include "frontend/text/source.h"

namespace quern {

enum class PieceKind : uint8_t { Def, Op, Type, Import, Test, Infix, Static, Statement };

struct Piece {
  PieceKind kind;
  std::string name;  ///< of what is declared: "@f", "nn.conv2d", "Net"; the symbol of an infix; the variable
                     ///< that a statement binds, without %; the variables of a pattern, a blank behind each
  Range range;       ///< its text in the file, without the `;` that ends a statement
  std::string doc;   ///< the text of the `///` lines right above it
  std::vector<uint32_t> marks;  ///< of a definition: some ends of statements of its body, from its begin;
                                ///< where scanning can resume
};

/// Calls `f` with each variable that the piece of a statement binds, by the piece's name.
template <class F>
void for_each_name(std::string_view piece_name, const F& f) {
  while (!piece_name.empty()) {
    const size_t end = std::min(piece_name.find(' '), piece_name.size());
    f(piece_name.substr(0, end));
    piece_name.remove_prefix(std::min(end + 1, piece_name.size()));
  }
}
/// Whether a piece's name is that of a statement with a pattern.
inline bool names_pattern(std::string_view piece_name) { return piece_name.ends_with(' '); }

/// TVM printed Relay up to 0.19: the assumed version for a header without one.
constexpr int kLastTvm = 19;

struct ScanOutcome {
  std::vector<Piece> pieces;
  bool slash_names = false;             ///< the text starts with TVM's version header, after comments
  std::optional<int> tvm;               ///< TVM 0.`tvm` printed it, according to the header
  uint32_t begin = 0, end = 0;          ///< range of the pieces: after the version header, before metadata
  Range metadata;                       ///< the JSON after `#[metadata]`, empty if there is none
  std::vector<SyntaxProblem> problems;  ///< invalid UTF-8, unterminated strings and comments
};

ScanOutcome scan(std::string_view text);

/// The bytes [begin, old_end) of a text became [begin, new_end) of another.
struct TextEdit {
  uint32_t begin = 0, old_end = 0, new_end = 0;
};
/// The edit from `before` to `after`, between their common prefix and suffix.
TextEdit edit_between(std::string_view before, std::string_view after);

/// How many leading and trailing pieces of the new outcome are, except for their place, those of the old one,
/// and which old pieces the others replace.
struct Rescan {
  size_t same_at_start = 0, same_at_end = 0;
  std::vector<Piece> replaced;
};
/// Updates `outcome` (of the text before the edit) to that of `text`, rescanning only the pieces around the
/// edit.
Rescan rescan(ScanOutcome& outcome, std::string_view text, TextEdit edit);

/// The constructors of a `type` declaration, by name.
std::vector<std::string> constructor_names(std::string_view type_declaration);

/// For a REPL: whether the text has open brackets, strings or comments, and thus continues on further lines.
bool is_unfinished(std::string_view text);

}  // namespace quern
