#pragma once
// The texts of a session split into declarations, and the identity of declarations across edits.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/parse/scanner.h"
#include "session/db/ids.h"

namespace quern {

/// A source's text and its pieces, each with its declaration.
struct Layout {
  std::shared_ptr<const std::string> text = std::make_shared<const std::string>();
  ScanOutcome scan;
  std::vector<DeclarationId> ids;  ///< one per piece
  bool names_constants = false;    ///< whether `relay.Constant` is in the text
  /// Declarations that repeat the name of an earlier one, with that one.
  std::unordered_map<DeclarationId, DeclarationId> duplicates;
};

/// The parts of a piece that decide its identity.
struct PieceLook {
  PieceKind kind;
  std::string_view name, text;
};
/// For each piece after an edit, its counterpart before the edit, or SIZE_MAX: one of the same kind and name,
/// first those with the same text, then the others in order. Pairs keep their order, so the surviving pieces
/// before each pair are the same as before.
std::vector<size_t> pair_pieces(std::span<const PieceLook> before, std::span<const PieceLook> after);

}  // namespace quern
