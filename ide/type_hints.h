#pragma once
// Hints for the types that a text omits.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "session/session.h"

namespace quern::ide {

/// The type of a `let`, a graph variable, a parameter, or of a function's result, that has no annotation.
struct TypeHint {
  uint32_t offset;       ///< where the annotation would be
  std::string text;      ///< `: Tensor[(2, 3), float32]`, ` -> float32`
  Range name;            ///< what it is the type of: a name without its sigil, or the word `fn`
  bool can_be_inserted;  ///< it can be written there without changing any other type
  friend bool operator==(const TypeHint&, const TypeHint&) = default;
};

/// The hints of declarations as they were when these last had no errors.
struct KnownHints {
  struct Declared {
    size_t text;                  ///< a hash of the declaration's text
    std::vector<TypeHint> hints;  ///< offsets from the declaration's begin
  };
  std::unordered_map<DeclarationId, Declared> by_declaration;
};

/// The hints of a source within a range, in text order. A declaration that has errors, even if another one causes them,
/// has the hints cached in `known` from when the same text had none; else those on lines without an error, none of
/// which can be inserted.
std::vector<TypeHint> type_hints(Session& session, SourceId source, Range within, KnownHints& known);

}  // namespace quern::ide
