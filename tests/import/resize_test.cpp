// ONNX's Resize where the installed test data have no model of it: the line that it becomes.

#include <gmock/gmock.h>

#include <fstream>
#include <limits>
#include <sstream>

#include "import/program/import_files.h"
#include "tests/import/models.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

class Resizes : public testing::Test {
 protected:
  Resizes() : model_(empty_model()) {}

  /// The text of `x` resized along its last two axes to `sizes`, or why there is none.
  std::string resized(const std::vector<std::string>& shape, const std::vector<int64_t>& sizes,
                      const std::vector<std::pair<std::string, std::string>>& attributes) {
    add_input(model_, "x", shape);
    add_output(model_, "y");
    auto& node = add_node(model_, "Resize", {"x", "", "", "sizes"}, {"y"});
    for (const auto& [name, value] : attributes) {
      auto* attribute = node.add_attribute();
      attribute->set_name(name);
      attribute->set_type(::onnx::AttributeProto::STRING);
      attribute->set_s(value);
    }
    auto* axes = node.add_attribute();
    axes->set_name("axes");
    axes->set_type(::onnx::AttributeProto::INTS);
    axes->add_ints(2);
    axes->add_ints(3);
    auto* tensor = model_.mutable_graph()->add_initializer();
    tensor->set_name("sizes");
    tensor->set_data_type(::onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(sizes.size()));
    for (const int64_t size : sizes) tensor->add_int64_data(size);
    const auto path = folder_ / "out.relay";
    const auto problems = import_files({saved(model_, folder_ / "model.onnx"), path.string(), {}, {}, false});
    if (!problems.empty()) return problems.front();
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  const TemporaryFolder folder_;
  ::onnx::ModelProto model_;
};

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The examples of the operator's page, of operator set 18.
TEST_F(Resizes, NotLargerThanTheSizes) {
  EXPECT_THAT(resized({"1", "1", "2", "2"}, {7, 8}, {{"keep_aspect_ratio_policy", "not_larger"}}),
              AllOf(HasSubstr("size=[7, 7]"), Not(HasSubstr("scales"))));
}

TEST_F(Resizes, NotSmallerThanTheSizes) {
  EXPECT_THAT(resized({"1", "1", "2", "2"}, {7, 8}, {{"keep_aspect_ratio_policy", "not_smaller"}}),
              HasSubstr("size=[8, 8]"));
}

TEST_F(Resizes, ToExtentsThatAreRounded) {
  EXPECT_THAT(resized({"1", "1", "2", "4"}, {1, 3}, {{"keep_aspect_ratio_policy", "not_smaller"}}),
              AllOf(HasSubstr("size=[2, 3]"), HasSubstr("scales=[[3, 4], [3, 4]]")));
}

TEST_F(Resizes, TheRatioOfAnExtentThatIsNotKnown) {
  EXPECT_THAT(resized({"1", "1", "2", "w"}, {1, 3}, {{"keep_aspect_ratio_policy", "not_smaller"}}),
              HasSubstr("Resize `y`: keeps the aspect ratio of axis 3, w to 3, which have to be known"));
}

TEST_F(Resizes, SizesThatCannotBe) {
  EXPECT_THAT(
      resized({"1", "1", "2", "4"}, {int64_t{1} << 62, 3}, {{"keep_aspect_ratio_policy", "not_smaller"}}),
      HasSubstr("Resize `y`: keeps the aspect ratio of axis 2, 2 to 4611686018427387904"));
}

TEST_F(Resizes, ScalesThatCannotBe) {
  for (const float scale : {1e-30F, -1.0F, 1e30F, std::numeric_limits<float>::quiet_NaN()}) {
    model_ = empty_model();
    add_input(model_, "x", {"4"});
    add_output(model_, "y");
    add_node(model_, "Resize", {"x", "", "scales"}, {"y"});
    add_weight(model_, "scales", {1}, {scale});
    const auto problems = import_files(
        {saved(model_, folder_ / "model.onnx"), (folder_ / "out.relay").string(), {}, {}, false});
    EXPECT_THAT(problems, testing::ElementsAre(HasSubstr("Resize `y`: scales by"))) << scale;
  }
}

TEST_F(Resizes, SymmetricPositions) {
  EXPECT_THAT(resized({"1", "1", "2", "w"}, {1, 3},
                      {{"mode", "linear"}, {"coordinate_transformation_mode", "half_pixel_symmetric"}}),
              HasSubstr("coordinate_transformation_mode=\"half_pixel_symmetric\""));
}

TEST_F(Resizes, PartsOfOtherThanImages) {
  EXPECT_THAT(resized({"1", "1", "2", "2"}, {3, 3},
                      {{"mode", "cubic"}, {"coordinate_transformation_mode", "tf_crop_and_resize"}}),
              HasSubstr("Resize `y`: cuts out parts"));
}

}  // namespace

}  // namespace quern::onnx
