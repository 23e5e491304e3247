#include "export/lower/extents.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text/refusal.h"

namespace quern::onnx {

using import_text::Refusal;

Name Extents::value(Dim dim, GraphWriter& graph) const {
  if (const auto known = as_const(dim)) return graph.integer(*known);
  if (dim->kind != DimKind::Var) return arithmetic(dim, graph);
  const auto place = places_.find(dim);
  if (place == places_.end())
    throw Refusal(fmt::format("the extent `{}` is not one of an input's", to_string(dim)));
  const auto& [tensor, axis] = place->second;
  const Name shape = graph.node("Shape", {tensor});
  return graph.node("Gather", {shape, graph.integer(static_cast<int64_t>(axis))}, {{"axis", int64_t{0}}},
                    dim->name.empty() ? "extent" : dim->name);
}

Name Extents::arithmetic(Dim dim, GraphWriter& graph) const {
  std::vector<Name> args;
  args.reserve(dim->args.size());
  for (Dim arg : dim->args) args.push_back(value(arg, graph));
  auto fold = [&](std::string_view op) {
    Name all = args[0];
    for (size_t i = 1; i < args.size(); ++i) all = graph.node(op, {all, args[i]});
    return all;
  };
  switch (dim->kind) {
    case DimKind::Sum: return fold("Add");
    case DimKind::Product: {
      const Name all = fold("Mul");
      return dim->value == 1 ? all : graph.node("Mul", {all, graph.integer(dim->value)});
    }
    // Extents are not negative, and neither are the numbers that they are divided by.
    case DimKind::FloorDiv: return fold("Div");
    case DimKind::FloorMod: return graph.node("Mod", args);
    case DimKind::Min: return graph.node("Min", args);
    case DimKind::Max:
    case DimKind::Broadcast: return graph.node("Max", args);
    default: throw Refusal(fmt::format("the extent `{}` is not known", to_string(dim)));
  }
}

Name Extents::vector(Dim dim, GraphWriter& graph) const {
  if (const auto known = as_const(dim)) return graph.ints({*known});
  return graph.node("Unsqueeze", {value(dim, graph), graph.ints({0})});
}

Name Extents::shape(std::span<const Dim> dims, GraphWriter& graph) const {
  std::vector<int64_t> numbers;
  for (Dim dim : dims)
    if (const auto known = as_const(dim)) numbers.push_back(*known);
  if (numbers.size() == dims.size()) return graph.ints(numbers);
  std::vector<Name> parts;
  parts.reserve(dims.size());
  for (Dim dim : dims) parts.push_back(vector(dim, graph));
  return parts.size() == 1 ? parts[0] : graph.node("Concat", parts, {{"axis", int64_t{0}}}, "shape");
}

Name Extents::reshaped(const Name& tensor, std::span<const Dim> dims, GraphWriter& graph) const {
  const auto is_unknown = [](Dim dim) { return !as_const(dim); };
  const bool has_zero = std::ranges::any_of(dims, [](Dim dim) { return is_const(dim, 0); });
  // An extent of 0 is that of the operand, unless `allowzero` is set.
  if (has_zero || std::ranges::count_if(dims, is_unknown) > 1)
    return graph.node("Reshape", {tensor, shape(dims, graph)}, {{"allowzero", int64_t{1}}});
  std::vector<int64_t> numbers;
  numbers.reserve(dims.size());
  for (Dim dim : dims) numbers.push_back(as_const(dim).value_or(-1));
  return graph.node("Reshape", {tensor, graph.ints(numbers)});
}

}  // namespace quern::onnx
