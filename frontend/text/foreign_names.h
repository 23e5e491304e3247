#pragma once
// Names of other libraries, and what they are here.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quern {

/// The counterpart of a name from another library (PyTorch, NumPy, TVM's Python, JAX).
struct ForeignName {
  std::string_view name;     ///< there, without the module where all mean the same by it: "cat"
  std::string_view meaning;  ///< here: "concatenate"; "" if there is no single name
  std::string_view remark;   ///< how to write it, if the name alone does not tell
};
/// All of them, sorted by name.
std::span<const ForeignName> foreign_names();
/// `name` may begin with its module: "torch.relu", "np.matmul", "jnp.where", "F.softmax".
const ForeignName* find_foreign_name(std::string_view name);
/// The modules of other libraries that a dotted name may begin with ("torch.nn.functional.").
bool has_foreign_module(std::string_view name);
/// The name, and what each module that it may begin with leaves of it, the longest first: "jax.random.split",
/// "random.split", "split".
std::vector<std::string_view> without_foreign_modules(std::string_view name);
/// The last of these, the name without its module.
std::string_view without_foreign_module(std::string_view name);
/// The type or dtype for a foreign name: "float32" for "float", "float64" for "double"; "" for others.
std::string_view foreign_type(std::string_view name);
/// The dtype of a name, be it foreign: "float32" for "float32", "float" and "f32"; "" for others.
std::string named_dtype(std::string_view name);
/// The dtype meant by a misspelt or foreign name.
std::optional<std::string> dtype_meant_by(std::string_view name);
/// The attribute for a foreign name: "axis" for "dim", "keepdims" for "keepdim"; "" for others.
std::string_view foreign_attribute(std::string_view name);

}  // namespace quern
