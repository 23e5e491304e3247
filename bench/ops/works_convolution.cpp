#include <fmt/format.h>

#include <numeric>

#include "bench/ops/work.h"

namespace quern::bench {

namespace {

constexpr uint64_t kSeed = 7;

/// A convolution in one, two or three dimensions, batch 1.
struct Convolution {
  std::string name, group;
  int64_t in, out;  ///< channels
  std::vector<int64_t> extents, kernel, stride, padding, dilation;
  int64_t groups = 1;
  bool transposed = false;
  bool winograd = false;
  DType dtype = DType::float32();
};

std::vector<int64_t> all(size_t rank, int64_t value) { return std::vector<int64_t>(rank, value); }

std::vector<int64_t> result_extents(const Convolution& c) {
  std::vector<int64_t> extents;
  for (size_t d = 0; d < c.extents.size(); ++d) {
    int64_t reach = (c.kernel[d] - 1) * c.dilation[d] + 1;
    extents.push_back(c.transposed ? (c.extents[d] - 1) * c.stride[d] + reach - 2 * c.padding[d]
                                   : (c.extents[d] + 2 * c.padding[d] - reach) / c.stride[d] + 1);
  }
  return extents;
}

int64_t product_of(const std::vector<int64_t>& list) {
  return std::accumulate(list.begin(), list.end(), int64_t{1}, std::multiplies<>());
}

std::string python_module(const Convolution& c) {
  auto tuple = [](const std::vector<int64_t>& list) { return fmt::format("({},)", fmt::join(list, ", ")); };
  return fmt::format("nn.Conv{}{}d({}, {}, {}, stride={}, padding={}, dilation={}, groups={}, bias=False)",
                     c.transposed ? "Transpose" : "", c.extents.size(), c.in, c.out, tuple(c.kernel),
                     tuple(c.stride), tuple(c.padding), tuple(c.dilation), c.groups);
}

// The axes of an operand whose channels come last (data), or whose kernel extents come first (weights).
void set_channels_last(Work& work, size_t rank) {
  std::vector<size_t> data{0}, weight, result{0, rank + 1};
  for (size_t d = 0; d < rank; ++d) {
    data.push_back(2 + d);
    weight.push_back(2 + d);
    result.push_back(1 + d);
  }
  data.push_back(1);
  weight.insert(weight.end(), {1, 0});
  work.inputs[0].quern_axes = data;
  work.inputs[1].quern_axes = weight;
  work.result_axes = result;
}

Work work_of(const Convolution& c, Layout layout) {
  Work work{c.name, c.group};
  size_t rank = c.extents.size();
  Shape data{1, c.in}, weight = c.transposed ? Shape{c.in, c.out / c.groups} : Shape{c.out, c.in / c.groups};
  data.insert(data.end(), c.extents.begin(), c.extents.end());
  weight.insert(weight.end(), c.kernel.begin(), c.kernel.end());
  work.inputs = {{data}, {weight}};

  std::string attributes = fmt::format("strides={}, padding={}, dilation={}, groups={}", list_text(c.stride),
                                       list_text(c.padding), list_text(c.dilation), c.groups);
  if (layout == Layout::ChannelsLast && !c.transposed && rank > 1) {
    set_channels_last(work, rank);
    attributes += rank == 2 ? R"(, data_layout="NHWC", kernel_layout="HWIO")"
                            : R"(, data_layout="NDHWC", kernel_layout="DHWIO")";
  }
  // Of a transposed convolution each element of the data meets each of its filters.
  int64_t places = product_of(c.transposed ? c.extents : result_extents(c));
  work.flops = 2.0 * static_cast<double>(places * product_of(weight));
  if (c.winograd) {
    work.tolerance = 1e-3;
    work.winograd_tile = 4;
  }
  work.onednn = LibraryCall{c.transposed ? "transposed_convolution" : "convolution",
                            {{"strides", c.stride},
                             {"padding", c.padding},
                             {"dilation", c.dilation},
                             {"groups", {c.groups}},
                             {"extents", result_extents(c)},
                             {"winograd", {c.winograd ? 1 : 0}}}};
  if (!c.winograd) work.torch_module = python_module(c);
  if (c.dtype != DType::float32()) set_dtype(work, c.dtype);
  work.source =
      main_of(work.inputs, fmt::format("nn.conv{}d{}(%a, %b, {}{})", rank, c.transposed ? "_transpose" : "",
                                       attributes, sums_attribute(c.dtype)));
  return work;
}

/// Which operand a derivative is by.
enum class Operand { Data, Weight };

/// The derivative of a convolution by one of its operands, made by `grad`, beside the library's backward primitive. Its
/// inputs are the other operand, and the derivative by the result.
Work gradient_of(const Convolution& c, Operand by, Layout layout) {
  const Work forward = work_of(c, layout);
  const bool by_data = by == Operand::Data;
  Work work{c.name + (by_data ? "dx" : "dw"), "gradient"};
  Input result{{1, c.out}};
  for (int64_t extent : result_extents(c)) result.shape.push_back(extent);
  if (!forward.inputs[0].quern_axes.empty()) result.quern_axes = forward.inputs[0].quern_axes;
  const Input &own = forward.inputs[by_data ? 0 : 1], &other = forward.inputs[by_data ? 1 : 0];
  work.inputs = {other, result};
  // Where the axes of Quern's result are among the library's.
  work.result_axes.resize(own.quern_axes.size());
  for (size_t k = 0; k < own.quern_axes.size(); ++k) work.result_axes[own.quern_axes[k]] = k;
  work.flops = forward.flops;
  work.onednn =
      LibraryCall{by_data ? "convolution_by_data" : "convolution_by_weight", forward.onednn->numbers};
  work.onednn->numbers["operand"] = own.shape;
  const std::string call = forward.source.substr(forward.source.find("nn.conv"));
  const std::string attributes =
      call.substr(call.find(", strides"), call.rfind(')') - call.find(", strides"));
  const std::string type = operand_type(own),
                    shape = type.substr(7, type.rfind(',') - 7);  // of "Tensor[shape, dtype]"
  work.source = main_of(work.inputs,
                        fmt::format("grad(fn (%p: {}) {{ sum(nn.conv{}d({}{}) * %b) }})(zeros({})).0", type,
                                    c.extents.size(), by_data ? "%p, %a" : "%a, %p", attributes, shape));
  return work;
}

Convolution square(std::string name, std::string group, int64_t extent, int64_t in, int64_t out,
                   int64_t kernel, int64_t stride, int64_t groups = 1) {
  return {std::move(name), std::move(group),   in,        out,   all(2, extent), all(2, kernel),
          all(2, stride),  all(2, kernel / 2), all(2, 1), groups};
}

// As many groups as fit: each has `in` and `out` channels.
Convolution random_grouped(Draw& draw) {
  int64_t groups = draw.pick({2, 4, 8, 16, 32}), in = draw.integer(2, 32), out = draw.integer(2, 32);
  Convolution c = square("", "grouped", draw.integer(7, 56), in * groups, out * groups, draw.pick({1, 3, 5}),
                         draw.pick({1, 2}), groups);
  return c;
}

Convolution random_dilated(Draw& draw) {
  int64_t dilation = draw.pick({2, 3, 4}), kernel = draw.pick({3, 5});
  Convolution c =
      square("", "dilated", draw.integer(14, 56), draw.integer(8, 128), draw.integer(8, 128), kernel, 1);
  c.dilation = all(2, dilation);
  c.padding = all(2, kernel / 2 * dilation);
  return c;
}

Convolution random_transposed(Draw& draw) {
  int64_t kernel = draw.pick({2, 3, 4}), stride = draw.pick({1, 2});
  Convolution c = square("", "transposed", draw.integer(4, 32), draw.integer(8, 128), draw.integer(8, 128),
                         kernel, stride);
  c.padding = all(2, (kernel - 1) / 2);
  c.transposed = true;
  return c;
}

Convolution random_conv1d(Draw& draw) {
  int64_t kernel = draw.pick({1, 3, 5, 9});
  return {"",
          "conv1d",
          draw.integer(8, 256),
          draw.integer(8, 256),
          {draw.integer(64, 1024)},
          {kernel},
          {draw.pick({1, 2})},
          {kernel / 2},
          {1}};
}

Convolution random_conv3d(Draw& draw) {
  int64_t kernel = draw.pick({1, 3, 3});
  return {"",
          "conv3d",
          draw.integer(3, 64),
          draw.integer(8, 64),
          {draw.integer(4, 16), draw.integer(8, 28), draw.integer(8, 28)},
          all(3, kernel),
          all(3, draw.pick({1, 2})),
          all(3, kernel / 2),
          all(3, 1)};
}

}  // namespace

// The layers of ResNet-18 and MobileNet in the table of the TVM paper (Chen et al. 2018, table 2).
void add_convolutions(std::vector<Work>& works, Layout layout) {
  const std::vector<Convolution> dense = {
      square("C1", "C", 224, 3, 64, 7, 2),    square("C2", "C", 56, 64, 64, 3, 1),
      square("C3", "C", 56, 64, 64, 1, 1),    square("C4", "C", 56, 64, 128, 3, 2),
      square("C5", "C", 56, 64, 128, 1, 2),   square("C6", "C", 28, 128, 128, 3, 1),
      square("C7", "C", 28, 128, 256, 3, 2),  square("C8", "C", 28, 128, 256, 1, 2),
      square("C9", "C", 14, 256, 256, 3, 1),  square("C10", "C", 14, 256, 512, 3, 2),
      square("C11", "C", 14, 256, 512, 1, 2), square("C12", "C", 7, 512, 512, 3, 1)};
  for (const Convolution& c : dense) works.push_back(work_of(c, layout));
  for (const Convolution& c : dense)
    for (const Operand by : {Operand::Data, Operand::Weight}) works.push_back(gradient_of(c, by, layout));
  for (size_t index : {1, 5, 8}) {
    Convolution c = dense[index];
    c.name += "w";
    c.group = "Cw";
    c.winograd = true;
    works.push_back(work_of(c, layout));
  }
  for (const auto& [name, dtype] :
       {std::pair("int8C6", DType::int8()), std::pair("bf16C6", DType::bfloat16())}) {
    Convolution c = dense[5];
    c.name = name;
    c.group = "low";
    c.dtype = dtype;
    works.push_back(work_of(c, layout));
  }
  int64_t number = 0;
  auto depthwise = [&](int64_t extent, int64_t channels, int64_t stride) {
    works.push_back(work_of(
        square(fmt::format("D{}", ++number), "D", extent, channels, channels, 3, stride, channels), layout));
  };
  depthwise(112, 32, 1);
  depthwise(112, 64, 2);
  for (int64_t extent = 56, channels = 128; extent > 7; extent /= 2, channels *= 2)
    for (int64_t stride : {1, 2}) depthwise(extent, channels, stride);
  depthwise(7, 1024, 1);
}

void add_random_convolutions(std::vector<Work>& works, Layout layout) {
  uint64_t seed = kSeed;
  for (auto random : {random_grouped, random_dilated, random_transposed, random_conv1d, random_conv3d}) {
    Draw draw(++seed);
    for (int64_t i = 0; i < 10; ++i) {
      Convolution c = random(draw);
      c.name = fmt::format("{}/{}", c.group, i);
      works.push_back(work_of(c, layout));
    }
  }
}

}  // namespace quern::bench
