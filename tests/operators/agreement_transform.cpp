#include <fmt/format.h>

#include <cctype>
#include <map>
#include <utility>

#include <algorithm>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

const std::vector<DType> kAll = {DType::float32(), DType::float32(), DType::float64(), DType::float16(),
                                 DType::int32(),   DType::int64(),   DType::int8(),    DType::boolean()};

TensorPtr any_tensor(Random& random, int64_t min_rank = 0, int64_t max_rank = 4) {
  return random.tensor(random.pick(kAll), random.shape(min_rank, max_rank), Values::Any);
}

Row filled(const std::string& name) {
  return {name, [=](Random& random) {
            return Arguments{{},
                             fmt::format("{}(shape={}, dtype=\"{}\")", name, shape_text(random.shape()),
                                         to_string(random.pick(kAll)))};
          }};
}

Row like(const std::string& name) {
  return {name, [=](Random& random) { return Arguments{{any_tensor(random)}, name + "(%a)"}; }};
}

Arguments full(Random& random) {
  std::string dtype = random.chance(0.5) ? "" : fmt::format(", dtype=\"{}\"", to_string(random.pick(kAll)));
  return {{random.tensor(random.pick(kAll), {}, Values::Any)},
          fmt::format("full(%a, shape={}{})", shape_text(random.shape()), dtype)};
}

/// The extents in another order, or some neighbours joined, perhaps with the codes 0 and -1.
Arguments reshape(Random& random) {
  TensorPtr a = any_tensor(random);
  if (a->size() == 0) return {{a}, "reshape(%a, newshape=[-1])"};
  Shape shape = a->shape(), target = shape;
  if (random.chance(0.5)) random.shuffle(target);
  while (target.size() > 1 && random.chance(0.4)) {
    target[target.size() - 2] *= target.back();
    target.pop_back();
  }
  for (size_t k = 0; k < target.size(); ++k)
    if (k < shape.size() && target[k] == shape[k] && random.chance(0.3)) target[k] = 0;
  if (!target.empty() && random.chance(0.4)) random.pick(target) == 0 ? void() : void(target.back() = -1);
  return {
      {a},
      fmt::format("reshape(%a, newshape={})", random.chance(0.5) ? shape_text(target) : list_text(target))};
}

Arguments expand_dims(Random& random) {
  TensorPtr a = any_tensor(random, 0, 3);
  auto rank = static_cast<int64_t>(a->shape().size());
  return {{a},
          fmt::format("expand_dims(%a, axis={}, num_newaxis={})", random.integer(-rank - 1, rank),
                      random.integer(1, 2))};
}

Arguments squeeze(Random& random) {
  Shape shape = random.shape(1, 4);
  std::vector<int64_t> axes = random.axes(static_cast<int64_t>(shape.size()), 1);
  for (int64_t axis : axes)
    shape[static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(shape.size()) : axis)] = 1;
  return {{random.tensor(random.pick(kAll), shape, Values::Any)},
          fmt::format("squeeze(%a, axis={})", list_text(axes))};
}

Arguments transpose(Random& random) {
  TensorPtr a = any_tensor(random);
  auto rank = static_cast<int64_t>(a->shape().size());
  std::string axes = random.chance(0.3) ? "" : ", axes=" + list_text(random.axes(rank, rank));
  return {{a}, "transpose(%a" + axes + ")"};
}

Arguments concatenate(Random& random) {
  DType dtype = random.pick(kAll);
  Shape shape = random.shape(1, 4);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1);
  Arguments arguments;
  std::string names;
  for (int64_t k = 0, count = random.integer(1, 4); k < count; ++k) {
    shape[static_cast<size_t>(axis)] = random.integer(0, 5);
    arguments.tensors.push_back(random.tensor(dtype, shape, Values::Any));
    names += fmt::format("%{}, ", static_cast<char>('a' + k));
  }
  arguments.expression = fmt::format("concatenate(({}), axis={})", names, random.signed_axis(axis, rank));
  return arguments;
}

Arguments take(Random& random) {
  Shape shape = random.shape(1, 3, 1);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = random.integer(0, rank - 1), extent = shape[static_cast<size_t>(axis)];
  const char* mode = random.pick(std::vector<const char*>{"clip", "wrap", "fast"});
  Shape index_shape = random.shape(0, 2);
  if (element_count(index_shape) > 40) index_shape = {random.extent()};
  int64_t batches = axis > 0 && random.chance(0.4) ? random.integer(1, axis) : 0;
  index_shape.insert(index_shape.begin(), shape.begin(), shape.begin() + batches);
  TensorPtr indices = HostTensor::make(DType::int32(), index_shape);
  bool outside = std::string_view(mode) != "fast";
  for (int32_t& index : indices->elements<int32_t>())
    index = static_cast<int32_t>(outside ? random.integer(-2 * extent, 2 * extent)
                                         : random.integer(0, extent - 1));
  std::string at =
      rank == 1 && random.chance(0.5) ? "" : fmt::format(", axis={}", random.signed_axis(axis, rank));
  if (batches > 0) at += fmt::format(", batch_dims={}", batches);
  return {{random.tensor(random.pick(kAll), shape, Values::Any), indices},
          fmt::format("take(%a, %b{}, mode=\"{}\")", at, mode)};
}

Arguments strided_slice(Random& random) {
  TensorPtr a = any_tensor(random, 1, 4);
  auto rank = static_cast<int64_t>(a->shape().size());
  bool listed = random.chance(0.4);
  std::vector<int64_t> axes = listed ? random.axes(rank, 1) : std::vector<int64_t>{}, begin, end, strides;
  int64_t count = listed ? static_cast<int64_t>(axes.size()) : random.integer(1, rank);
  for (int64_t k = 0; k < count; ++k) {
    int64_t axis = listed ? (axes[static_cast<size_t>(k)] + rank) % rank : k;
    int64_t extent = a->shape()[static_cast<size_t>(axis)];
    begin.push_back(random.integer(-extent - 1, extent + 1));
    end.push_back(random.chance(0.5) ? extent : random.integer(-extent - 1, extent + 1));
    strides.push_back(random.integer(1, 3));
  }
  std::string text = fmt::format("strided_slice(%a, begin={}, end={}", list_text(begin), list_text(end));
  if (random.chance(0.6)) text += ", strides=" + list_text(strides);
  if (listed) text += ", axes=" + list_text(axes);
  return {{a}, text + ")"};
}

Arguments einsum(Random& random) {
  static const std::vector<std::string> equations = {
      "ij,jk->ik", "ij,jk->ki", "bij,bkj->bik", "ij,j->i",    "i,i",         "ij->",         "ij->ji",
      "ii->i",     "ii",        "ba",           "i,j,k->kij", "ij,kj,ij->i", "bqd,bkd->bqk", "i, ij , j ->"};
  const std::string& equation = random.pick(equations);
  std::map<char, int64_t> extents;
  std::vector<TensorPtr> tensors;
  Shape shape;
  DType dtype = random.chance(0.3)   ? DType::int32()
                : random.chance(0.3) ? DType::float64()
                                     : DType::float32();
  std::string names;
  auto end_operand = [&] {
    names += fmt::format("%{}, ", static_cast<char>('a' + tensors.size()));
    tensors.push_back(random.tensor(dtype, std::exchange(shape, {}), Values::SmallIntegers));
  };
  for (char c : equation.substr(0, equation.find("->"))) {
    if (c == ',') end_operand();
    if (!std::isalpha(static_cast<unsigned char>(c))) continue;
    auto [extent, added] = extents.try_emplace(c, random.chance(0.05) ? 0 : random.integer(1, 5));
    shape.push_back(extent->second);
  }
  end_operand();
  return {tensors, fmt::format("einsum(({}), equation=\"{}\")", names, equation)};
}

}  // namespace

std::vector<Row> transform_rows() {
  return {filled("zeros"),
          filled("ones"),
          {"full", full},
          like("zeros_like"),
          like("ones_like"),
          {"reshape", reshape},
          {"expand_dims", expand_dims},
          {"squeeze", squeeze},
          {"transpose", transpose},
          {"concatenate", concatenate},
          {"take", take},
          {"strided_slice", strided_slice},
          {"einsum", einsum}};
}

}  // namespace quern::numeric
