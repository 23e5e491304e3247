#pragma once
// The declaration scanner: splits a file into top-level declarations and statements by brackets, strings,
// comments and keywords alone, so that an edit parses only the pieces whose text changed.

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
/// Whether it is the name of a piece whose statement has a pattern.
inline bool names_pattern(std::string_view piece_name) { return piece_name.ends_with(' '); }

/// Relay was printed up to TVM 0.19: what a header without a version of TVM is taken for.
constexpr int kLastTvm = 19;

struct ScanOutcome {
  std::vector<Piece> pieces;
  bool slash_names = false;             ///< the text starts with TVM's version header, after comments
  std::optional<int> tvm;               ///< TVM 0.`tvm` printed it, as far as the header tells
  uint32_t begin = 0, end = 0;          ///< where the pieces are: after the version header, before metadata
  Range metadata;                       ///< the JSON after `#[metadata]`, empty where there is none
  std::vector<SyntaxProblem> problems;  ///< invalid UTF-8, unterminated strings and comments
};

ScanOutcome scan(std::string_view text);

/// The bytes [begin, old_end) of a text became [begin, new_end) of another.
struct TextEdit {
  uint32_t begin = 0, old_end = 0, new_end = 0;
};
/// The edit that makes `after` of `before`: between what both begin with and what both end in.
TextEdit edit_between(std::string_view before, std::string_view after);

/// How many pieces of the new outcome are, but for their place, pieces of the old one, and which ones the
/// others replace.
struct Rescan {
  size_t same_at_start = 0, same_at_end = 0;
  std::vector<Piece> replaced;
};
/// Makes `outcome` (of the text before the edit) that of `text`, looking at the pieces around the edit alone.
Rescan rescan(ScanOutcome& outcome, std::string_view text, TextEdit edit);

/// The constructors of a `type` declaration, by name.
std::vector<std::string> constructor_names(std::string_view type_declaration);

/// For a REPL: whether the text has open brackets, strings or comments, so that more lines belong to it.
bool is_unfinished(std::string_view text);

}  // namespace quern
