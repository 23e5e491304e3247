#pragma once
// What the text of an imported model computes.

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "ir/io/data_files.h"
#include "session/run/execution.h"

namespace quern::onnx {

/// The result of `@main` of a text whose weights are in a folder; null, with a failure of the test, where it has none.
inline TensorPtr result_of(const std::string& text, const std::filesystem::path& folder,
                           const std::map<std::string, TensorPtr>& inputs, bool interprets) {
  ExecutionOptions options;
  options.interpret = interprets;
  for (const auto& [input, tensor] : inputs) {
    options.inputs[input] = folder / (input + ".npy");
    if (!write_tensors(options.inputs[input], {{"", tensor}})) return nullptr;
  }
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "model.relay", text, folder.string());
  for (const LocatedDiagnostic& diagnostic : session.check(source)) ADD_FAILURE() << diagnostic.message;
  Execution execution(session, module, options, [](std::string_view) {});
  for (DeclarationId statement : session.statements(source))
    if (execution.run(statement).failure) return nullptr;
  const auto outcome = execution.run_entry("main");
  if (outcome && outcome->failure) ADD_FAILURE() << outcome->failure->message;
  return outcome && outcome->value ? outcome->value->as_tensor() : nullptr;
}

}  // namespace quern::onnx
