// What nodes of images compute, against their definitions as loops over single elements.

#include <cmath>
#include <numeric>
#include <random>

#include "tests/import/nodes.h"

namespace quern::onnx {

namespace {

using Extents = std::vector<int64_t>;

int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), int64_t{1}, std::multiplies());
}

/// The place of an element in row-major order, or nothing outside of the tensor.
std::optional<size_t> place_in(const Extents& extents, const Extents& index) {
  int64_t place = 0;
  for (size_t i = 0; i < extents.size(); ++i) {
    if (index[i] < 0 || index[i] >= extents[i]) return std::nullopt;
    place = place * extents[i] + index[i];
  }
  return static_cast<size_t>(place);
}

/// The index of an element: the other way round.
Extents index_of(const Extents& extents, int64_t place) {
  Extents index(extents.size());
  for (size_t i = extents.size(); i-- > 0; place /= extents[i]) index[i] = place % extents[i];
  return index;
}

std::vector<std::string> texts_of(const Extents& extents) {
  std::vector<std::string> texts;
  for (int64_t extent : extents) texts.push_back(std::to_string(extent));
  return texts;
}

/// A tensor of which each element is known.
struct Data {
  Extents extents;
  std::vector<float> elements;

  float at(const Extents& index) const {
    const auto place = place_in(extents, index);
    return place ? elements[*place] : 0;
  }
  TensorPtr tensor() const { return floats(Shape(extents.begin(), extents.end()), elements); }
};

class ImageNodes : public testing::TestWithParam<unsigned> {
 protected:
  ImageNodes() : random_(GetParam()), model_(empty_model()) {
    model_.mutable_opset_import(0)->set_version(20);
    add_output(model_, "y");
  }

  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random_); }
  Extents draw(size_t count, int64_t low, int64_t high) {
    Extents drawn(count);
    for (int64_t& each : drawn) each = draw(low, high);
    return drawn;
  }

  /// An input of multiples of `unit` from -12 to 12.
  Data input(const std::string& name, const Extents& extents, float unit = 1) {
    Data data{extents, std::vector<float>(static_cast<size_t>(product(extents)))};
    for (float& element : data.elements) element = unit * static_cast<float>(draw(-12, 12));
    add(name, data);
    return data;
  }
  void add(const std::string& name, const Data& data) {
    add_input(model_, name, texts_of(data.extents));
    inputs_[name] = data.tensor();
  }

  /// Compares the result, interpreted or compiled.
  void expect(const Extents& extents, const std::vector<double>& wanted, double tolerance = 0) {
    const TensorPtr result = computed(model_, inputs_, GetParam() % 2 == 0);
    ASSERT_TRUE(result);
    EXPECT_EQ(Extents(result->shape().begin(), result->shape().end()), extents);
    const std::vector<double> elements = elements_of(result);
    ASSERT_EQ(elements.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(elements[i], wanted[i], tolerance) << i;
  }

  std::mt19937 random_;
  ::onnx::ModelProto model_;
  std::map<std::string, TensorPtr> inputs_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, ImageNodes, testing::Range(0U, 8U));

TEST_P(ImageNodes, LargestElementsOfBoxes) {
  const Data x = input("x", {2, 3, 6, 9});
  Data boxes{{5, 5}, {}};
  for (int64_t box = 0; box < 5; ++box) {
    const int64_t left = draw(-2, 16), top = draw(-2, 10);
    for (int64_t number : {draw(0, 1), left, top, left + draw(-2, 20), top + draw(-2, 20)})
      boxes.elements.push_back(static_cast<float>(number));
  }
  add("boxes", boxes);
  auto& node = add_node(model_, "MaxRoiPool", {"x", "boxes"}, {"y"});
  const Extents size = {2, 4};  // powers of two, so that the bounds of parts are exact
  set_integers(node, "pooled_shape", size);
  set_float(node, "spatial_scale", 0.5F);
  const Extents extents = {5, 3, 2, 4};
  std::vector<double> wanted;
  for (int64_t place = 0; place < product(extents); ++place) {
    const Extents at = index_of(extents, place);
    Extents begins, ends;
    for (int64_t axis : {0, 1}) {
      const double begin = std::round(boxes.at({at[0], 2 - axis}) / 2),
                   end = std::round(boxes.at({at[0], 4 - axis}) / 2);
      const double part =
          std::max(end - begin + 1, 1.0) / static_cast<double>(size[static_cast<size_t>(axis)]);
      const auto p = static_cast<double>(at[static_cast<size_t>(axis) + 2]);
      begins.push_back(std::max<int64_t>(0, static_cast<int64_t>(begin + std::floor(p * part))));
      ends.push_back(std::min(x.extents[static_cast<size_t>(axis) + 2],
                              static_cast<int64_t>(begin + std::ceil((p + 1) * part))));
    }
    double most = -INFINITY;
    for (int64_t i = begins[0]; i < ends[0]; ++i)
      for (int64_t j = begins[1]; j < ends[1]; ++j)
        most = std::max<double>(most, x.at({static_cast<int64_t>(boxes.at({at[0], 0})), at[1], i, j}));
    wanted.push_back(std::isfinite(most) ? most : 0);
  }
  expect(extents, wanted);
}

// Each of the four pixels around a place has its share, and those outside of the image are 0.
TEST_P(ImageNodes, DeformedWindows) {
  const int64_t groups = draw(1, 2), offset_groups = draw(1, 2);
  const Extents kernel = draw(2, 1, 3), strides = draw(2, 1, 2), dilations = draw(2, 1, 2);
  const Extents pads = GetParam() == 0 ? Extents(4) : draw(4, 0, 2);
  const Data x = input("x", {2, 4, 6, 7}), w = input("w", {6, 4 / groups, kernel[0], kernel[1]});
  Extents extents = {2, 6};
  for (size_t i = 0; i < 2; ++i)
    extents.push_back(
        (x.extents[i + 2] + pads[i] + pads[i + 2] - dilations[i] * (kernel[i] - 1) - 1) / strides[i] + 1);
  const Data offset =
      input("offset", {2, offset_groups * kernel[0] * kernel[1] * 2, extents[2], extents[3]}, 0.25F);
  const bool has_bias = GetParam() % 2 == 1;
  const Data bias = has_bias ? input("bias", {6}) : Data{{6}, std::vector<float>(6)};
  auto& node = add_node(model_, "DeformConv", {"x", "w", "offset", has_bias ? "bias" : ""}, {"y"});
  set_integer(node, "group", groups);
  set_integer(node, "offset_group", offset_groups);
  set_integers(node, "kernel_shape", kernel);
  set_integers(node, "strides", strides);
  set_integers(node, "dilations", dilations);
  if (GetParam() != 0) set_integers(node, "pads", pads);
  const auto read = [&](int64_t image, int64_t channel, double row, double column) {
    double sum = 0;
    for (int64_t i = 0; i < x.extents[2]; ++i)
      for (int64_t j = 0; j < x.extents[3]; ++j)
        sum += x.at({image, channel, i, j}) * std::max(0.0, 1 - std::abs(row - static_cast<double>(i))) *
               std::max(0.0, 1 - std::abs(column - static_cast<double>(j)));
    return sum;
  };
  std::vector<double> wanted;
  for (int64_t place = 0; place < product(extents); ++place) {
    const Extents at = index_of(extents, place);
    double sum = bias.at({at[1]});
    for (int64_t k = 0; k < 4 / groups * kernel[0] * kernel[1]; ++k) {
      const Extents of = index_of({4 / groups, kernel[0], kernel[1]}, k);
      const int64_t channel = at[1] / (6 / groups) * (4 / groups) + of[0];
      const int64_t moved = ((channel / (4 / offset_groups) * kernel[0] + of[1]) * kernel[1] + of[2]) * 2;
      sum += w.at({at[1], of[0], of[1], of[2]}) *
             read(at[0], channel,
                  static_cast<double>(at[2] * strides[0] + of[1] * dilations[0] - pads[0]) +
                      offset.at({at[0], moved, at[2], at[3]}),
                  static_cast<double>(at[3] * strides[1] + of[2] * dilations[1] - pads[1]) +
                      offset.at({at[0], moved + 1, at[2], at[3]}));
    }
    wanted.push_back(sum);
  }
  expect(extents, wanted);
}

TEST_P(ImageNodes, GridsOfMatrices) {
  const size_t axes = GetParam() < 4 ? 2 : 3;
  const bool aligns = GetParam() % 4 < 2;
  const Extents size = draw(axes, 2, 5);
  const Data theta = input("theta", {2, static_cast<int64_t>(axes), static_cast<int64_t>(axes) + 1}, 0.125F);
  Extents given = {2, 3}, extents = {2};
  given.insert(given.end(), size.begin(), size.end());
  extents.insert(extents.end(), size.begin(), size.end());
  extents.push_back(static_cast<int64_t>(axes));
  add_integers(model_, "size", given);
  auto& node = add_node(model_, "AffineGrid", {"theta", "size"}, {"y"});
  if (aligns) set_integer(node, "align_corners", 1);
  std::vector<double> wanted;
  for (int64_t place = 0; place < product(extents); ++place) {
    const Extents at = index_of(extents, place);
    double sum = theta.at({at[0], at.back(), static_cast<int64_t>(axes)});
    for (size_t j = 0; j < axes; ++j) {
      const size_t axis = axes - 1 - j;  // the first column is for x, along the last axis
      const auto i = static_cast<double>(at[axis + 1]), count = static_cast<double>(size[axis]);
      sum += theta.at({at[0], at.back(), static_cast<int64_t>(j)}) *
             (aligns ? 2 * i / (count - 1) - 1 : (2 * i + 1) / count - 1);
    }
    wanted.push_back(sum);
  }
  expect(extents, wanted, 1e-6);
}

TEST_P(ImageNodes, PartsAroundTheCentre) {
  const Data x = input("x", draw(3, 2, 6));
  const Extents axes = GetParam() < 4 ? Extents{0, 1, 2} : Extents{-1, 0};
  const Extents sizes = draw(axes.size(), 1, 9);
  add_integers(model_, "sizes", sizes);
  auto& node = add_node(model_, "CenterCropPad", {"x", "sizes"}, {"y"});
  if (GetParam() >= 4) set_integers(node, "axes", axes);
  Extents extents = x.extents, moves(3);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>((axes[i] + 3) % 3);
    const int64_t more = sizes[i] - extents[axis];
    moves[axis] = more < 0 ? -more / 2 : -(more / 2);
    extents[axis] = sizes[i];
  }
  std::vector<double> wanted;
  for (int64_t place = 0; place < product(extents); ++place) {
    Extents at = index_of(extents, place);
    for (size_t i = 0; i < 3; ++i) at[i] += moves[i];
    wanted.push_back(x.at(at));
  }
  expect(extents, wanted);
}

TEST_P(ImageNodes, SumsOfBlocks) {
  const auto count = static_cast<size_t>(draw(1, 3));
  const Extents block = draw(count, 1, 3), strides = draw(count, 1, 3), dilations = draw(count, 1, 2),
                pads = draw(2 * count, 0, 2), image = draw(count, 5, 7);
  Extents places;
  for (size_t i = 0; i < count; ++i)
    places.push_back((image[i] + pads[i] + pads[count + i] - dilations[i] * (block[i] - 1) - 1) / strides[i] +
                     1);
  const Data x = input("x", {2, 2 * product(block), product(places)});
  add_integers(model_, "image", image);
  add_integers(model_, "block", block);
  auto& node = add_node(model_, "Col2Im", {"x", "image", "block"}, {"y"});
  set_integers(node, "strides", strides);
  set_integers(node, "dilations", dilations);
  set_integers(node, "pads", pads);
  Extents extents = {2, 2};
  extents.insert(extents.end(), image.begin(), image.end());
  std::vector<double> wanted(static_cast<size_t>(product(extents)));
  for (int64_t place = 0; place < product(x.extents); ++place) {
    const Extents at = index_of(x.extents, place);
    const Extents in_block = index_of(block, at[1] % product(block)), of_block = index_of(places, at[2]);
    Extents to = {at[0], at[1] / product(block)};
    for (size_t i = 0; i < count; ++i)
      to.push_back(of_block[i] * strides[i] + in_block[i] * dilations[i] - pads[i]);
    if (const auto target = place_in(extents, to)) wanted[*target] += x.at(at);
  }
  expect(extents, wanted);
}

}  // namespace

}  // namespace quern::onnx
