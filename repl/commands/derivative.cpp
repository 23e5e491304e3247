// Commands about gradients.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "frontend/static/stored_tensors.h"
#include "ide/gradient_text.h"
#include "ir/base/counted_work.h"
#include "ir/base/interrupt.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/workspace.h"

namespace quern {

namespace {

/// `@f`: shows its gradient as a simplified definition.
bool show_gradient(Workspace& workspace, const std::string& asked) {
  Session& session = workspace.session();
  const std::string_view name = global_name(trimmed(asked));
  if (name.empty()) return workspace.complain("write `:grad @f`");
  if (!session.find_definition(workspace.module(), name))
    return workspace.complain(fmt::format("there is no definition `@{}`; `:defs` lists them", name));
  const Definition* definition = session.definition(workspace.module(), name);
  const std::string grad = fmt::format("grad_{}", name);
  const auto made = definition ? ide::gradient_definition(*definition, grad) : std::nullopt;
  if (!made)
    return workspace.complain(
        fmt::format("`@{0}` is typed anew for the arguments of each call: annotate its parameters, or ask "
                    "`:ir dead_code grad(@{0})(…)`",
                    name));
  return workspace.with_source(*made, [&](SourceId source) {
    if (!workspace.is_sound(source)) return false;
    if (!session.definition(workspace.module(), grad))
      return workspace.complain(fmt::format("`@{}` has no gradient that can be shown", name));
    const auto derived = ide::derived_definition(session, workspace.module(), grad);
    if (!derived) return workspace.complain(kInterrupted);
    print_line(*derived);
    return true;
  });
}

/// A floating-point tensor inside a value, and the path to it.
struct Leaf {
  std::vector<size_t> path;  ///< fields on the way from the value
  TensorPtr tensor;
};

void collect_leaves(const Value& value, std::vector<size_t> path, std::vector<Leaf>& leaves) {
  if (const std::vector<Value>* fields = value.fields()) {
    for (size_t i = 0; i < fields->size(); ++i) {
      path.push_back(i);
      collect_leaves((*fields)[i], path, leaves);
      path.pop_back();
    }
  } else if (TensorPtr tensor = value.as_tensor(); tensor && tensor->dtype().is_float()) {
    leaves.push_back({std::move(path), std::move(tensor)});
  }
}

/// The value with the tensor at a path replaced.
Value with_leaf(const Value& value, std::span<const size_t> path, const TensorPtr& tensor) {
  if (path.empty()) return Value::tensor(tensor);
  std::vector<Value> fields = *value.fields();
  fields[path[0]] = with_leaf(fields[path[0]], path.subspan(1), tensor);
  auto* data = value.object_as<DataObject>();
  return data ? Value::data(data->constructor, std::move(fields)) : Value::tuple(std::move(fields));
}

/// The value at a path; null if there is none, as in `()`, the gradient of a value without one.
TensorPtr leaf_at(const Value& value, std::span<const size_t> path) {
  if (path.empty()) return value.fields() ? nullptr : value.as_tensor();
  const std::vector<Value>* fields = value.fields();
  return fields && path[0] < fields->size() ? leaf_at((*fields)[path[0]], path.subspan(1)) : nullptr;
}

TensorPtr converted(const HostTensor& tensor, DType dtype) {
  TensorPtr out = HostTensor::make(dtype, tensor.shape());
  for (int64_t i = 0; i < tensor.size(); ++i)
    fill_element(*out, i, Scalar::from_double(dtype, element_as_double(tensor, i)));
  return out;
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Whether the tensors of a value have the dtypes that a type says, also in fields of data types.
bool has_dtypes_of(Session& session, ModuleId module, Type type, const Value& value) {
  if (const TensorPtr tensor = value.as_tensor()) return type->is_tensor() && type->dtype == tensor->dtype();
  std::vector<Type> types(type->args.begin(), type->args.end());
  if (auto* data = value.object_as<DataObject>()) {
    const DataDefinition* definition = session.data(module, type);
    if (!definition) return false;
    const auto at =
        std::ranges::find(definition->constructors, &data->constructor, &DataConstructor::interned);
    if (at == definition->constructors.end()) return false;
    types = field_types(*definition, *at, type);
  }
  const std::vector<Value>* fields = value.fields();
  if (!fields) return true;
  for (size_t i = 0; i < fields->size() && i < types.size(); ++i)
    if (!has_dtypes_of(session, module, types[i], (*fields)[i])) return false;
  return true;
}

struct Argument {
  Value value;
  std::string type;
};

/// The worst element of a parameter.
struct Deviation {
  double error = -1, derived = 0, differences = 0;
  std::string place;
};

/// A function at fixed arguments, whose value and gradient can be evaluated repeatedly.
class GradientCheck {
 public:
  GradientCheck(Workspace& workspace, std::string name, std::vector<Argument> arguments, bool is_double)
      : workspace_(workspace),
        name_(std::move(name)),
        arguments_(std::move(arguments)),
        step_(is_double ? 1e-6 : 1e-2),
        tolerance_(is_double ? 1e-5 : 2e-2) {
    if (!is_double) return;
    for (Argument& argument : arguments_) {
      argument.type = replaced(argument.type, "float32", "float64");
      std::vector<Leaf> leaves;
      collect_leaves(argument.value, {}, leaves);
      for (const Leaf& leaf : leaves)
        argument.value = with_leaf(argument.value, leaf.path, converted(*leaf.tensor, DType::float64()));
    }
  }

  /// Declares the arguments as variables, then the gradient and the function applied to them.
  std::string text() const {
    std::string declared, args;
    for (size_t i = 0; i < arguments_.size(); ++i) {
      declared += fmt::format("free_var %argument_{}: {}; ", i + 1, arguments_[i].type);
      args += fmt::format("{}%argument_{}", args.empty() ? "" : ", ", i + 1);
    }
    return fmt::format("{0}grad(@{1})({2}); @{1}({2})", declared, name_, args);
  }

  /// Whether the arguments are of the types that they are declared with: a record's fields may be of float32 alone.
  bool has_its_types(SourceId source) const {
    Session& session = workspace_.session();
    const std::vector<DeclarationId> statements = session.statements(source);
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Type type = session.statement_variables(statements[i])[0]->variable->type;
      if (!has_dtypes_of(session, workspace_.module(), type, arguments_[i].value)) return false;
    }
    return true;
  }

  bool run(SourceId source) {
    Session& session = workspace_.session();
    const std::vector<DeclarationId> statements = session.statements(source);
    const size_t count = arguments_.size();
    for (size_t i = 0; i < count; ++i) {
      workspace_.execution().give(statements[i], arguments_[i].value);
      variables_.push_back(session.statement_variables(statements[i])[0]->variable);
    }
    const StatementResult gradient =
        workspace_.execution().prepare(statements[count], Execution::Outside::Quiet)();
    if (gradient.failure) return failed(gradient);
    call_ = workspace_.execution().prepare(statements[count + 1], Execution::Outside::Quiet);
    return check_all(*gradient.value) && report();
  }

 private:
  bool failed(const StatementResult& result) {
    workspace_.print_problems({*result.failure});
    return false;
  }

  bool check_all(const Value& gradients) {
    size_t elements = 0;
    for (const Argument& argument : arguments_) {
      std::vector<Leaf> leaves;
      collect_leaves(argument.value, {}, leaves);
      for (const Leaf& leaf : leaves)
        elements += static_cast<size_t>((leaf.tensor->size() + apart(leaf) - 1) / apart(leaf));
    }
    CountedWork work("elements", elements);
    work_ = &work;
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (!check(i, gradients)) return false;
    return true;
  }

  /// The stride between the elements that are checked.
  static int64_t apart(const Leaf& leaf) {
    constexpr int64_t kMostElements = 64;
    return std::max<int64_t>(1, (leaf.tensor->size() + kMostElements - 1) / kMostElements);
  }

  bool check(size_t parameter, const Value& gradients) {
    std::vector<Leaf> leaves;
    collect_leaves(arguments_[parameter].value, {}, leaves);
    Deviation worst;
    size_t checked = 0, all = 0;
    for (const Leaf& leaf : leaves) {
      std::vector<size_t> path{parameter};
      path.insert(path.end(), leaf.path.begin(), leaf.path.end());
      const TensorPtr derived = leaf_at(gradients, path);
      if (!derived) continue;
      all += static_cast<size_t>(leaf.tensor->size());
      if (!check_leaf(parameter, leaf, *derived, worst, checked)) return false;
    }
    add_row(parameter, worst, checked, all);
    return true;
  }

  /// Large tensors are sampled at evenly spaced elements.
  bool check_leaf(size_t parameter, const Leaf& leaf, const HostTensor& derived, Deviation& worst,
                  size_t& checked) {
    double scale = 0;
    for (int64_t i = 0; i < derived.size(); ++i)
      scale = std::max(scale, std::abs(element_as_double(derived, i)));
    for (int64_t i = 0; i < leaf.tensor->size(); i += apart(leaf), ++checked, work_->advance()) {
      const double ours = element_as_double(derived, i);
      std::optional<Deviation> found = deviation(parameter, leaf, i, ours, scale);
      if (!found) return false;
      if (found->error > worst.error) worst = *found;
    }
    return true;
  }

  /// Of the central difference of the function with respect to one element; beside a kink, of the slope on the side
  /// that is nearer.
  std::optional<Deviation> deviation(size_t parameter, const Leaf& leaf, int64_t element, double ours,
                                     double scale) {
    const double at = element_as_double(*leaf.tensor, element), h = step_ * std::max(1.0, std::abs(at));
    std::optional<Point> below = value_at(parameter, leaf, element, at - h), middle, above;
    if (below) above = value_at(parameter, leaf, element, at + h);
    std::optional<Deviation> found;
    if (above) found = between(*below, *above, ours, scale);
    if (found && found->error > tolerance_) {
      middle = value_at(parameter, leaf, element, at);
      if (!middle) found.reset();
      for (const Deviation& side :
           middle ? std::vector{between(*below, *middle, ours, scale), between(*middle, *above, ours, scale)}
                  : std::vector<Deviation>())
        if (side.error <= tolerance_ && found->error > tolerance_) {
          found = side;
          ++kinks_;
        }
    }
    workspace_.execution().replace(variables_[parameter], arguments_[parameter].value);
    if (found) found->place = place_of(leaf, element);
    return found;
  }

  /// The rounded element, and the value of the function there.
  using Point = std::pair<double, double>;

  /// Relative to the element, except for elements much smaller than the others.
  static Deviation between(const Point& a, const Point& b, double ours, double scale) {
    // The actual step is the difference of the rounded elements.
    const double slope = (b.second - a.second) / (b.first - a.first);
    const double magnitude = std::max({std::abs(ours), std::abs(slope), scale * 1e-3, 1e-12});
    const bool is_finite = std::isfinite(ours) && std::isfinite(slope);
    return {is_finite ? std::abs(ours - slope) / magnitude : HUGE_VAL, ours, slope, ""};
  }

  std::optional<Point> value_at(size_t parameter, const Leaf& leaf, int64_t element, double to) {
    if (is_interrupted()) {
      workspace_.complain(kInterrupted);
      return std::nullopt;
    }
    const TensorPtr moved = converted(*leaf.tensor, leaf.tensor->dtype());
    fill_element(*moved, element, Scalar::from_double(moved->dtype(), to));
    workspace_.execution().replace(variables_[parameter],
                                   with_leaf(arguments_[parameter].value, leaf.path, moved));
    const StatementResult result = call_();
    if (result.failure) {
      failed(result);
      return std::nullopt;
    }
    return std::pair(element_as_double(*moved, element), element_as_double(*result.value->as_tensor(), 0));
  }

  static std::string place_of(const Leaf& leaf, int64_t element) {
    std::string text;
    for (size_t field : leaf.path) text += fmt::format(".{}", field);
    const Shape& shape = leaf.tensor->shape();
    std::string indices;
    for (size_t axis = shape.size(); axis-- > 0; element /= shape[axis])
      indices.insert(0, fmt::format("{}{}", element % shape[axis], indices.empty() ? "" : ", "));
    return text + (indices.empty() ? "" : "[" + indices + "]");
  }

  void add_row(size_t parameter, const Deviation& worst, size_t checked, size_t all) {
    const Definition* definition = workspace_.session().definition(workspace_.module(), name_);
    auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
    std::string name = fn && parameter < fn->params.size() ? "%" + std::string(fn->params[parameter]->name)
                                                           : fmt::format("argument {}", parameter + 1);
    if (checked == 0) {
      rows_.push_back({name, "has no gradient"});
      return;
    }
    is_right_ = is_right_ && worst.error <= tolerance_;
    const std::string at = worst.place.empty() ? "" : " at " + worst.place;
    rows_.push_back({name, fmt::format("{:.1e}{}", worst.error, at),
                     fmt::format("derived {:.6g}, differences {:.6g}", worst.derived, worst.differences),
                     checked < all ? fmt::format("{} of {} elements", checked, all) : ""});
  }

  bool report() {
    fmt::print("{}", columns_text(rows_, "llll"));
    const std::string_view dtype = tolerance_ < 1e-3 ? "float64" : "the arguments' dtypes";
    if (!is_right_)
      return workspace_.complain(fmt::format(
          "in {} the derived gradient and differences disagree by more than {:g}", dtype, tolerance_));
    const std::string beside =
        kinks_ == 0 ? ""
                    : fmt::format("; {} element{} beside a kink, where the slope on one side does", kinks_,
                                  kinks_ == 1 ? " is" : "s are");
    print_line(
        fmt::format("in {} the derived gradient and differences agree to {:g}{}", dtype, tolerance_, beside));
    return true;
  }

  Workspace& workspace_;
  const std::string name_;
  std::vector<Argument> arguments_;
  const double step_, tolerance_;
  std::vector<const Variable*> variables_;
  Execution::Repeated call_;
  CountedWork* work_ = nullptr;  ///< while elements are checked
  std::vector<std::vector<std::string>> rows_;
  size_t kinks_ = 0;  ///< elements whose step crosses one
  bool is_right_ = true;
};

/// The texts of a call's arguments and their types in the call. Reports a call without a gradient, and returns nothing
/// then.
struct Arguments {
  std::vector<std::string> texts, types;

  std::string list() const {
    std::string all;
    for (size_t i = 0; i < texts.size(); ++i) all += (i == 0 ? "" : ", ") + typed(i);
    return all;
  }
  /// A literal by itself may have a different type than as an argument.
  std::string typed(size_t i) const {
    return i < types.size() ? fmt::format("{{ let %argument: {} = {}; %argument }}", types[i], texts[i])
                            : texts[i];
  }
};

/// The same with integers as floats: a literal is an integer unless its context says otherwise.
Arguments with_floats(Arguments arguments) {
  for (std::string& type : arguments.types) type = replaced(type, "int32", "float32");
  return arguments;
}

bool is_float(Type type) { return type->is_scalar() && type->dtype.is_float(); }

/// Whether a call of @name with these arguments is a floating-point number.
bool gives_float(Workspace& workspace, const std::string& name, const Arguments& arguments) {
  const std::string text = fmt::format("@{}({})", name, arguments.list());
  return workspace.with_source(text, [&](SourceId source) {
    Session& session = workspace.session();
    if (has_errors(session.check(source))) return false;
    return is_float(session.inferred_statement(session.statements(source).front()).definition.body->type);
  });
}

std::optional<Arguments> arguments_of_call(Workspace& workspace, const std::string& name,
                                           std::string_view list) {
  Arguments arguments;
  for (const std::string& text : split_at_commas(list)) arguments.texts.push_back(text);
  Type result = nullptr;
  const std::string text = fmt::format("@{}({})", name, list);
  const bool fine = workspace.with_expression(text, "`:check-grad`", [&](DeclarationId statement) {
    ExprPtr body = workspace.session().inferred_statement(statement).definition.body;
    result = body->type;
    while (auto* check = as<CheckDimsExpr>(body)) body = check->value;
    if (auto* call = as<CallExpr>(body))
      for (ExprPtr argument : call->args) arguments.types.push_back(to_string(argument->type));
    return true;
  });
  if (!fine) return std::nullopt;
  if (is_float(result)) return arguments;
  if (Arguments floats = with_floats(arguments); gives_float(workspace, name, floats)) return floats;
  workspace.complain(
      fmt::format("`@{}` gives {} here, and a gradient is that of one floating-point number: {}", name,
                  to_string(result), result->is_scalar() ? "call it with floats" : "check its sum"));
  return std::nullopt;
}

/// The values of a call's arguments. Reports an argument that fails, and returns nothing then.
std::optional<std::vector<Argument>> evaluated(Workspace& workspace, const std::string& name,
                                               std::string_view list) {
  const auto asked = arguments_of_call(workspace, name, list);
  if (!asked) return std::nullopt;
  std::vector<Argument> arguments;
  for (size_t i = 0; i < asked->texts.size(); ++i) {
    if (!workspace.with_expression(asked->typed(i), "an argument of `:check-grad`",
                                   [&](DeclarationId statement) {
                                     const StatementResult result = workspace.execution().run(statement);
                                     if (result.failure)
                                       workspace.print_problems({*result.failure});
                                     else
                                       arguments.push_back({*result.value, to_string(result.type)});
                                     return !result.failure;
                                   }))
      return std::nullopt;
  }
  return arguments;
}

/// `@f(args)` or `@f args`: compares the derived gradient with central differences, for each parameter.
bool check_gradient(Workspace& workspace, const std::string& request) {
  constexpr std::string_view kForm = "write `:check-grad @f(…)`, with the arguments of a call";
  std::string_view asked = trimmed(request), list;
  std::string name(called_name(asked));
  if (!name.empty()) {
    const size_t open = asked.find('(');
    list = asked.substr(open + 1, asked.size() - open - 2);
  } else {
    const auto [first, rest] = first_word(asked);
    name = global_name(first);
    list = rest;
  }
  if (name.empty() || trimmed(list).empty()) return workspace.complain(std::string(kForm));
  const auto arguments = evaluated(workspace, name, list);
  if (!arguments) return false;
  // In float64 if the function takes it: differences of float32 numbers are too inaccurate.
  bool is_tried = false;
  const GradientCheck in_double(workspace, name, *arguments, true);
  const bool fine = workspace.with_source(in_double.text(), [&](SourceId source) {
    if (has_errors(workspace.session().check(source)) || !in_double.has_its_types(source)) return false;
    is_tried = true;
    return GradientCheck(workspace, name, *arguments, true).run(source);
  });
  if (is_tried) return fine;
  const GradientCheck plain(workspace, name, *arguments, false);
  return workspace.with_source(plain.text(), [&](SourceId source) {
    return workspace.is_sound(source) && !workspace.reaches_unsound(source) &&
           GradientCheck(workspace, name, *arguments, false).run(source);
  });
}

}  // namespace

std::span<const ReplCommand> commands_about_gradients() {
  static constexpr ReplCommand kRows[] = {
      {":grad", "@f", Takes::Definition, About::Gradients, "the gradient of @f as a definition",
       as_command<show_gradient>},
      {":check-grad", "@f(ARGS)", Takes::Expression, About::Gradients,
       "the gradient of @f beside central differences", as_command<check_gradient>},
  };
  return kRows;
}

}  // namespace quern
