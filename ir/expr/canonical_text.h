#pragma once
// Primitive functions and dims as text that is the same in every process: what caches of code go by.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

struct CanonicalText {
  std::string text;
  /// The dimension and index variables, by their numbers in the text.
  std::vector<Dim> variables;
};

/// A primitive function in prefix form. Variables and dims are numbers in the order in which they appear, so
/// names and what was made before do not matter: of two primitives with equal text, the one computes what
/// the other does, with `variables` for `variables`. (Equal primitives may have two texts where the normal
/// form of a dim went by what was made before; that is rare and costs a cache no more than room.)
CanonicalText canonical_text(const FnExpr& primitive);

/// A dim in prefix form over numbered variables; nothing where it has another variable.
std::optional<std::string> dim_to_text(Dim dim, std::span<const Dim> variables);
/// The other way; nothing where the text is no dim over so many variables.
std::optional<Dim> dim_from_text(std::string_view text, std::span<const Dim> variables);

}  // namespace quern
