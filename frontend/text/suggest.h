#pragma once
// What a reader probably meant by a name that does not exist.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/diagnostics.h"

namespace quern {

/// The candidate nearest to `name` by optimal string alignment (Damerau-Levenshtein without edits inside a
/// transposition), when near enough to be a likely slip. Case alone, or a missing prefix ("relu" for
/// "nn.relu"), is the smallest slip.
std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates);

/// The end of a message, "; did you mean `%x`?", and the fix that writes it at a place; both empty without
/// one.
struct Suggestion {
  std::string text;
  std::vector<Fix> fixes;
};
Suggestion suggest(const std::optional<std::string>& meant, const Place& place);

/// What a name of another library (PyTorch, NumPy, TVM's Python, JAX) is called here.
struct ForeignName {
  std::string_view name;     ///< there, without the module: "cat"
  std::string_view meaning;  ///< here: "concatenate"; "" where there is no single name
  std::string_view remark;   ///< how to write it, where the name alone does not say
};
/// `name` may begin with its module: "torch.relu", "np.matmul", "jnp.where", "F.softmax".
const ForeignName* find_foreign_name(std::string_view name);
/// The modules of other libraries that a dotted name may begin with ("torch.nn.functional.").
bool has_foreign_module(std::string_view name);
/// The name without its module.
std::string_view without_foreign_module(std::string_view name);
/// A type or dtype by its name elsewhere: "float" is "float32", "double" "float64"; "" for others.
std::string_view foreign_type(std::string_view name);
/// The dtype that a misspelt or foreign name stands for.
std::optional<std::string> dtype_meant_by(std::string_view name);
/// An attribute by its name elsewhere: "dim" is "axis", "keepdim" "keepdims"; "" for others.
std::string_view foreign_attribute(std::string_view name);

}  // namespace quern
