#pragma once
// Values of attributes and of the compile-time (`static`) language: ranks, dtypes, paddings and shapes are
// computed with them while an operator is instantiated.

#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/type/dtype.h"

namespace quern {

struct Expr;
struct StaticValue;
using StaticList = std::vector<StaticValue>;

/// None, a bool, a float, a string, a dtype, a dim (an integer is a constant dim), a list (a shape is a list
/// of dims, an index pack a list of index expressions), or an index expression that is not a dim.
struct StaticValue {
  using Data = std::variant<std::monostate, bool, double, std::string, DType, Dim,
                            std::shared_ptr<const StaticList>, const Expr*>;
  Data data;

  StaticValue() = default;
  // The constraint excludes copies and moves. NOLINTBEGIN(bugprone-forwarding-reference-overload)
  template <class T>
  requires(!std::is_same_v<std::decay_t<T>, StaticValue>) StaticValue(T&& value)
      : data(std::forward<T>(value)) {}  // NOLINT
  // NOLINTEND(bugprone-forwarding-reference-overload)
  static StaticValue integer(int64_t value) { return StaticValue(dim_const(value)); }
  static StaticValue list(StaticList items) {
    return StaticValue(std::shared_ptr<const StaticList>(std::make_shared<StaticList>(std::move(items))));
  }

  bool is_none() const { return std::holds_alternative<std::monostate>(data); }
  const bool* as_bool() const { return std::get_if<bool>(&data); }
  const double* as_float() const { return std::get_if<double>(&data); }
  const std::string* as_string() const { return std::get_if<std::string>(&data); }
  const DType* as_dtype() const { return std::get_if<DType>(&data); }
  Dim as_dim() const {
    const Dim* dim = std::get_if<Dim>(&data);
    return dim ? *dim : nullptr;
  }
  std::optional<int64_t> as_int() const {
    Dim dim = as_dim();
    return dim ? as_const(dim) : std::nullopt;
  }
  const StaticList* as_list() const {
    auto* list = std::get_if<std::shared_ptr<const StaticList>>(&data);
    return list ? list->get() : nullptr;
  }
  const Expr* as_index_expr() const {
    auto* expr = std::get_if<const Expr*>(&data);
    return expr ? *expr : nullptr;
  }
};

/// Lists compare element by element, dims by identity of their canonical form.
bool operator==(const StaticValue& a, const StaticValue& b);

/// As written in source: `None`, `True`, `"NCHW"`, `[1, 1]`, `float32` as `"float32"`.
std::string to_string(const StaticValue& value);

}  // namespace quern
