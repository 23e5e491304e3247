#pragma once
// Suggestions for names that do not exist.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"

namespace quern {

/// The candidate nearest to `name` by optimal string alignment (Damerau-Levenshtein without edits inside a
/// transposition), if near enough to be a likely slip. A difference only in case, or a missing prefix ("relu"
/// for "nn.relu"), is the smallest slip.
std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// The end of a message, "; did you mean `%x`?", and the fix that writes it at a place; both empty if there
/// is none.
struct Suggestion {
  std::string text;
  std::vector<Fix> fixes;
};
Suggestion suggest(const std::optional<std::string>& meant, const Place& place);

/// The counterpart of a name from another library (PyTorch, NumPy, TVM's Python, JAX).
struct ForeignName {
  std::string_view name;     ///< there, without the module: "cat"
  std::string_view meaning;  ///< here: "concatenate"; "" if there is no single name
  std::string_view remark;   ///< how to write it, if the name alone does not tell
};
/// `name` may begin with its module: "torch.relu", "np.matmul", "jnp.where", "F.softmax".
const ForeignName* find_foreign_name(std::string_view name);
/// The modules of other libraries that a dotted name may begin with ("torch.nn.functional.").
bool has_foreign_module(std::string_view name);
/// The name without its module.
std::string_view without_foreign_module(std::string_view name);
/// The type or dtype for a foreign name: "float32" for "float", "float64" for "double"; "" for others.
std::string_view foreign_type(std::string_view name);
/// The dtype meant by a misspelt or foreign name.
std::optional<std::string> dtype_meant_by(std::string_view name);
/// The attribute for a foreign name: "axis" for "dim", "keepdims" for "keepdim"; "" for others.
std::string_view foreign_attribute(std::string_view name);

}  // namespace quern
