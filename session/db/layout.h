#pragma once
// The texts of a session cut into declarations, and which declaration is which from one text to the next.

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
  /// Declarations of a name that another one before them has, with that one.
  std::unordered_map<DeclarationId, DeclarationId> duplicates;
};

/// A piece as identity sees it.
struct PieceLook {
  PieceKind kind;
  std::string_view name, text;
};
/// For each piece after an edit, which one before the edit it is, or SIZE_MAX: the same kind and name, first
/// those with the same text, then the others in their order. What is paired keeps its order, so that for each
/// pair what stands before it and was there already is the same as before.
std::vector<size_t> pair_pieces(std::span<const PieceLook> before, std::span<const PieceLook> after);

}  // namespace quern
