#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kModelNumbers = {DType::float32(), DType::float32(), DType::float64(),
                                          DType::int32()};

/// A tensor of any shape with at least one element, and a call of the operator on it.
Row on_any_shape(const std::string& name, const std::vector<DType>& dtypes, const std::string& call,
                 int64_t min_rank = 0, uint64_t ulps = 0, Values values = Values::Any) {
  return {
      name,
      [=](Random& random) {
        return Arguments{{random.tensor(random.pick(dtypes), random.shape(min_rank, 4, 1), values)}, call};
      },
      ulps};
}
/// A tensor of a shape drawn by `shape`, and a call on it.
template <class F>
Row on_images(const std::string& name, const F& make, uint64_t ulps = 0, double absolute = 0) {
  return {name, make, ulps, absolute};
}

TensorPtr image(Random& random, DType dtype, Values values = Values::Any) {
  return random.tensor(
      dtype, {random.integer(1, 2), random.integer(1, 3), random.integer(2, 7), random.integer(2, 7)},
      values);
}
TensorPtr vector_for(Random& random, const TensorPtr& data, size_t axis, Values values) {
  return random.tensor(data->dtype(), {data->shape()[axis]}, values);
}
std::string layout(Random& random) { return random.chance(0.5) ? "" : ", layout=\"NHWC\""; }

Row pool(const std::string& name, Values values) {
  return on_images(name, [=](Random& random) {
    DType dtype = random.pick(values == Values::Any ? kModelNumbers : std::vector<DType>{DType::float32()});
    std::string call = name + "(%a";
    if (name == "nn.avg_pool2d")
      call += fmt::format(", pool_size=[{}, {}], strides=[{}, 1], padding=[1, 1]{}", random.integer(2, 3),
                          random.integer(2, 3), random.integer(1, 2),
                          random.chance(0.5) ? ", count_include_pad=True" : "");
    return Arguments{{image(random, dtype, values)}, call + layout(random) + ")"};
  });
}
Row adaptive(const std::string& name) {
  return on_images(
      name,
      [=](Random& random) {
        return Arguments{
            {image(random, DType::float32(), Values::SmallIntegers)},
            fmt::format("{}(%a, output_size=[{}, {}])", name, random.integer(1, 4), random.integer(1, 4))};
      },
      1);
}

Arguments conv1d(Random& random) {
  int64_t channels = random.integer(1, 4);
  return {{random.tensor(DType::float32(), {random.integer(1, 2), channels, random.integer(4, 9)},
                         Values::SmallIntegers),
           random.tensor(DType::float32(), {random.integer(1, 3), channels, 3}, Values::SmallIntegers)},
          fmt::format("nn.conv1d(%a, %b, strides=[{}], padding=[{}])", random.integer(1, 2),
                      random.integer(0, 2))};
}

Arguments batch_matmul(Random& random) {
  int64_t b = random.integer(0, 3), m = random.integer(1, 5), k = random.integer(1, 9),
          n = random.integer(1, 5);
  bool ta = random.chance(0.5), tb = random.chance(0.5);
  auto side = [&](bool swapped, int64_t x, int64_t y) { return swapped ? Shape{b, y, x} : Shape{b, x, y}; };
  return {{random.tensor(DType::float32(), side(ta, m, k), Values::SmallIntegers),
           random.tensor(DType::float32(), side(tb, k, n), Values::SmallIntegers)},
          fmt::format("nn.batch_matmul(%a, %b, transpose_a={}, transpose_b={})", ta ? "True" : "False",
                      tb ? "True" : "False")};
}
Arguments matmul(Random& random) {
  int64_t m = random.integer(1, 5), k = random.integer(1, 9), n = random.integer(1, 5);
  bool tb = random.chance(0.5);
  return {{random.tensor(DType::float32(), {m, k}, Values::SmallIntegers),
           random.tensor(DType::float32(), tb ? Shape{n, k} : Shape{k, n}, Values::SmallIntegers)},
          tb ? "nn.matmul(%a, %b, transpose_b=True)" : "nn.matmul(%a, %b)"};
}

Arguments batch_norm(Random& random) {
  TensorPtr data = image(random, DType::float32(), Values::Moderate);
  auto vector = [&](Values values) { return vector_for(random, data, 1, values); };
  TensorPtr gamma = vector(Values::Moderate), beta = vector(Values::Moderate),
            mean = vector(Values::Moderate);
  return {{data, gamma, beta, mean, vector(Values::Positive)},
          "nn.batch_norm(%a, %b, %c, %d, %e, epsilon=0.01).0"};
}
Arguments batch_norm_train(Random& random) {
  Arguments arguments = batch_norm(random);
  arguments.expression = fmt::format("nn.batch_norm_train(%a, %b, %c, %d, %e, epsilon=0.1, momentum=0.25).{}",
                                     random.chance(0.6) ? 0 : random.integer(1, 2));
  return arguments;
}
Row norm(const std::string& name) {
  return {name,
          [=](Random& random) {
            TensorPtr data = image(random, DType::float32(), Values::Moderate);
            size_t axis = name == "nn.layer_norm" ? 3 : 1;
            TensorPtr gamma = vector_for(random, data, axis, Values::Moderate);
            return Arguments{{data, gamma, vector_for(random, data, axis, Values::Moderate)},
                             name + "(%a, %b, %c, epsilon=0.1)"};
          },
          64, 1e-5};
}

Arguments pad(Random& random) {
  std::string width = fmt::format("[[{}, {}], [{}, {}]]", random.integer(0, 2), random.integer(0, 2),
                                  random.integer(0, 2), random.integer(0, 2));
  std::string mode =
      random.pick(std::vector<std::string>{"", ", pad_mode=\"edge\"", ", pad_mode=\"reflect\""});
  return {{random.tensor(DType::float32(), {random.integer(3, 5), random.integer(3, 5)}, Values::Any)},
          fmt::format("nn.pad(%a, 1.5, pad_width={}{})", width, mode)};
}
Arguments prelu(Random& random) {
  TensorPtr data = image(random, DType::float32());
  return {{data, vector_for(random, data, 1, Values::Moderate)}, "nn.prelu(%a, %b)"};
}
Arguments space_to_depth(Random& random) {
  std::string in = layout(random);
  int64_t c = random.integer(1, 2), h = 2 * random.integer(0, 2), w = 2 * random.integer(1, 3);
  return {{random.tensor(DType::float32(), in.empty() ? Shape{1, c, h, w} : Shape{1, h, w, c}, Values::Any)},
          "nn.space_to_depth(%a, block_size=2" + in + ")"};
}
Arguments depth_to_space(Random& random) {
  std::string in = layout(random);
  int64_t c = 4 * random.integer(0, 2), h = random.integer(1, 3), w = random.integer(1, 2);
  return {
      {random.tensor(DType::float32(), in.empty() ? Shape{1, c, h, w} : Shape{1, h, w, c}, Values::Any)},
      fmt::format("nn.depth_to_space(%a, block_size=2{}{})", in, random.chance(0.5) ? "" : ", mode=\"CRD\"")};
}
Arguments variance(Random& random) {
  Shape shape = random.shape(2, 3, 2);
  Shape mean = shape;
  mean[1] = 1;
  return {{random.tensor(DType::float32(), shape, Values::Moderate),
           random.tensor(DType::float32(), mean, Values::Moderate)},
          fmt::format("variance(%a, %b, axis=[1]{})", random.chance(0.5) ? ", keepdims=True" : "")};
}

Arguments stack(Random& random) {
  Shape shape = random.shape(0, 3);
  auto rank = static_cast<int64_t>(shape.size());
  return {{random.tensor(DType::float32(), shape, Values::Any),
           random.tensor(DType::float32(), shape, Values::Any)},
          fmt::format("stack((%a, %b), axis={})", random.integer(-1, rank))};
}
Arguments broadcast_to(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  return {{random.tensor(DType::float32(), random.broadcastable(shape), Values::Any)},
          fmt::format("broadcast_to(%a, shape={})", list_text(shape))};
}
Arguments gather_nd(Random& random) {
  const bool of_batches = random.chance(0.3);
  Shape data = {10, 10, random.integer(1, 3)}, indices = {2, random.integer(1, 5)};
  if (of_batches) {
    data.insert(data.begin(), 3);
    indices.insert(indices.begin() + 1, 3);
  }
  return {{random.tensor(DType::float32(), data, Values::Any),
           random.tensor(DType::int32(), indices, Values::Positive)},
          fmt::format("gather_nd(%a, %b{}{})", of_batches ? ", batch_dims=1" : "",
                      random.chance(0.6) ? ", index_rank=2" : "")};
}
Arguments gather(Random& random) {
  int64_t n = random.integer(1, 4);
  return {{random.tensor(DType::float32(), {n, 10}, Values::Any),
           random.tensor(DType::int32(), {n, random.integer(1, 5)}, Values::Positive)},
          "gather(%a, %b, axis=1)"};
}
Arguments arange(Random& random) {
  return {{},
          fmt::format("arange({}, {}, {}, dtype=\"int32\")", random.integer(-4, 4), random.integer(-4, 40),
                      random.integer(1, 5))};
}
Row bitwise(const std::string& name) {
  return {name, [=](Random& random) {
            Shape shape = random.shape();
            return Arguments{{random.tensor(DType::int32(), shape, Values::Any),
                              random.tensor(DType::int32(), random.broadcastable(shape), Values::Any)},
                             name + "(%a, %b)"};
          }};
}

}  // namespace

std::vector<Row> model_rows() {
  return {
      {"nn.conv1d", conv1d},
      {"nn.batch_matmul", batch_matmul},
      {"nn.matmul", matmul},
      pool("nn.avg_pool2d", Values::SmallIntegers),
      pool("nn.global_avg_pool2d", Values::SmallIntegers),
      pool("nn.global_max_pool2d", Values::Any),
      adaptive("nn.adaptive_avg_pool2d"),
      adaptive("nn.adaptive_max_pool2d"),
      {"nn.batch_norm", batch_norm, 4, 1e-5},
      {"nn.batch_norm_train", batch_norm_train, 64, 1e-5},
      norm("nn.layer_norm"),
      norm("nn.instance_norm"),
      on_any_shape("nn.l2_normalize", {DType::float32()}, "nn.l2_normalize(%a, eps=1e-6, axis=[0])", 1, 64,
                   Values::Moderate),
      {"nn.lrn",
       [](Random& random) {
         return Arguments{{image(random, DType::float32(), Values::Moderate)}, "nn.lrn(%a)"};
       },
       16},
      {"variance", variance, 64, 1e-5},
      {"nn.pad", pad},
      {"nn.prelu", prelu},
      on_any_shape("nn.dropout", kFloats, "nn.dropout(%a).0"),
      {"nn.space_to_depth", space_to_depth},
      {"nn.depth_to_space", depth_to_space},
      on_any_shape("full_like", kModelNumbers, "full_like(%a, 3)"),
      on_any_shape("copy", kModelNumbers, "copy(%a)"),
      on_any_shape("cast_like", {DType::float32()}, "cast_like(%a, 1)", 0, 0, Values::Moderate),
      on_any_shape("repeat", kModelNumbers, "repeat(%a, repeats=2, axis=-1)", 1),
      on_any_shape("reverse", kModelNumbers, "reverse(%a, axis=0)", 1),
      on_any_shape("tile", kModelNumbers, "tile(%a, reps=[2, 3])"),
      {"stack", stack},
      {"broadcast_to", broadcast_to},
      {"gather_nd", gather_nd},
      {"gather", gather},
      {"arange", arange},
      on_any_shape("one_hot", {DType::int32()}, "one_hot(%a, 1.0, 0.0, depth=5)", 0, 0, Values::Moderate),
      on_any_shape("isnan", kFloats, "isnan(%a)"),
      on_any_shape("isinf", kFloats, "isinf(%a)"),
      on_any_shape("isfinite", kFloats, "isfinite(%a)"),
      on_any_shape("log2", {DType::float32()}, "log2(%a)", 0, 4, Values::Positive),
      on_any_shape("log10", {DType::float32()}, "log10(%a)", 0, 4, Values::Positive),
      on_any_shape("tan", {DType::float32()}, "tan(%a)", 0, 16, Values::Moderate),
      bitwise("bitwise_and"),
      bitwise("bitwise_or"),
      bitwise("bitwise_xor"),
  };
}

}  // namespace quern::numeric
