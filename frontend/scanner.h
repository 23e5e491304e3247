#pragma once
// The declaration scanner: splits a file into top-level declarations and statements by brackets, strings,
// comments and keywords alone, so that an edit parses only the pieces whose text changed.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/source.h"
#include "frontend/syntax.h"

namespace quern {

enum class PieceKind : uint8_t { Def, Op, Type, Import, Test, Infix, Static, Statement };

struct Piece {
  PieceKind kind;
  std::string name;  ///< of what is declared: "@f", "nn.conv2d", "Net"; the symbol of an infix; the variable
                     ///< that a statement binds, without %
  Range range;       ///< its text in the file, without the `;` that ends a statement
  std::string doc;   ///< the text of the `///` lines right above it
};

struct ScanOutcome {
  std::vector<Piece> pieces;
  bool slash_names = false;             ///< the file starts with a version header
  Range metadata;                       ///< the JSON after `#[metadata]`, empty where there is none
  std::vector<SyntaxProblem> problems;  ///< invalid UTF-8, unterminated strings and comments
};

ScanOutcome scan(std::string_view text);

/// For a REPL: whether the text has open brackets, strings or comments, so that more lines belong to it.
bool is_unfinished(std::string_view text);

}  // namespace quern
