// ONNX's own test data (Debian: libonnx-testdata): each model is imported, run, and compared with the results beside it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "export/exporter.h"
#include "export/graph/write_model.h"
#include "import/importer.h"
#include "session/run/data_values.h"
#include "session/run/execution.h"
#include "tests/import/onnx_data.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;

/// The tests that do not pass, with why: a line is `folder/name`, those of one reason below it.
std::map<std::string, std::string> known_failures(std::initializer_list<const char*> lists) {
  std::map<std::string, std::string> known;
  for (const char* list : lists) {
    std::ifstream file(fs::path(QUERN_SOURCE_DIR "/tests/import") / list);
    std::string line, reason;
    while (std::getline(file, line)) {
      if (line.starts_with("# "))
        reason = line.substr(2);
      else if (!line.empty() && line.find('/') != std::string::npos)
        known[line] = reason;
    }
  }
  return known;
}

/// The data of bfloat16 are stored as integers with their bits, some under another shape.
TensorPtr as_declared(const TensorPtr& tensor, DType wanted, const Shape& shape) {
  const bool has_bits = wanted.code == DTypeCode::BFloat && tensor->dtype() == DType{DTypeCode::UInt, 16};
  const bool fits = tensor->size() == element_count(shape);
  if (!has_bits && (!fits || tensor->shape() == shape)) return tensor;
  return HostTensor::over(tensor, tensor->data(), has_bits ? wanted : tensor->dtype(),
                          fits ? shape : tensor->shape());
}

Shape shape_of(Type type) {
  Shape shape;
  for (Dim dim : type->dims) shape.push_back(as_const(dim).value_or(-1));
  return shape;
}

std::string first_difference(const HostTensor& found, const HostTensor& wanted) {
  if (found.dtype() != wanted.dtype() || found.shape() != wanted.shape())
    return fmt::format("{} instead of {}", type_to_string(found.dtype(), found.shape()),
                       type_to_string(wanted.dtype(), wanted.shape()));
  for (int64_t i = 0; i < wanted.size(); ++i) {
    const double a = element_as_double(found, i), b = element_as_double(wanted, i);
    // The tolerance of ONNX's own runner.
    const bool is_same =
        a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= 1e-7 + 1e-3 * std::abs(b);
    if (!is_same) return fmt::format("element {} is {} instead of {}", i, a, b);
  }
  return "";
}

class ModelTest {
 public:
  /// `is_exported`: what is run is an import of the export of the import.
  ModelTest(fs::path folder, const fs::path& scratch, bool is_exported)
      : folder_(std::move(folder)), scratch_(scratch), is_exported_(is_exported) {}

  /// Why it does not pass, or "".
  std::string failure() {
    const auto model = read_model((folder_ / "model.onnx").string());
    if (!model) return model.error().message;
    const auto inputs = tensors_beside(folder_, "input_", input_names(*model->graph));
    if (!inputs) return inputs.error().message;
    ImportOptions options;
    options.source = "A test.";
    options.weights = (scratch_ / "weights.safetensors").string();
    const Imported imported = import_with_constants(*model, *inputs, options);
    if (!imported.problems.empty()) return imported.problems.front();
    std::vector<TensorPtr> values;
    for (const std::string& name : input_names(*model->graph)) {
      if (options.constants.contains(name)) continue;
      if (!inputs->contains(name)) return fmt::format("there is no value for `{}`", name);
      values.push_back(inputs->at(name));
    }
    std::vector<std::string> outputs;
    for (const Port& port : model->graph->outputs) outputs.push_back(port.name);
    return is_exported_ ? run_exported(imported, options, values, outputs)
                        : run(imported, options.weights, values, outputs);
  }

 private:
  std::string run_exported(const Imported& imported, const ImportOptions& given,
                           const std::vector<TensorPtr>& values, const std::vector<std::string>& outputs) {
    Session session;
    ExportRequest request{session.make_module(), "main", {}};
    const SourceId source = session.add_source(request.module, "imported", imported.text);
    if (const auto diagnostics = session.check(source); has_errors(diagnostics))
      return diagnostics.front().message;
    if (!imported.weights.empty()) {
      if (const auto written = write_tensors(given.weights, imported.weights); !written)
        return written.error().message;
      const auto* fn = as<FnExpr>(session.definition(request.module, "main")->body);
      auto weights = load_value(given.weights, "", fn->params[0]->type,
                                [&](Type type) { return session.data(request.module, type); });
      if (!weights) return weights.error().message;
      request.values.emplace(fn->params[0]->name, std::move(*weights));
    }
    const Exported exported = export_function(session, request);
    if (!exported.problems.empty()) return exported.problems.front();
    const std::string file = (scratch_ / "exported.onnx").string();
    if (const auto written = write_model(exported.model, file); !written) return written.error().message;
    const auto model = read_model(file);
    if (!model) return model.error().message;
    ImportOptions options{{}, {}, "A test.", (scratch_ / "again.safetensors").string()};
    const Imported again = import_model(*model, options);
    if (!again.problems.empty()) return again.problems.front() + "\n" + imported.text;
    return run(again, options.weights, values, outputs);
  }

  /// The values are by place: names of parameters are not always those of the model.
  std::string run(const Imported& imported, const std::string& weights, const std::vector<TensorPtr>& values,
                  const std::vector<std::string>& outputs) {
    if (!imported.weights.empty())
      if (const auto written = write_tensors(weights, imported.weights); !written)
        return written.error().message;
    ExecutionOptions options;
    options.interpret = true;
    if (!imported.weights.empty()) options.params = weights;
    Session session;
    const ModuleId module = session.make_module();
    const SourceId source = session.add_source(module, "imported", imported.text);
    if (const auto diagnostics = session.check(source); has_errors(diagnostics))
      return fmt::format("{}\n{}", diagnostics.front().message, imported.text);
    const Definition* main = session.definition(module, "main");
    if (!main) return "@main has no type\n" + imported.text;
    size_t place = imported.weights.empty() ? 0 : 1;
    const auto* fn = as<FnExpr>(main->body);
    for (const TensorPtr& given : values) {
      const std::string file = (scratch_ / fmt::format("{}.safetensors", place)).string();
      const TensorPtr value =
          as_declared(given, fn->params[place]->type->dtype, shape_of(fn->params[place]->type));
      if (const auto written = write_tensors(file, {{"x", value}}); !written) return written.error().message;
      options.inputs[std::string(fn->params[place++]->name)] = file;
    }
    Execution execution(session, module, options, [](std::string_view) {});
    const auto outcome = execution.run_entry("main");
    if (!outcome || !outcome->value)
      return fmt::format("{}\n{}", outcome && outcome->failure ? outcome->failure->message : "no value",
                         imported.text);
    return compare(outputs, *outcome->value, imported.text);
  }

  std::string compare(const std::vector<std::string>& names, const Value& value, const std::string& text) {
    const auto wanted = tensors_beside(folder_, "output_", names);
    if (!wanted) return wanted.error().message;
    for (size_t i = 0; i < names.size(); ++i) {
      if (!wanted->contains(names[i])) continue;
      const Value& part = names.size() == 1 ? value : value.fields()->at(i);
      const std::string difference = first_difference(
          *part.as_tensor(),
          *as_declared(wanted->at(names[i]), part.as_tensor()->dtype(), wanted->at(names[i])->shape()));
      if (!difference.empty()) return fmt::format("{}: {}\n{}", names[i], difference, text);
    }
    return "";
  }

  fs::path folder_, scratch_;
  bool is_exported_;
};

class OnnxData : public testing::TestWithParam<const char*> {
 protected:
  /// Runs the models of a group; those that fail are those of a list.
  static void run(const fs::path& group, const std::map<std::string, std::string>& known, bool is_exported) {
    const TemporaryFolder scratch;
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(group))
      if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
    std::ranges::sort(folders);
    size_t passed = 0, listed = 0;
    for (const fs::path& folder : folders) {
      const std::string name = fmt::format("{}/{}", GetParam(), folder.filename().string());
      const std::string failure = ModelTest(folder, scratch.path(), is_exported).failure();
      const bool is_listed = known.contains(name);
      passed += failure.empty() ? 1 : 0;
      listed += is_listed ? 1 : 0;
      if (is_listed)
        EXPECT_NE(failure, "") << name << " passes now: take it from the list";
      else
        EXPECT_EQ(failure, "") << name;
    }
    RecordProperty("passed", static_cast<int>(passed));
    std::printf("%s: %zu of %zu pass, %zu are listed\n", GetParam(), passed, folders.size(), listed);
  }
};

TEST_P(OnnxData, HasTheResultsBesideIt) {
  const fs::path group = kOnnxData / GetParam();
  if (!fs::exists(group)) GTEST_SKIP() << "libonnx-testdata is not installed";
  run(group, known_failures({"onnx_data.txt"}), false);
}

// The oracle is the data: what was exported is imported again, and has the same results.
TEST_P(OnnxData, HasThemAfterAnExport) {
  const fs::path group = kOnnxData / GetParam();
  if (!fs::exists(group)) GTEST_SKIP() << "libonnx-testdata is not installed";
  run(group, known_failures({"onnx_data.txt", "onnx_exported.txt"}), true);
}

INSTANTIATE_TEST_SUITE_P(Import, OnnxData,
                         testing::Values("node", "simple", "pytorch-converted", "pytorch-operator"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace

}  // namespace quern::onnx
