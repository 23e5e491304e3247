#pragma once
// Splits a text into its pieces. Internal to frontend/parse/scanner.cpp, splitter.cpp and rescan.cpp.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/parse/scanner.h"
#include "frontend/parse/scanner_tokens.h"

namespace quern::scanner_detail {

/// An outcome without pieces: what surrounds them, and the bytes that are no UTF-8.
ScanOutcome frame_of(std::string_view text);

class Splitter {
 public:
  /// Adds to the pieces and problems of `outcome`, a frame.
  Splitter(std::string_view text, ScanOutcome& outcome)
      : text_(text), outcome_(outcome), tokens_(text, outcome.problems) {}

  /// Splits from `start` on; before each piece, `stop` tells whether the rest is already known.
  void run(uint32_t start, const std::function<bool(uint32_t begin)>& stop = nullptr);

  /// Goes on in the body of a definition, from the end of one of its statements to the first for whose end
  /// `known` holds. Adds the piece's marks on the way. False if the piece ends before.
  bool run_inside(Piece& piece, uint32_t start, const std::function<bool(uint32_t end)>& known);

  std::string take_doc() { return tokens_.take_doc(); }

 private:
  std::string_view word(const Token& t) const {
    return text_.substr(t.range.begin, t.range.end - t.range.begin);
  }
  std::optional<PieceKind> declaration_at(const Token& t) const;
  Token piece(Token first);
  std::string names_of_pattern(std::string_view text) const;
  std::string bound_name(std::string_view statement) const;
  bool continues(const Token& t) const;
  bool begins_schedule(const Token& t) const;
  bool ends_without_body(const Piece& piece, const Token& t) const;

  std::string_view text_;
  ScanOutcome& outcome_;
  Tokens tokens_;
};

}  // namespace quern::scanner_detail
