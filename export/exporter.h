#pragma once
// A function of the language as a model of ONNX.

#include <string>
#include <vector>

#include "import/onnx/model.h"
#include "ir/value/value.h"
#include "session/session.h"

namespace quern::onnx {

struct ExportRequest {
  ModuleId module = 0;
  std::string function;  ///< its name without `@`
  /// Of parameters whose values are known, by name: their tensors become initializers.
  std::map<std::string, Value> values;
};

struct Exported {
  Model model;
  std::vector<std::string> problems;  ///< why there is no model, a line each
};

/// The graph of a function: its parameters that have no value are inputs, records and tuples a tensor each by the path of its
/// fields. Calls of other functions are unfolded; all operators without a counterpart are reported, not the first.
Exported export_function(Session& session, const ExportRequest& request);

}  // namespace quern::onnx
