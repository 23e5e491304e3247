// Operators that change shapes and leave elements as they are.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/node/sizes.h"
#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;

bool are_known(std::span<const Dim> dims) {
  return std::ranges::none_of(dims, [](Dim dim) { return dim->has_any; });
}

void constant(Call& call) {
  const auto value = call.node().attributes.find("value");
  const auto* tensor =
      value == call.node().attributes.end() ? nullptr : std::get_if<TensorPtr>(&value->second);
  if (!tensor) throw Refusal("has elements of a dtype that has no counterpart");
  call.set(0, constant_term(*tensor, call.node().name));
}

void shape(Call& call) {
  const DType dtype = dtype_in(call, "out_type", DType::int32());
  const auto dims = call.in(0).type->dims;
  if (are_known(dims)) return call.set(0, dims_term({dims.begin(), dims.end()}, dtype));
  call.result(fmt::format("shape_of($0, dtype=\"{}\")", to_string(dtype)), {call.in(0)});
}

void shapes(Call& call) {
  const DType dtype = dtype_in(call, "out_type", DType::int32());
  for (size_t i = 0; i < call.output_count(); ++i) {
    const auto dims = call.in(i).type->dims;
    if (!are_known(dims)) throw Refusal("is of tensors whose extents are not known");
    call.set(i, dims_term({dims.begin(), dims.end()}, dtype));
  }
}

void size(Call& call) {
  const DType dtype = dtype_in(call, "out_type", DType::int32());
  const Dim count = dim_product(call.in(0).type->dims);
  if (!count->has_any) return call.set(0, dims_term({count}, dtype, 0));
  call.result(fmt::format("prod(shape_of($0, dtype=\"{}\"))", to_string(dtype)), {call.in(0)});
}

void rank(Call& call) {
  call.set(0, dims_term({dim_const(static_cast<int64_t>(call.rank(0)))}, DType::int32(), 0));
}

/// Sizes that a run knows alone, in the dtype that ONNX has them in.
Term sizes(Call& call, size_t input) {
  const Term& term = call.in(input);
  if (dims_of(term) || term.dtype() == DType::int64()) return term;
  return call.step("sizes", "cast($0, dtype=\"int64\")", {term});
}

void reshape(Call& call) {
  write_terms_as(call, "Reshape", {call.in(0), sizes(call, 1)}, {{"allowzero", int64_t{1}}});
}

void broadcast_to(Call& call) { write_terms_as(call, "Expand", {call.in(0), sizes(call, 1)}); }

void transpose(Call& call) {
  const auto axes = call.integers_in(1);
  if (!axes) throw Refusal("lacks its axes");
  write_as(call, "Transpose", {0}, {{"perm", *axes}});
}

void concatenate(Call& call, size_t first, size_t axis) {
  std::vector<size_t> parts;
  for (size_t i = first; i < first + call.input_count() - 1; ++i) parts.push_back(i);
  if (parts.empty()) throw Refusal("has no parts");
  write_as(call, "Concat", parts, {{"axis", axis_in(call, axis, call.rank(first))}});
}

void concat(Call& call) { concatenate(call, 1, 0); }
void concat_v2(Call& call) {
  if (call.input_count() < 2) throw Refusal("has no parts");
  concatenate(call, 0, call.input_count() - 1);
}

void split(Call& call) { write_as(call, "Split", {1}, {{"axis", axis_in(call, 0, call.rank(1))}}); }

void split_v(Call& call) {
  auto parts = call.integers_in(1);
  if (!parts) throw Refusal("lacks the sizes of its parts");
  const int64_t axis = axis_in(call, 2, call.rank(0));
  const auto rest = std::ranges::find(*parts, -1);
  if (rest != parts->end()) {
    const auto extent = as_const(call.in(0).extent(static_cast<size_t>(axis)));
    if (!extent) throw Refusal("has a part of a size that is not known");
    int64_t others = 0;
    for (const int64_t part : *parts) others += part == -1 ? 0 : part;
    *rest = *extent - others;
  }
  if (parts->size() != call.output_count()) throw Refusal("has another number of outputs than of parts");
  write_as(call, "Split", {0}, {{"axis", axis}, {"split", *parts}});
}

/// Tensors of one shape as rows of one. Sizes are dims.
void pack(Call& call) {
  std::vector<Term> parts;
  std::vector<std::string> names;
  std::vector<Dim> dims;
  for (size_t i = 0; i < call.input_count(); ++i) {
    parts.push_back(call.in(i));
    names.push_back(fmt::format("${}", i));
    const auto known = parts[i].rank() == 0 && parts[i].dtype().is_int() ? dims_of(parts[i]) : std::nullopt;
    if (known && are_known(*known)) dims.push_back(known->front());
  }
  if (parts.empty()) throw Refusal("has no parts");
  if (dims.size() == parts.size()) return call.set(0, dims_term(std::move(dims), parts[0].dtype()));
  const int64_t axis = onnx::from_front(call.integer("axis", 0), parts[0].rank() + 1);
  if (parts.size() == 1) return call.result(fmt::format("expand_dims($0, axis={})", axis), parts);
  if (axis == 0) return call.result(fmt::format("[{}]", fmt::join(names, ", ")), parts);
  call.result(fmt::format("stack(({}), axis={})", fmt::join(names, ", "), axis), parts);
}

void unpack(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", 0, data.rank());
  std::string before;
  for (int64_t i = 0; i < axis; ++i) before += ":, ";
  const auto known = data.rank() == 1 ? dims_of(data) : std::nullopt;
  for (size_t i = 0; i < call.output_count(); ++i) {
    if (!call.wants(i)) continue;
    if (known && i < known->size() && are_known(*known))
      call.set(i, dims_term({(*known)[i]}, data.dtype(), 0));
    else
      call.set(i, call.writer().let(call.hint(i), fmt::format("$0[{}{}]", before, i), {data}));
  }
}

void fill(Call& call) {
  const onnx::Sizes extents = onnx::sizes_in(call, 0, 1);
  const Term& value = call.in(1);
  const auto number = value.rank() == 0 ? call.number_in(1) : std::nullopt;
  const DType dtype = value.dtype();
  std::vector<Term> operands = {value};
  operands.insert(operands.end(), extents.operands.begin(), extents.operands.end());
  if (number && (*number == 0 || *number == 1) && !dtype.is_bool())
    return call.result(
        fmt::format("{}({}{})", *number == 0 ? "zeros" : "ones", extents.text,
                    dtype == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(dtype))),
        operands);
  call.result(fmt::format("full({}, shape={})", number ? literal(*number, dtype) : "$0", extents.text),
              operands);
}

void linspace(Call& call) {
  const auto start = call.number_in(0), stop = call.number_in(1);
  const int64_t count = integer_in(call, 2);
  if (count < 1) throw Refusal("has no elements");
  const DType dtype = call.in(0).dtype();
  const std::string type = dtype == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(dtype));
  if (start && stop)
    return call.result(fmt::format("linspace({}, {}, num={}{})", float_attribute(*start),
                                   float_attribute(*stop), count, type),
                       {});
  call.result(fmt::format("$0 + ($1 - $0) * linspace(0.0, 1.0, num={}{})", count, type),
              {call.in(0), call.in(1)});
}

/// The layout of images, where it is not the library's default.
std::string layout_in(Call& call) {
  const std::string format = call.string("data_format", "NHWC");
  if (format != "NHWC" && format != "NCHW") throw Refusal(fmt::format("its `data_format` is `{}`", format));
  return format == "NHWC" ? ", layout=\"NHWC\"" : "";
}

void depth_to_space(Call& call) {
  call.result(
      fmt::format("nn.depth_to_space($0, block_size={}{})", call.integer("block_size"), layout_in(call)),
      {call.in(0)});
}

void space_to_depth(Call& call) {
  call.result(
      fmt::format("nn.space_to_depth($0, block_size={}{})", call.integer("block_size"), layout_in(call)),
      {call.in(0)});
}

void space_to_batch(Call& call) {
  call.result(fmt::format("nn.space_to_batch_nd($0, block_shape={}, paddings={})",
                          list_of(call.integers_in(1).value_or(std::vector<int64_t>())),
                          pairs_text(pairs_in(call, 2))),
              {call.in(0)});
}

void batch_to_space(Call& call) {
  call.result(fmt::format("nn.batch_to_space_nd($0, block_shape={}, crops={})",
                          list_of(call.integers_in(1).value_or(std::vector<int64_t>())),
                          pairs_text(pairs_in(call, 2))),
              {call.in(0)});
}

}  // namespace

std::span<const Operator> shape_operators() {
  static const Operator kRows[] = {
      {"BatchToSpaceND", "", batch_to_space},
      {"BroadcastTo", "", broadcast_to},
      {"Concat", "", concat},
      {"ConcatV2", "", concat_v2},
      {"Const", "", constant},
      {"DepthToSpace", "", depth_to_space},
      {"Fill", "", fill},
      {"LinSpace", "", linspace},
      {"Pack", "", pack},
      {"Rank", "", rank},
      {"Reshape", "", reshape},
      {"Shape", "", shape},
      {"ShapeN", "", shapes},
      {"Size", "", size},
      {"SpaceToBatchND", "", space_to_batch},
      {"SpaceToDepth", "", space_to_depth},
      {"Split", "", split},
      {"SplitV", "", split_v},
      {"Transpose", "", transpose},
      {"Unpack", "", unpack},
  };
  return kRows;
}

}  // namespace quern::tensorflow
