#pragma once
// Primitive functions and dims as text that is the same in every process: the keys of code caches.

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

/// A primitive function in prefix form. Variables and dims are numbered in order of appearance, so names and
/// creation order do not matter: two primitives with equal text compute the same, with `variables` for
/// `variables`. (Equal primitives may have two texts where a dim's normal form depended on creation order;
/// that is rare and costs a cache only space.)
CanonicalText canonical_text(const FnExpr& primitive);

/// A dim in prefix form over numbered variables; nothing if it has another variable.
std::optional<std::string> dim_to_text(Dim dim, std::span<const Dim> variables);
/// The inverse; nothing if the text is not a dim over that many variables.
std::optional<Dim> dim_from_text(std::string_view text, std::span<const Dim> variables);

}  // namespace quern
