#pragma once
// What exporters write into names: the part of the model that a node is from, and what a weight is to it.

#include <string>
#include <string_view>
#include <vector>

#include "import/onnx/model.h"
#include "import/text/term.h"

namespace quern::onnx {

/// The part of the model that a node is from: `layer1 0 conv1` of "/layer1/layer1.0/conv1/Conv".
std::vector<std::string> scope_of(const Node& node);
/// The name for a value: that of the model where a person gave it, otherwise the operator's.
std::string pretty_name(std::string_view name, std::string_view op);
/// Whether the name of a constant says no more than that it is one ("Const_3", "mul/y").
bool is_nameless(std::string_view name);
/// Whether a constant has a name that an exporter made up ("onnx::Conv_193", "193").
bool is_anonymous(const import_text::Term& term);
/// What such a constant is called by the node that takes it: "layer1.0.conv1.weight".
std::string role_name(const Node& node, size_t input);

}  // namespace quern::onnx
