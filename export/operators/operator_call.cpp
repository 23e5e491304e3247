#include "export/operators/operator_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "import/text/refusal.h"

namespace quern::onnx {

using import_text::Refusal;

std::vector<Name> OperatorCall::parts(size_t i) {
  std::vector<Name> names;
  for_each_tensor(lowering_.lower(call_.args[i]), [&](const Name& name) { names.push_back(name); });
  return names;
}

namespace {

StaticValue at_dims(const StaticValue& value, const DimMap& dims) {
  if (value.as_dim()) return StaticValue(substitute(value.as_dim(), dims));
  if (!value.as_list()) return value;
  StaticList items;
  for (const StaticValue& item : *value.as_list()) items.push_back(at_dims(item, dims));
  return StaticValue::list(std::move(items));
}

}  // namespace

StaticValue OperatorCall::value(std::string_view name) const {
  for (const auto& [known, value] : instance_.known) {
    if (known != name) continue;
    DimMap dims;
    for (size_t i = 0; i < call_.dims.size(); ++i) dims.emplace(instance_.dim_vars[i], call_.dims[i]);
    return at_dims(value, dims);
  }
  return {};
}

namespace {

[[noreturn]] void refuse(std::string_view op, std::string_view attribute) {
  throw Refusal(fmt::format("`{}` of `{}` is not known when it is exported", attribute, op));
}

}  // namespace

int64_t OperatorCall::integer(std::string_view name) const {
  const auto number = value(name).as_int();
  if (!number) refuse(instance_.name, name);
  return *number;
}

double OperatorCall::real(std::string_view name) const {
  const StaticValue found = value(name);
  if (const auto whole = found.as_int()) return static_cast<double>(*whole);
  if (!found.as_float()) refuse(instance_.name, name);
  return *found.as_float();
}

bool OperatorCall::flag(std::string_view name) const {
  const StaticValue found = value(name);
  return found.as_bool() && *found.as_bool();
}

std::string OperatorCall::text(std::string_view name) const {
  const StaticValue found = value(name);
  return found.as_string() ? *found.as_string() : "";
}

std::vector<int64_t> OperatorCall::integers(std::string_view name) const {
  const StaticValue found = value(name);
  if (const auto one = found.as_int()) return {*one};
  if (!found.as_list()) refuse(instance_.name, name);
  std::vector<int64_t> numbers;
  for (const StaticValue& item : *found.as_list()) {
    if (!item.as_int()) refuse(instance_.name, name);
    numbers.push_back(*item.as_int());
  }
  return numbers;
}

std::optional<double> OperatorCall::constant(size_t i) const {
  const auto* known = as<ConstExpr>(call_.args[i]);
  if (!known || known->value->size() != 1) return std::nullopt;
  return element_as_double(*known->value, 0);
}

std::optional<Name> OperatorCall::with_bias(const Name& value, const Name& bias,
                                            std::initializer_list<std::string_view> kinds) {
  const Node* maker = graph().maker_of(value);
  if (!maker || maker->inputs.size() != 2 || std::ranges::find(kinds, maker->op) == kinds.end())
    return std::nullopt;
  const std::string op = maker->op;
  return node(op, {maker->inputs[0], maker->inputs[1], bias},
              {maker->attributes.begin(), maker->attributes.end()});
}

Name OperatorCall::transposed(const Name& tensor, const std::vector<int64_t>& axes) {
  return std::ranges::is_sorted(axes) ? tensor : node("Transpose", {tensor}, {{"perm", axes}});
}

Name OperatorCall::to_layout(const Name& tensor, std::string_view from, std::string_view to) {
  std::vector<int64_t> axes;
  axes.reserve(to.size());
  for (const char axis : to) axes.push_back(static_cast<int64_t>(from.find(axis)));
  return transposed(tensor, axes);
}

Name OperatorCall::cast(const Name& tensor, DType from, DType to) {
  return cast_to(graph(), tensor, from, to);
}

Name OperatorCall::reshaped(const Name& tensor, std::span<const Dim> dims) {
  return extents().reshaped(tensor, dims, graph());
}

}  // namespace quern::onnx
