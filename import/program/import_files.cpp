#include "import/program/import_files.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <sstream>

#include "import/importer.h"
#include "import/relay/module.h"
#include "import/tensorflow/model.h"
#include "ir/io/data_formats.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;

/// "NAME=REST" in two; nothing without a name.
std::optional<std::pair<std::string, std::string>> assignment(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) return std::nullopt;
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
  return parts;
}

/// A tensor from a file, or from numbers: integers are int64 and others float32; one alone has rank 0.
Result<TensorPtr> constant_from(const std::string& text) {
  if (is_data_file(text)) {
    auto entries = read_tensors(text);
    if (!entries) return entries.error();
    if (entries->size() != 1)
      return Failure{fmt::format("`{}` has {} tensors instead of one", text, entries->size())};
    return entries->front().second;
  }
  const auto parts = split(text);
  std::vector<double> numbers;
  bool is_integer = true;
  for (const std::string& part : parts) {
    char* end = nullptr;
    numbers.push_back(std::strtod(part.c_str(), &end));
    if (part.empty() || *end) return Failure{fmt::format("`{}` is neither a file of data nor numbers", text)};
    is_integer = is_integer && part.find_first_of(".eEnN") == std::string::npos;
  }
  if (numbers.empty()) return Failure{"there is no number"};
  const Shape shape = numbers.size() == 1 ? Shape{} : Shape{static_cast<int64_t>(numbers.size())};
  if (!is_integer) {
    std::vector<float> floats(numbers.begin(), numbers.end());
    return HostTensor::from<float>(DType::float32(), shape, floats);
  }
  std::vector<int64_t> integers(numbers.begin(), numbers.end());
  return HostTensor::from<int64_t>(DType::int64(), shape, integers);
}

struct Paths {
  fs::path text, weights;
};

Paths paths_of(const ImportRequest& request) {
  fs::path text = request.output;
  if (text.empty()) text = fs::path(request.model).filename().replace_extension(".relay");
  fs::path weights = text;
  return {text, weights.replace_extension(".safetensors")};
}

bool is_graph(const ImportRequest& request) {
  return request.model.ends_with(".pb") || request.model.ends_with(".pbtxt");
}

std::string source_of(const ImportRequest& request, const Model& model) {
  const std::string name = fs::path(request.model).filename().string();
  if (is_graph(request)) return fmt::format("Imported from `{}`.", name);
  return fmt::format("Imported from `{}`{}, operator set {}.", name,
                     model.producer.empty() ? "" : fmt::format(" ({})", model.producer), model.opset);
}

Result<ImportOptions> options_of(const ImportRequest& request, const Model& model, const Paths& paths) {
  ImportOptions options;
  options.source = source_of(request, model);
  options.weights = paths.weights.filename().string();
  for (const std::string& text : request.shapes) {
    const auto given = assignment(text);
    if (!given) return Failure{fmt::format("`--shape {}` has to be NAME=1,3,n", text)};
    options.shapes[given->first] = split(given->second);
  }
  for (const std::string& text : request.constants) {
    const auto given = assignment(text);
    if (!given) return Failure{fmt::format("`--constant {}` has to be NAME=FILE.npy or NAME=NUMBERS", text)};
    auto value = constant_from(given->second);
    if (!value) return Failure{fmt::format("--constant {}: {}", given->first, value.error().message)};
    options.constants[given->first] = std::move(*value);
  }
  return options;
}

Result<Done> write_text(const fs::path& path, const std::string& text) {
  data_detail::AtomicFile file(path.string());
  file.write(text);
  return file.commit();
}

/// A model of ONNX or a graph of TensorFlow.
Imported imported_model(const ImportRequest& request, const Paths& paths) {
  if (!request.params.empty())
    return {{}, {}, {"`--params` goes with a module of TVM's: other models have their weights"}};
  if (!request.results.empty() && !is_graph(request))
    return {{}, {}, {"`--result` goes with a graph of TensorFlow: a model of ONNX says its results"}};
  const auto model =
      is_graph(request) ? tensorflow::read_model(request.model, request.results) : read_model(request.model);
  if (!model) return {{}, {}, {model.error().message}};
  const auto options = options_of(request, *model, paths);
  if (!options) return {{}, {}, {options.error().message}};
  return import_model(*model, *options);
}

Imported imported_module(const ImportRequest& request, const Paths& paths) {
  if (!request.shapes.empty() || !request.constants.empty())
    return {{}, {}, {"`--shape` and `--constant` go with other models: a module of TVM's has its types"}};
  const auto graph = relay_import::read_object_graph(request.model);
  if (!graph) return {{}, {}, {graph.error().message}};
  relay_import::ModuleOptions options;
  options.source = fmt::format("Imported from `{}`.", fs::path(request.model).filename().string());
  options.weights = paths.weights.filename().string();
  if (!request.params.empty()) {
    auto params = read_tensors(request.params);
    if (!params) return {{}, {}, {params.error().message}};
    options.params = std::move(*params);
  }
  return relay_import::import_module(*graph, options);
}

size_t count_of(const Entries<TensorPtr>& weights) {
  size_t count = 0;
  for (const auto& [name, tensor] : weights) count += static_cast<size_t>(tensor->size());
  return count;
}

}  // namespace

std::vector<std::string> import_files(const ImportRequest& request) {
  const Paths paths = paths_of(request);
  if (paths.text.extension() != ".relay")
    return {fmt::format("`{}` has to end with .relay", paths.text.string())};
  const bool is_module = request.model.ends_with(".json");
  if (!is_module && !is_graph(request) && !request.model.ends_with(".onnx"))
    return {fmt::format(
        "`{}` ends with neither .onnx (a model of ONNX), .pb or .pbtxt (a frozen graph of TensorFlow) "
        "nor .json (a module of TVM)",
        request.model)};
  Imported imported = is_module ? imported_module(request, paths) : imported_model(request, paths);
  if (!imported.problems.empty()) return std::move(imported.problems);
  for (const fs::path& path : {paths.text, paths.weights})
    if (!request.overwrites && fs::exists(path) && (path == paths.text || !imported.weights.empty()))
      return {fmt::format("`{}` is there already; `--force` writes over it", path.string())};
  if (!imported.weights.empty())
    if (const auto written = write_tensors(paths.weights.string(), imported.weights); !written)
      return {written.error().message};
  if (const auto written = write_text(paths.text, imported.text); !written) return {written.error().message};
  if (imported.weights.empty())
    fmt::print("wrote {}\n", paths.text.string());
  else
    fmt::print("wrote {} and {} ({} weights of {} numbers)\n", paths.text.string(), paths.weights.string(),
               imported.weights.size(), count_of(imported.weights));
  return {};
}

}  // namespace quern::onnx
