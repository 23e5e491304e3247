#pragma once
// What is computed of constants alone, while a model is imported.

#include <optional>

#include "import/node/call.h"

namespace quern::onnx {

/// The output of a node with one whose inputs are all small constants; nothing where that cannot be evaluated.
std::optional<Term> fold_constants(const Node& node, int64_t opset, const std::vector<Term>& inputs,
                                   import_text::Typer& typer);
/// The same under a name of its own where it becomes a weight.
Term named(Term term, const std::string& name);

/// Writes a node: by what is known of its inputs, or as its operator's row in the table says. Throws a Refusal.
void convert_node(Call& call);

}  // namespace quern::onnx
