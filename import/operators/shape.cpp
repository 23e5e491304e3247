// Operators that change shapes and leave elements as they are.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/node/sizes.h"
#include "import/onnx/dtypes.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// Sizes that are known at run time alone, with those of the data in place of 0 and the rest in place of -1.
Term resolved_sizes(Call& call, bool allows_zero) {
  const Term &data = call.in(0), &given = call.in(1);
  const size_t count = length_in(call, 1);
  Term sizes = given;
  if (!allows_zero) {
    std::vector<Dim> own(data.type->dims.begin(), data.type->dims.end());
    own.resize(count, dim_const(0));
    sizes =
        call.step("sizes", "where($0 == 0i64, $1, $0)", {sizes, dims_term(std::move(own), DType::int64())});
  }
  const Term total = dims_term({dim_product(data.type->dims)}, DType::int64(), 0);
  // -1 makes the product of the others negative.
  return call.step("sizes", "where($0 == -1i64, $1 / maximum(1i64, negative(prod($0))), $0)", {sizes, total});
}

void reshape(Call& call) {
  const Term& data = call.in(0);
  const bool allows_zero = call.flag("allowzero", false);
  const auto dims = call.has_attribute("shape") ? std::nullopt : dims_of(call.in(1));
  if (const auto attribute = call.integers("shape"))
    return call.result(fmt::format("reshape($0, newshape={})", list_of(*attribute)), {data});
  if (dims) {
    const bool has_zero = std::ranges::any_of(*dims, [](Dim dim) { return is_const(dim, 0); });
    return call.result(fmt::format("reshape($0, newshape={}{})", list_of(*dims),
                                   allows_zero && has_zero ? ", allowzero=True" : ""),
                       {data});
  }
  const Term sizes = resolved_sizes(call, allows_zero);
  const Sizes list = sizes_of(sizes, 1);
  std::vector<Term> operands = {data};
  operands.insert(operands.end(), list.operands.begin(), list.operands.end());
  call.result(fmt::format("reshape($0, newshape={}, allowzero=True)", list.text), operands);
}

void flatten(Call& call) {
  const Term& data = call.in(0);
  const auto rank = static_cast<int64_t>(data.rank());
  const int64_t given = call.integer("axis", 1), axis = given < 0 ? given + rank : given;
  if (axis < 0 || axis > rank)
    throw Refusal(fmt::format("there is no axis {} in a tensor of rank {}", given, rank));
  if (axis == 1 && rank > 1) return call.result("nn.batch_flatten($0)", {data});
  const auto dims = data.type->dims;
  const Dim rows = dim_product(dims.first(static_cast<size_t>(axis))),
            columns = dim_product(dims.subspan(static_cast<size_t>(axis)));
  if (rows->has_any && columns->has_any)
    throw Refusal("flattens a tensor of unknown extents on both sides of its axis");
  call.result(
      fmt::format("reshape($0, newshape=[{}, {}], allowzero=True)", rows->has_any ? "-1" : to_string(rows),
                  columns->has_any ? "-1" : to_string(columns)),
      {data});
}

void squeeze(Call& call) {
  const auto axes = call.integers("axes", 1);
  if (!axes) return call.result("squeeze($0)", {call.in(0)});
  call.result(fmt::format("squeeze($0, axis={})", list_of(from_front(*axes, call.rank(0)))), {call.in(0)});
}

void unsqueeze(Call& call) {
  const auto axes = call.integers("axes", 1);
  if (!axes) throw Refusal("lacks its axes");
  auto places = from_front(*axes, call.rank(0) + axes->size());
  std::ranges::sort(places);
  std::string expression = "$0";
  for (size_t i = 0; i < places.size();) {
    size_t count = 1;
    while (i + count < places.size() && places[i + count] == places[i] + static_cast<int64_t>(count)) ++count;
    expression = fmt::format("expand_dims({}, axis={}{})", expression, places[i],
                             count > 1 ? fmt::format(", num_newaxis={}", count) : "");
    i += count;
  }
  call.result(expression, {call.in(0)});
}

void transpose(Call& call) {
  const auto axes = call.integers("perm");
  call.result(axes ? fmt::format("transpose($0, axes={})", list_of(*axes)) : "transpose($0)", {call.in(0)});
}

void concat(Call& call) {
  std::vector<Term> parts;
  std::vector<std::string> names;
  for (size_t i = 0; i < call.input_count(); ++i) {
    parts.push_back(call.in(i));
    names.push_back(fmt::format("${}", i));
  }
  if (parts.size() == 1) return call.set(0, parts.front());
  call.result(
      fmt::format("concatenate(({}), axis={})", fmt::join(names, ", "), call.axis("axis", 1, call.rank(0))),
      parts);
}

void split(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", 0, data.rank());
  const auto sizes = call.integers("split", 1);
  const auto extent = as_const(data.extent(static_cast<size_t>(axis)));
  const auto count = static_cast<int64_t>(call.output_count());
  std::string sections = std::to_string(count);
  if (sizes || (extent && *extent % count != 0)) {
    if (!sizes && call.opset() < 18) throw Refusal("splits an axis into parts that are not equally long");
    std::vector<int64_t> bounds;
    const int64_t part = extent ? (*extent + count - 1) / count : 0;
    for (int64_t i = 0, at = 0; i + 1 < count; ++i) {
      if (sizes && static_cast<size_t>(i) >= sizes->size()) throw Refusal("has more outputs than parts");
      bounds.push_back(at += sizes ? (*sizes)[static_cast<size_t>(i)] : part);
    }
    sections = list_of(bounds);
  }
  if (count == 1) return call.set(0, data);
  std::vector<std::string> hints;
  for (size_t i = 0; i < call.output_count(); ++i) hints.push_back(call.wants(i) ? call.hint(i) : "");
  const auto parts = call.writer().let_parts(
      hints, fmt::format("split($0, indices_or_sections={}, axis={})", sections, axis), {data});
  for (size_t i = 0; i < parts.size(); ++i) call.set(i, parts[i]);
}

/// To a shape that is data: an extent of 1 in it keeps the tensor's own, and axes that it does not have keep theirs.
void expand_to(Call& call, const Term& data) {
  const size_t count = length_in(call, 1), rank = std::max(count, data.rank());
  std::vector<Dim> own(rank - data.rank(), dim_const(1));
  own.insert(own.end(), data.type->dims.begin(), data.type->dims.end());
  const std::vector<Dim> last(own.end() - static_cast<ptrdiff_t>(count), own.end());
  std::vector<std::string> now;  // the own extents at run time
  for (size_t axis = 0; axis < rank; ++axis)
    now.push_back(is_const(own[axis], 1) ? "1i64" : fmt::format("$2[{}]", axis + data.rank() - rank));
  const bool is_open = std::ranges::any_of(own, [](Dim dim) { return dim->has_any; });
  const Term shape =
      is_open ? call.step("extents", "shape_of($0, dtype=\"int64\")", {data}) : shape_term(data);
  Term sizes = call.in(1);
  if (!std::ranges::all_of(last, [](Dim dim) { return is_const(dim, 1); })) {
    const std::string kept = fmt::format("[{}]", fmt::join(std::span(now).last(count), ", "));
    sizes = is_open
                ? call.step("sizes", fmt::format("where($0 == 1i64, {}, $0)", kept), {sizes, data, shape})
                : call.step("sizes", "where($0 == 1i64, $1, $0)", {sizes, dims_term(last, DType::int64())});
  }
  std::vector<std::string> extents;
  for (size_t axis = 0; axis < rank; ++axis)
    extents.push_back(axis + count >= rank ? fmt::format("$1[{}]", axis + count - rank)
                      : own[axis]->has_any ? now[axis]
                                           : to_string(own[axis]));
  const std::string text = fmt::format("broadcast_to($0, shape=[{}])", fmt::join(extents, ", "));
  if (is_open) return call.result(text, {data, sizes, shape});
  call.result(text, {data, sizes});
}

void expand(Call& call) {
  const Term& data = call.in(0);
  if (const auto wanted = dims_of(call.in(1))) {
    const size_t rank = std::max(wanted->size(), data.rank());
    std::vector<Dim> result;
    for (size_t i = 0; i < rank; ++i) {
      const auto of = [&](std::span<const Dim> dims) {
        return i + dims.size() < rank ? dim_const(1) : dims[i + dims.size() - rank];
      };
      result.push_back(dim_broadcast(of(*wanted), of(data.type->dims)));
    }
    if (std::ranges::equal(result, data.type->dims)) return call.set(0, data);
    return call.result(fmt::format("broadcast_to($0, shape={})", list_of(result)), {data});
  }
  expand_to(call, data);
}

void tile(Call& call) {
  const auto repeats = call.integers_in(1);
  if (!repeats) throw Refusal("lacks its repeats");
  call.result(fmt::format("tile($0, reps={})", list_of(*repeats)), {call.in(0)});
}

/// The shape, where its extents are known at run time alone.
void shape(Call& call) { call.result("shape_of($0, dtype=\"int64\")", {call.in(0)}); }
void size(Call& call) { call.result("prod(shape_of($0, dtype=\"int64\"))", {call.in(0)}); }

void constant_of_shape(Call& call) {
  const TensorPtr given = call.tensor("value");
  const Sizes sizes = sizes_in(call, 0, 0);
  if (given && given->size() != 1) throw Refusal("its `value` has not one element");
  const DType dtype = given ? given->dtype() : DType::float32();
  const double number = given ? element_as_double(*given, 0) : 0;
  const std::string attribute =
      dtype == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(dtype));
  if ((number == 0 || number == 1) && !dtype.is_bool())
    return call.result(fmt::format("{}({}{})", number == 0 ? "zeros" : "ones", sizes.text, attribute),
                       sizes.operands);
  call.result(fmt::format("full({}, shape={})", literal(number, dtype), sizes.text), sizes.operands);
}

void constant(Call& call) {
  if (const TensorPtr tensor = call.tensor("value")) return call.set(0, constant_term(tensor));
  const auto set = [&]<class T>(DType dtype, const std::vector<T>& elements, Shape shape) {
    TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
    for (size_t i = 0; i < elements.size(); ++i) {
      if (dtype.is_float())
        tensor->elements<float>()[i] = static_cast<float>(elements[i]);
      else
        tensor->elements<int64_t>()[i] = static_cast<int64_t>(elements[i]);
    }
    call.set(0, constant_term(tensor));
  };
  const auto length = [](const auto& list) { return Shape{static_cast<int64_t>(list.size())}; };
  if (call.has_attribute("value_float"))
    return set(DType::float32(), std::vector<double>{call.number("value_float", 0)}, {});
  if (call.has_attribute("value_int"))
    return set(DType::int64(), std::vector<int64_t>{call.integer("value_int")}, {});
  if (const auto floats = call.numbers("value_floats"))
    return set(DType::float32(), *floats, length(*floats));
  if (const auto integers = call.integers("value_ints"))
    return set(DType::int64(), *integers, length(*integers));
  throw Refusal("is a constant of strings or a sparse one");
}

void range(Call& call) {
  const DType dtype = call.in(0).dtype();
  const auto start = dims_of(call.in(0)), limit = dims_of(call.in(1)), step = dims_of(call.in(2));
  const auto delta = step ? as_const(step->front()) : std::nullopt;
  if (start && limit && delta && *delta > 0)
    return call.result(
        fmt::format("arange({}, {}{}, dtype=\"{}\")", to_string(start->front()), to_string(limit->front()),
                    *delta == 1 ? "" : fmt::format(", step={}", *delta), to_string(dtype)),
        {});
  const std::string to_float =
      dtype.is_float() ? "($1 - $0) / $2" : "cast($1 - $0, dtype=\"float64\") / cast($2, dtype=\"float64\")";
  const Term count = call.step("count",
                               fmt::format("cast(maximum(ceil({}), {}), dtype=\"int64\")", to_float,
                                           literal(0, dtype.is_float() ? dtype : DType::float64())),
                               {call.in(0), call.in(1), call.in(2)});
  call.result(fmt::format("[i < $3] => $0 + cast<{}>(i) * $2", to_string(dtype)),
              {call.in(0), call.in(1), call.in(2), count});
}

void eye_like(Call& call) {
  const auto dims = call.in(0).type->dims;
  if (dims.size() != 2) throw Refusal("is of no matrix");
  const auto code = static_cast<int32_t>(call.integer("dtype", 0));
  const auto dtype = code == 0 ? std::optional(call.in(0).dtype()) : dtype_of(code);
  if (!dtype) throw Refusal("its dtype has no counterpart");
  call.result(fmt::format("eye({}, m={}, k={}, dtype=\"{}\")", to_string(dims[0]), to_string(dims[1]),
                          call.integer("k", 0), to_string(*dtype)),
              {});
}

void depth_to_space(Call& call) {
  call.result(fmt::format("nn.depth_to_space($0, block_size={}, mode=\"{}\")", call.integer("blocksize"),
                          call.string("mode", "DCR")),
              {call.in(0)});
}

void space_to_depth(Call& call) {
  call.result(fmt::format("nn.space_to_depth($0, block_size={})", call.integer("blocksize")), {call.in(0)});
}

}  // namespace

std::span<const Operator> shape_operators() {
  static const Operator kRows[] = {
      {"Concat", "", concat},
      {"Constant", "", constant},
      {"ConstantOfShape", "", constant_of_shape},
      {"DepthToSpace", "", depth_to_space},
      {"Expand", "", expand},
      {"EyeLike", "", eye_like},
      {"Flatten", "", flatten},
      {"Range", "", range},
      {"Reshape", "", reshape},
      {"Shape", "", shape},
      {"Size", "", size},
      {"SpaceToDepth", "", space_to_depth},
      {"Split", "", split},
      {"Squeeze", "", squeeze},
      {"Tile", "", tile},
      {"Transpose", "", transpose},
      {"Unsqueeze", "", unsqueeze},
  };
  return kRows;
}

}  // namespace quern::onnx
