// Operators that read and write elements at places: slices, gathers, scatters.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

#include "import/node/sizes.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// Positions from the front, for an axis of this extent; those that are known at run time alone are taken modulo it.
Term positions(Call& call, const Term& indices, const std::vector<Dim>& extents) {
  if (indices.constant && indices.dtype().is_int()) {
    std::vector<int64_t> known;
    bool is_negative = false;
    for (int64_t i = 0; i < indices.constant->size(); ++i) {
      const int64_t index = element_as_int(*indices.constant, i);
      const auto extent = as_const(extents[static_cast<size_t>(i) % extents.size()]);
      is_negative = is_negative || index < 0;
      known.push_back(index < 0 && extent ? index + *extent : index);
    }
    if (!is_negative) return indices;
    if (std::ranges::none_of(known, [](int64_t index) { return index < 0; })) {
      TensorPtr positive = HostTensor::make(DType::int64(), indices.constant->shape());
      std::ranges::copy(known, positive->elements<int64_t>().begin());
      return constant_term(positive, indices.name.empty() ? "" : indices.name + "_positive");
    }
  }
  const Term sizes = dims_term(extents, indices.dtype(), extents.size() == 1 ? 0 : 1);
  return call.step("positions", "floor_mod($0, $1)", {indices, sizes});
}

void gather(Call& call) {
  const Term &data = call.in(0), &indices = call.in(1);
  const int64_t axis = call.axis("axis", 0, data.rank());
  if (indices.constant) {
    const Term known = positions(call, indices, {data.extent(static_cast<size_t>(axis))});
    if (const auto at = number_of(known); at && indices.rank() == 0) {
      std::string before;
      for (int64_t i = 0; i < axis; ++i) before += ":, ";
      return call.result(fmt::format("$0[{}{}]", before, static_cast<int64_t>(*at)), {data});
    }
    return call.result(fmt::format("take($0, $1, axis={})", axis), {data, known});
  }
  call.result(fmt::format("take($0, $1, axis={}, mode=\"wrap\")", axis), {data, indices});
}

void gather_elements(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", 0, data.rank());
  const Term indices = positions(call, call.in(1), {data.extent(static_cast<size_t>(axis))});
  call.result(fmt::format("gather($0, $1, axis={})", axis), {data, indices});
}

/// Index tuples along the last axis, as ONNX has them, with that axis first.
Term tuples_first(Call& call, const Term& indices) {
  if (indices.rank() == 1) return indices;
  std::vector<int64_t> axes = {static_cast<int64_t>(indices.rank()) - 1};
  for (int64_t i = 0; i + 1 < static_cast<int64_t>(indices.rank()); ++i) axes.push_back(i);
  return call.step("places", fmt::format("transpose($0, axes={})", list_of(axes)), {indices});
}

/// The extents that an index tuple counts along.
std::vector<Dim> indexed_extents(const Term& data, const Term& indices, size_t first) {
  const auto count = indices.rank() > 0 ? as_const(indices.extent(indices.rank() - 1)) : std::nullopt;
  if (!count || first + static_cast<size_t>(*count) > data.rank() || *count < 1)
    throw Refusal("the last extent of its indices does not fit the data");
  const auto dims = data.type->dims.subspan(first, static_cast<size_t>(*count));
  return {dims.begin(), dims.end()};
}

void gather_nd(Call& call) {
  const Term& data = call.in(0);
  const auto batches = static_cast<size_t>(call.integer("batch_dims", 0));
  const Term indices = positions(call, call.in(1), indexed_extents(data, call.in(1), batches));
  call.result(fmt::format("gather_nd($0, $1{})", batches > 0 ? fmt::format(", batch_dims={}", batches) : ""),
              {data, tuples_first(call, indices)});
}

std::string reduction_of(Call& call) {
  const std::string reduction = call.string("reduction", "none");
  return reduction == "none" ? "update" : reduction;
}

void scatter_elements(Call& call) {
  const Term& data = call.in(0);
  const int64_t axis = call.axis("axis", 0, data.rank());
  call.result(
      fmt::format("scatter_elements($0, $1, $2, axis={}, reduction=\"{}\")", axis, reduction_of(call)),
      {data, call.in(1), call.in(2)});
}

void scatter_nd(Call& call) {
  const Term& data = call.in(0);
  const Term indices = positions(call, call.in(1), indexed_extents(data, call.in(1), 0));
  call.result(fmt::format("scatter_nd($0, $1, $2, mode=\"{}\")", reduction_of(call)),
              {data, tuples_first(call, indices), call.in(2)});
}

/// One bound of a slice, as the text has it; "" where it is that of the axis.
std::string bound(Call& call, std::string_view name, size_t input, size_t entry, bool is_end, int64_t step,
                  const Term& places, std::vector<Term>& operands) {
  constexpr int64_t kFar = INT32_MAX;  // what exporters write for "to the end"
  std::optional<Dim> dim;
  if (const auto attribute = call.integers(name)) {
    dim = dim_const(attribute->at(entry));
  } else if (const auto dims = dims_of(call.in(input)); dims && entry < dims->size()) {
    dim = (*dims)[entry];
  }
  if (!dim) {
    operands.push_back(places);
    return fmt::format("${}[{}]", operands.size() - 1, entry);
  }
  const auto known = as_const(*dim);
  if (known && (*known >= kFar || *known <= -kFar)) {
    const bool is_open = is_end == (*known > 0) ? step > 0 : step < 0;
    if (is_open) return "";
  }
  if (known && *known == 0 && !is_end && step > 0) return "";
  return to_string(*dim);
}

/// Bounds that are known at run time alone, from the front and within their axes.
Term bounds_within(Call& call, size_t input, const std::vector<size_t>& axes) {
  if (!call.has(input) || dims_of(call.in(input))) return {};
  std::vector<Dim> extents;
  extents.reserve(axes.size());
  for (size_t axis : axes) extents.push_back(call.in(0).extent(axis));
  const DType dtype = call.in(input).dtype();
  const Term sizes = dims_term(extents, dtype);
  const std::string zero = literal(0, dtype);
  return call.step("bounds", fmt::format("minimum(maximum(where($0 < {0}, $0 + $1, $0), {0}), $1)", zero),
                   {call.in(input), sizes});
}

/// `n` for extents such as `min(n, 32)`: a model that takes the first n of 32 means all n to be there, and with this shape a
/// run says where they are not. Nothing if there is no such extent.
std::optional<std::vector<Dim>> extents_as_asked(Type type) {
  std::vector<Dim> extents(type->dims.begin(), type->dims.end());
  bool has_changed = false;
  for (Dim& extent : extents) {
    if (extent->kind != DimKind::Min || extent->args.size() != 2) continue;
    const auto varies = [](Dim arg) { return !as_const(arg); };
    if (std::ranges::count_if(extent->args, varies) != 1) continue;
    extent = *std::ranges::find_if(extent->args, varies);
    // A slice keeps its extents from becoming negative, which those of an input are not.
    if (extent->kind == DimKind::Max && extent->args.size() == 2)
      for (Dim arg : extent->args)
        if (!as_const(arg) && prove_nonnegative(arg, Facts())) extent = arg;
    has_changed = true;
  }
  return has_changed ? std::optional(extents) : std::nullopt;
}

void slice(Call& call) {
  const Term& data = call.in(0);
  const auto axes = call.integers("axes", 3);
  const auto steps = call.opset() >= 10 ? call.integers_in(4) : std::nullopt;
  const auto starts = call.integers("starts");
  const size_t count = axes ? axes->size() : starts ? starts->size() : length_in(call, 1);
  std::vector<std::string> parts(data.rank(), ":");
  std::vector<Term> operands = {data};
  std::vector<size_t> sliced;
  for (size_t i = 0; i < count; ++i) {
    sliced.push_back(
        static_cast<size_t>(axes ? from_front(axes->at(i), data.rank()) : static_cast<int64_t>(i)));
    if (sliced.back() >= parts.size()) throw Refusal("slices more axes than there are");
  }
  const Term starts_within = bounds_within(call, 1, sliced), ends_within = bounds_within(call, 2, sliced);
  for (size_t i = 0; i < count; ++i) {
    const size_t axis = sliced[i];
    const int64_t step = steps ? steps->at(i) : 1;
    if (step == 0) throw Refusal("has the step 0");
    parts[axis] = bound(call, "starts", 1, i, false, step, starts_within, operands) + ":" +
                  bound(call, "ends", 2, i, true, step, ends_within, operands);
    if (step != 1) parts[axis] += fmt::format(":{}", step);
  }
  while (!parts.empty() && parts.back() == ":") parts.pop_back();
  if (parts.empty()) return call.set(0, data);
  const std::string expression = fmt::format("$0[{}]", fmt::join(parts, ", "));
  const auto wanted = extents_as_asked(call.writer().document().typer.type_of(expression, operands));
  if (!wanted) return call.result(expression, operands);
  call.result(fmt::format("reshape({}, newshape={})", expression, list_of(*wanted)), operands);
}

void pad(Call& call) {
  const Term& data = call.in(0);
  const auto pads = call.integers("pads", 1);
  const std::string mode = call.string("mode", "constant");
  auto axes = call.integers_in(3);
  if (!pads) throw Refusal("lacks its pads");
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < data.rank(); ++i) axes->push_back(static_cast<int64_t>(i));
  }
  if (pads->size() != 2 * axes->size()) throw Refusal("has another number of pads than two for each axis");
  std::vector<std::pair<int64_t, int64_t>> widths(data.rank());
  for (size_t i = 0; i < axes->size(); ++i)
    widths[static_cast<size_t>(from_front((*axes)[i], data.rank()))] = {(*pads)[i],
                                                                        (*pads)[i + axes->size()]};
  std::vector<std::string> pairs;
  pairs.reserve(widths.size());
  for (const auto& [before, after] : widths) pairs.push_back(fmt::format("[{}, {}]", before, after));
  if (mode != "constant" && mode != "reflect" && mode != "edge")
    throw Refusal(fmt::format("pads with the mode `{}`", mode));
  const std::string attribute = mode == "constant" ? "" : fmt::format(", pad_mode=\"{}\"", mode);
  const std::string expression = fmt::format("pad_width=[{}]{})", fmt::join(pairs, ", "), attribute);
  if (call.has(2))
    return call.result(call.rank(2) == 0 ? "nn.pad($0, $1, " + expression
                                         : "nn.pad($0, reshape($1, newshape=[]), " + expression,
                       {data, call.in(2)});
  call.result(fmt::format("nn.pad($0, {}, {}", literal(call.number("value", 0), data.dtype()), expression),
              {data});
}

void one_hot(Call& call) {
  const auto depth = call.number_in(1);
  if (!depth)
    throw Refusal(
        fmt::format("its depth has to be known: give it with `--constant {}=NUMBER`", call.node().inputs[1]));
  const Term& indices = call.in(0);
  const int64_t axis = from_front(call.integer("axis", -1), indices.rank() + 1);
  const std::string cast =
      indices.dtype().is_int() && indices.dtype().is_signed() ? "$0" : "cast($0, dtype=\"int64\")";
  const DType dtype =
      indices.dtype().is_int() && indices.dtype().is_signed() ? indices.dtype() : DType::int64();
  call.result(
      fmt::format("one_hot(floor_mod({}, {}), $1[1], $1[0], depth={}, axis={}, dtype=\"{}\")", cast,
                  literal(*depth, dtype), static_cast<int64_t>(*depth), axis, to_string(call.in(2).dtype())),
      {indices, call.in(2)});
}

void top_k(Call& call) {
  const auto count =
      call.has_attribute("k") ? std::optional(static_cast<double>(call.integer("k"))) : call.number_in(1);
  if (!count)
    throw Refusal(fmt::format("how many it takes has to be known: give it with `--constant {}=NUMBER`",
                              call.node().inputs[1]));
  const int64_t axis = call.axis("axis", -1, call.rank(0));
  const auto parts = call.writer().let_parts(
      {call.wants(0) ? call.hint(0) : "", call.wants(1) ? call.hint(1) : ""},
      fmt::format("topk($0, k={}, axis={}{}, dtype=\"int64\")", static_cast<int64_t>(*count), axis,
                  call.flag("largest", true) ? "" : ", is_ascend=True"),
      {call.in(0)});
  call.set(0, parts[0]);
  call.set(1, parts[1]);
}

void non_zero(Call& call) {
  const Term& data = call.in(0);
  const std::string condition =
      data.dtype().is_bool() ? "$0" : fmt::format("$0 != {}", literal(0, data.dtype()));
  call.result(fmt::format("cast(transpose(argwhere({})), dtype=\"int64\")", condition), {data});
}

void compress(Call& call) {
  Term data = call.in(0);
  const auto axis =
      call.has_attribute("axis") ? std::optional(call.axis("axis", 0, data.rank())) : std::nullopt;
  if (!axis && data.rank() != 1) data = call.step("flat", "reshape($0, newshape=[-1])", {data});
  const auto place = static_cast<size_t>(axis.value_or(0));
  std::string before;
  for (size_t i = 0; i < place; ++i) before += ":, ";
  // A condition may end before the axis does.
  const Term& condition = call.in(1);
  if (condition.extent(0) != data.extent(place))
    data = call.step("covered", fmt::format("$0[{}:{}]", before, to_string(condition.extent(0))), {data});
  call.result(fmt::format("$0[{}$1]", before), {data, condition});
}

void trilu(Call& call) {
  const bool is_upper = call.flag("upper", true);
  const auto k = call.has(1) ? call.number_in(1) : std::optional(0.0);
  if (!k)
    return call.result(fmt::format("trilu($0, $1, upper={})", bool_attribute(is_upper)),
                       {call.in(0), call.in(1)});
  call.result(fmt::format("{}($0{})", is_upper ? "triu" : "tril",
                          *k != 0 ? fmt::format(", k={}", static_cast<int64_t>(*k)) : ""),
              {call.in(0)});
}

void reverse_sequence(Call& call) {
  call.result(fmt::format("reverse_sequence($0, $1, seq_axis={}, batch_axis={})",
                          call.integer("time_axis", 0), call.integer("batch_axis", 1)),
              {call.in(0), call.in(1)});
}

/// The first `count` results of `unique` are what it found.
void unique(Call& call) {
  Term data = call.in(0);
  const bool has_axis = call.has_attribute("axis");
  if (!has_axis && data.rank() != 1) data = call.step("flat", "reshape($0, newshape=[-1])", {data});
  const int64_t axis = has_axis ? call.axis("axis", 0, data.rank()) : 0;
  const auto parts = call.writer().let_parts(
      {"found", "first", "inverse", "count", "counts"},
      fmt::format("unique($0, return_counts=True{}{})", call.flag("sorted", true) ? "" : ", sorted=False",
                  has_axis ? fmt::format(", axis={}", axis) : ""),
      {data});
  const Term count = call.step("count", "$0[0]", {parts[3]});
  const auto head = [&](size_t output, const Term& of, std::string_view expression) {
    if (call.wants(output)) call.set(output, call.writer().let(call.hint(output), expression, {of, count}));
  };
  std::string before;
  for (int64_t i = 0; i < axis; ++i) before += ":, ";
  head(0, parts[0], fmt::format("$0[{}:$1]", before));
  head(1, parts[1], "cast($0[:$1], dtype=\"int64\")");
  head(2, parts[2], "cast($0, dtype=\"int64\")");
  head(3, parts[4], "cast($0[:$1], dtype=\"int64\")");
}

void non_max_suppression(Call& call) {
  const auto number = [&](size_t input, const char* otherwise) {
    if (!call.has(input)) return std::pair(std::string(otherwise), std::optional<Term>());
    const Term& term = call.in(input);
    return std::pair(std::string(term.rank() == 0 ? "$" : "reshape($, newshape=[])"), std::optional(term));
  };
  std::vector<Term> operands = {call.in(0), call.in(1)};
  std::string arguments = "$0, $1";
  // Without a number there are no boxes; without a threshold no score is too low.
  for (auto [text, term] : {number(2, "0i64"), number(3, "0.0"), number(4, "-inff")}) {
    if (term) {
      text.replace(text.find('$'), 1, fmt::format("${}", operands.size()));
      operands.push_back(*term);
    }
    arguments += ", " + text;
  }
  const auto parts = call.writer().let_parts(
      {"selected", "count"},
      fmt::format("vision.all_class_non_max_suppression({}{})", arguments,
                  call.flag("center_point_box", false) ? ", center_point_box=True" : ""),
      operands);
  call.result("$0[:$1[0]]", {parts[0], parts[1]});
}

}  // namespace

std::span<const Operator> index_operators() {
  static const Operator kRows[] = {
      {"Compress", "", compress},
      {"Gather", "", gather},
      {"GatherElements", "", gather_elements},
      {"GatherND", "", gather_nd},
      {"NonMaxSuppression", "", non_max_suppression},
      {"NonZero", "", non_zero},
      {"OneHot", "", one_hot},
      {"Pad", "", pad},
      {"ReverseSequence", "", reverse_sequence},
      {"Scatter", "", scatter_elements},
      {"ScatterElements", "", scatter_elements},
      {"ScatterND", "", scatter_nd},
      {"Slice", "", slice},
      {"TopK", "", top_k},
      {"Trilu", "", trilu},
      {"Unique", "", unique},
  };
  return kRows;
}

}  // namespace quern::onnx
