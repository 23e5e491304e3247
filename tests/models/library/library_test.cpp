// The models of stdlib/models against PyTorch's modules of the same weights: results and inner activations, on two inputs.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "frontend/text/render.h"
#include "ir/io/data_files.h"
#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"
#include "tests/models/library/formula.h"
#include "tests/models/library/rows.h"

namespace quern::library_models {
namespace {

/// Differences from the reference, in proportion to its largest element.
constexpr double kTolerance = 1e-4;
/// As in make_references.py.
constexpr size_t kSamples = 512;

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const auto& kind : {image_rows, vision_rows, sequence_rows})
    std::ranges::copy(kind(), std::back_inserter(all));
  return all;
}

/// The functions of a row's program, compiled.
class Model {
 public:
  explicit Model(const Row& row) : module_(session_.make_module()), compiler_(session_) {
    const SourceId source = session_.add_source(module_, row.name + ".relay", row.program);
    for (const LocatedDiagnostic& d : session_.check(source)) ADD_FAILURE() << render_terminal(d, false);
  }

  std::vector<const Variable*> parameters(const char* function) {
    const Definition* definition = session_.definition(module_, function);
    if (!definition) return {};
    const auto params = as<FnExpr>(definition->body)->params;
    return {params.begin(), params.end()};
  }
  DataLookup lookup() {
    return [this](Type type) { return session_.data(module_, type); };
  }

  /// The tensors of the result, in order; none, and a failure of the test, where there is no result.
  Entries<TensorPtr> call(const char* function, std::vector<Value> arguments) {
    const Compiler::Call call = compiler_.function(module_, function);
    Entries<TensorPtr> tensors;
    if (!call) {
      ADD_FAILURE() << "there is no function @" << function;
      return tensors;
    }
    RecordingHost host;
    const EvaluationResult result = call(std::move(arguments), host);
    if (result)
      add("", result.value(), tensors);
    else
      ADD_FAILURE() << result.error().message;
    return tensors;
  }

 private:
  static void add(const std::string& name, const Value& value, Entries<TensorPtr>& tensors) {
    if (const TensorPtr tensor = value.as_tensor()) {
      tensors.emplace_back(name, tensor);
      return;
    }
    const auto* data = value.object_as<DataObject>();
    const std::vector<Value>& fields = *value.fields();
    for (size_t i = 0; i < fields.size(); ++i)
      add(part_name(name, data ? data->constructor.fields[i] : "", i), fields[i], tensors);
  }

  Session session_;
  ModuleId module_;
  Compiler compiler_;
};

/// What is stored of a tensor: elements at equal distances, which share no factor with the extents, so that they are from all
/// places of each axis.
std::vector<double> samples(const HostTensor& tensor) {
  const auto size = static_cast<size_t>(tensor.size());
  size_t distance = std::max<size_t>(1, size / kSamples);
  while (std::gcd(distance, size) != 1) ++distance;
  std::vector<double> some;
  for (size_t i = 0; i < size; i += distance)
    some.push_back(element_as_double(tensor, static_cast<int64_t>(i)));
  return some;
}

double largest(const std::vector<double>& numbers) {
  double most = 0;
  for (const double x : numbers) most = std::max(most, std::abs(x));
  return most;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0;
  for (size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::isfinite(a[i]) ? std::abs(a[i] - b[i]) : INFINITY);
  return most;
}

/// The entries of a row's references by name.
std::map<std::string, TensorPtr> references(const std::string& name) {
  const auto entries =
      read_tensors(fmt::format("{}/tests/models/library/references/{}.safetensors", QUERN_SOURCE_DIR, name));
  EXPECT_TRUE(entries) << "make_references.py writes it: " << (entries ? "" : entries.error().message);
  return entries ? std::map<std::string, TensorPtr>(entries->begin(), entries->end())
                 : std::map<std::string, TensorPtr>();
}

class LibraryModels : public testing::TestWithParam<Row> {};

TEST_P(LibraryModels, GivePyTorchsResults) {
  const std::map<std::string, TensorPtr> wanted = references(GetParam().name);
  Model model(GetParam());
  std::map<std::string, std::vector<double>> first;
  for (const int number : {0, 1}) {
    std::vector<Value> arguments;
    for (const Variable* p : model.parameters("main"))
      arguments.push_back(p->type->is_tensor() ? Value::tensor(input(std::string(p->name), number, p->type))
                                               : weights("", p->type, model.lookup()));
    const Entries<TensorPtr> found = model.call("main", std::move(arguments));
    EXPECT_GE(found.size(), 3u) << "a result and two inner activations are compared";
    EXPECT_EQ(wanted.size(), 3 * found.size()) << "the references are of other results";
    for (const auto& [name, tensor] : found) {
      const auto sampled = wanted.find(fmt::format("{}.input{}", name, number));
      const auto shape = wanted.find(name + ".shape");
      ASSERT_TRUE(sampled != wanted.end() && shape != wanted.end()) << name;
      const auto extents = shape->second->elements<int64_t>();
      EXPECT_EQ(tensor->shape(), Shape(extents.begin(), extents.end())) << name;
      const std::vector<double> reference = samples(*sampled->second), got = samples(*tensor);
      const double tolerance = kTolerance * largest(reference);
      EXPECT_LE(distance(got, reference), tolerance) << "result " << name << " of input " << number;
      if (number == 0)
        first[name] = got;
      else
        EXPECT_GT(distance(got, first[name]), 100 * tolerance)
            << "result " << name << " is the same for both inputs";
    }
  }
}

TEST_P(LibraryModels, BeginWithWeightsOfTheirScale) {
  Model model(GetParam());
  const Entries<TensorPtr> tensors = model.call("begin", {Value(Scalar::from_int(DType::int32(), 7))});
  std::set<double> firsts;
  for (const auto& [path, tensor] : tensors) {
    const int64_t size = tensor->size();
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < size; ++i) {
      const double x = element_as_double(*tensor, i);
      sum += x;
      squares += x * x;
    }
    ASSERT_TRUE(std::isfinite(squares)) << path;
    if (tensor->shape().size() < 2 || size < 200) continue;
    EXPECT_TRUE(firsts.insert(element_as_double(*tensor, 0)).second)
        << path << " is drawn with a key used before";
    const double mean = sum / static_cast<double>(size), wanted = GetParam().deviation(path, tensor->shape());
    const double error = 4 / std::sqrt(static_cast<double>(size));
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(size) - mean * mean) / wanted, 1, error) << path;
    EXPECT_NEAR(mean / wanted, 0, error) << path;
  }
  EXPECT_FALSE(firsts.empty());
}

INSTANTIATE_TEST_SUITE_P(Rows, LibraryModels, testing::ValuesIn(rows()),
                         [](const auto& info) { return info.param.name; });

}  // namespace

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

}  // namespace quern::library_models
