// Small models of PyTorch (tests/import/make_models.py), graphs of TensorFlow (make_graph_models.py) and ONNX's test data as text,
// as stored beside them, and what the text computes. QUERN_UPDATE_GOLDENS=1 writes the texts.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "import/program/import_files.h"
#include "tests/import/text_results.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;

const fs::path kFolder = QUERN_SOURCE_DIR "/tests/import";

std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// The text of a model, written with its weights to the folder.
std::string imported(const fs::path& model, const fs::path& folder, const std::string& name) {
  const fs::path text = folder / (name + ".relay");
  EXPECT_EQ(import_files({model.string(), text.string(), {}, {}, true}), std::vector<std::string>());
  return content(text);
}

void expect_golden(const std::string& text, const std::string& name) {
  const fs::path golden = kFolder / "texts" / (name + ".relay");
  if (std::getenv("QUERN_UPDATE_GOLDENS")) std::ofstream(golden) << text;
  EXPECT_EQ(text, content(golden)) << golden;
}

struct Way {
  const char* model;
  bool interprets;
  const char* ending = ".onnx";
};

class PyTorchModels : public testing::TestWithParam<Way> {};

TEST_P(PyTorchModels, HaveTheirTextAndResults) {
  const std::string name = GetParam().model;
  const TemporaryFolder folder;
  const std::string text = imported(kFolder / "models" / (name + GetParam().ending), folder.path(), name);
  expect_golden(text, name);
  const auto stored = read_tensors((kFolder / "models" / (name + ".safetensors")).string());
  ASSERT_TRUE(stored);
  const TensorPtr wanted = stored->back().second;
  const std::map<std::string, TensorPtr> inputs(stored->begin(), std::prev(stored->end()));
  const TensorPtr found = result_of(text, folder.path(), inputs, GetParam().interprets);
  ASSERT_TRUE(found);
  ASSERT_EQ(found->shape(), wanted->shape());
  for (int64_t i = 0; i < wanted->size(); ++i)
    EXPECT_NEAR(element_as_double(*found, i), element_as_double(*wanted, i), 2e-5) << i;
}

INSTANTIATE_TEST_SUITE_P(Import, PyTorchModels,
                         testing::Values(Way{"conv_net", true}, Way{"conv_net", false}, Way{"encoder", true},
                                         Way{"encoder", false}, Way{"recurrent", true},
                                         Way{"recurrent", false}, Way{"mobilenet", true, ".pb"},
                                         Way{"mobilenet", false, ".pb"}, Way{"bert", true, ".pb"},
                                         Way{"bert", false, ".pb"}),
                         [](const auto& test) {
                           return fmt::format("{}_{}", test.param.model,
                                              test.param.interprets ? "interpreted" : "compiled");
                         });

class OnnxTexts : public testing::TestWithParam<const char*> {};

TEST_P(OnnxTexts, AreAsStored) {
  const std::string name = GetParam();
  const fs::path model = fs::path("/usr/share/libonnx-testdata/data/node") / ("test_" + name) / "model.onnx";
  if (!fs::exists(model)) GTEST_SKIP() << "libonnx-testdata is not installed";
  const TemporaryFolder folder;
  expect_golden(imported(model, folder.path(), name), name);
}

INSTANTIATE_TEST_SUITE_P(
    Import, OnnxTexts,
    testing::Values("gemm_all_attributes", "if", "loop11", "scan9_sum", "reshape_negative_dim",
                    "softmax_axis_1", "layer_normalization_3d_axis1_epsilon", "convtranspose_output_shape",
                    "averagepool_2d_same_upper", "expand_dim_changed", "gathernd_example_int32_batch_dim1",
                    "range_float_type_positive_delta", "celu", "scan_sum",
                    "tfidfvectorizer_tf_batch_uniandbigrams_skip5", "tfidfvectorizer_tf_only_bigrams_skip0"),
    [](const auto& test) { return std::string(test.param); });

}  // namespace

}  // namespace quern::onnx
