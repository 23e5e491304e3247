// ONNX's own test data (Debian: libonnx-testdata): each model is imported, run, and compared with the results beside it.

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>

#include "import/importer.h"
#include "session/run/execution.h"
#include "tests/import/onnx_data.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;

/// The tests that do not pass, with why: a line is `folder/name`, those of one reason below it.
std::map<std::string, std::string> known_failures() {
  std::map<std::string, std::string> known;
  std::ifstream file(QUERN_SOURCE_DIR "/tests/import/onnx_data.txt");
  std::string line, reason;
  while (std::getline(file, line)) {
    if (line.starts_with("# "))
      reason = line.substr(2);
    else if (!line.empty() && line.find('/') != std::string::npos)
      known[line] = reason;
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
  ModelTest(fs::path folder, const fs::path& scratch) : folder_(std::move(folder)), scratch_(scratch) {}

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
    return run(*model, imported, *inputs, options);
  }

 private:
  std::string run(const Model& model, const Imported& imported,
                  const std::map<std::string, TensorPtr>& inputs, const ImportOptions& given) {
    if (!imported.weights.empty())
      if (const auto written = write_tensors(given.weights, imported.weights); !written)
        return written.error().message;
    ExecutionOptions options;
    options.interpret = true;
    if (!imported.weights.empty()) options.params = given.weights;
    Session session;
    const ModuleId module = session.make_module();
    const SourceId source = session.add_source(module, "imported", imported.text);
    if (const auto diagnostics = session.check(source); has_errors(diagnostics))
      return fmt::format("{}\n{}", diagnostics.front().message, imported.text);
    const Definition* main = session.definition(module, "main");
    if (!main) return "@main has no type\n" + imported.text;
    // By place: names of parameters are not always those of the model.
    size_t place = imported.weights.empty() ? 0 : 1;
    const auto* fn = as<FnExpr>(main->body);
    for (const std::string& name : input_names(*model.graph)) {
      if (given.constants.contains(name)) continue;
      const std::string file = (scratch_ / fmt::format("{}.safetensors", place)).string();
      if (!inputs.contains(name)) return fmt::format("there is no value for `{}`", name);
      const TensorPtr value =
          as_declared(inputs.at(name), fn->params[place]->type->dtype, shape_of(fn->params[place]->type));
      if (const auto written = write_tensors(file, {{"x", value}}); !written) return written.error().message;
      options.inputs[std::string(fn->params[place++]->name)] = file;
    }
    Execution execution(session, module, options, [](std::string_view) {});
    const auto outcome = execution.run_entry("main");
    if (!outcome || !outcome->value)
      return fmt::format("{}\n{}", outcome && outcome->failure ? outcome->failure->message : "no value",
                         imported.text);
    return compare(model, *outcome->value, imported.text);
  }

  std::string compare(const Model& model, const Value& value, const std::string& text) {
    std::vector<std::string> names;
    for (const Port& port : model.graph->outputs) names.push_back(port.name);
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
};

class OnnxData : public testing::TestWithParam<const char*> {};

TEST_P(OnnxData, HasTheResultsBesideIt) {
  const fs::path group = kOnnxData / GetParam();
  if (!fs::exists(group)) GTEST_SKIP() << "libonnx-testdata is not installed";
  const TemporaryFolder scratch;
  const auto known = known_failures();
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(group))
    if (fs::exists(entry.path() / "model.onnx")) folders.push_back(entry.path());
  std::ranges::sort(folders);
  size_t passed = 0, listed = 0;
  for (const fs::path& folder : folders) {
    const std::string name = fmt::format("{}/{}", GetParam(), folder.filename().string());
    const std::string failure = ModelTest(folder, scratch.path()).failure();
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

INSTANTIATE_TEST_SUITE_P(Import, OnnxData,
                         testing::Values("node", "simple", "pytorch-converted", "pytorch-operator"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace

}  // namespace quern::onnx
