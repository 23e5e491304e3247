#include "frontend/static/builtins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "frontend/static/eval.h"

namespace quern {

namespace {

using Args = const std::vector<StaticValue>&;

BuiltinOutcome value(StaticValue v) { return {std::move(v), ""}; }
BuiltinOutcome problem(std::string text) { return {std::nullopt, std::move(text)}; }

/// A position in a list of `size` items, counted from the end when negative.
std::optional<size_t> position(const StaticValue& v, size_t size) {
  auto i = v.as_int();
  if (!i) return std::nullopt;
  int64_t at = *i < 0 ? *i + static_cast<int64_t>(size) : *i;
  if (at < 0 || at >= static_cast<int64_t>(size)) return std::nullopt;
  return static_cast<size_t>(at);
}

BuiltinOutcome len(Args a, bool) {
  if (a.size() != 1 || !a[0].as_list()) return problem("`len` takes one list");
  return value(StaticValue::integer(static_cast<int64_t>(a[0].as_list()->size())));
}

BuiltinOutcome fold(Args a, const char* name, Dim (*f)(Dim, Dim)) {
  StaticList items;
  for (const StaticValue& v : a) {
    if (v.as_list())
      items.insert(items.end(), v.as_list()->begin(), v.as_list()->end());
    else
      items.push_back(v);
  }
  if (items.empty()) return problem(fmt::format("`{}` of nothing", name));
  std::vector<Dim> dims;
  for (const StaticValue& v : items) {
    if (!v.as_dim()) return problem(fmt::format("`{}` takes integers and dims", name));
    dims.push_back(v.as_dim());
  }
  // By pairs, as the terms of a sum are as many as its dims: one after the other would take their square.
  for (size_t apart = 1; apart < dims.size(); apart *= 2)
    for (size_t i = 0; i + apart < dims.size(); i += 2 * apart) dims[i] = f(dims[i], dims[i + apart]);
  return value(StaticValue(dims[0]));
}
BuiltinOutcome minimum(Args a, bool) { return fold(a, "min", dim_min); }
/// `max(0, n)` of a declared dim is n. That of a number known at run time alone may be below 0, and what an instance's dims
/// become is not known.
BuiltinOutcome maximum(Args a, bool instance_level) {
  if (instance_level) return fold(a, "max", dim_max);
  return fold(
      a, "max", +[](Dim x, Dim y) {
        const auto is_above_zero = [](Dim dim, Dim other) {
          return is_const(other, 0) && !dim->has_infer && !dim->has_any && !contains_opened(dim) &&
                 prove_nonnegative(dim, Facts());
        };
        return is_above_zero(x, y) ? x : is_above_zero(y, x) ? y : dim_max(x, y);
      });
}

BuiltinOutcome product(Args a, bool) {
  std::vector<StaticValue> with_one = a;
  with_one.push_back(StaticValue::integer(1));
  return fold(with_one, "product", dim_mul);
}
BuiltinOutcome sum(Args a, bool) {
  std::vector<StaticValue> with_zero = a;
  with_zero.push_back(StaticValue::integer(0));
  return fold(with_zero, "sum", dim_add);
}

BuiltinOutcome concat(Args a, bool) {
  StaticList out;
  for (const StaticValue& v : a) {
    if (!v.as_list()) return problem("`concat` takes lists");
    out.insert(out.end(), v.as_list()->begin(), v.as_list()->end());
  }
  return value(StaticValue::list(std::move(out)));
}

// The positions that args[1] lists, in a list of `size`.
std::optional<std::vector<size_t>> positions(const StaticValue& v, size_t size) {
  std::vector<size_t> out;
  const StaticList* list = v.as_list();
  if (!list) return std::nullopt;
  for (const StaticValue& item : *list) {
    auto p = position(item, size);
    if (!p) return std::nullopt;
    out.push_back(*p);
  }
  return out;
}

BuiltinOutcome drop(Args a, bool) {
  if (a.size() != 2 || !a[0].as_list()) return problem("`drop` takes a list and a list of positions");
  auto at = positions(a[1], a[0].as_list()->size());
  if (!at) return problem(fmt::format("{} has a position outside {}", to_string(a[1]), to_string(a[0])));
  StaticList out;
  for (size_t i = 0; i < a[0].as_list()->size(); ++i)
    if (std::find(at->begin(), at->end(), i) == at->end()) out.push_back((*a[0].as_list())[i]);
  return value(StaticValue::list(std::move(out)));
}

BuiltinOutcome take(Args a, bool) {
  if (a.size() != 2 || !a[0].as_list()) return problem("`take` takes a list and a list of positions");
  auto at = positions(a[1], a[0].as_list()->size());
  if (!at) return problem(fmt::format("{} has a position outside {}", to_string(a[1]), to_string(a[0])));
  StaticList out;
  for (size_t i : *at) out.push_back((*a[0].as_list())[i]);
  return value(StaticValue::list(std::move(out)));
}

// The values of a `set` or `insert`: a list of the positions' length, or one value for all.
std::optional<StaticList> values_for(const StaticValue& v, size_t count) {
  if (!v.as_list()) return StaticList(count, v);
  if (v.as_list()->size() != count) return std::nullopt;
  return *v.as_list();
}

BuiltinOutcome set(Args a, bool) {
  if (a.size() != 3 || !a[0].as_list()) return problem("`set` takes a list, positions and values");
  StaticValue where = a[1].as_list() ? a[1] : StaticValue::list({a[1]});
  auto at = positions(where, a[0].as_list()->size());
  if (!at) return problem(fmt::format("{} has a position outside {}", to_string(where), to_string(a[0])));
  auto values = values_for(a[2], at->size());
  if (!values) return problem("`set` has as many positions as values");
  StaticList out = *a[0].as_list();
  for (size_t i = 0; i < at->size(); ++i) out[(*at)[i]] = (*values)[i];
  return value(StaticValue::list(std::move(out)));
}

// The result has list + values items, with values[i] at positions[i] and the list's items in order elsewhere.
BuiltinOutcome insert(Args a, bool) {
  if (a.size() != 3 || !a[0].as_list() || !a[1].as_list())
    return problem("`insert` takes a list, positions and values");
  size_t size = a[0].as_list()->size() + a[1].as_list()->size();
  auto at = positions(a[1], size);
  if (!at) return problem(fmt::format("{} has a position outside the {} results", to_string(a[1]), size));
  auto values = values_for(a[2], at->size());
  if (!values) return problem("`insert` has as many positions as values");
  StaticList out;
  size_t next = 0;
  for (size_t i = 0; i < size; ++i) {
    auto hit = std::find(at->begin(), at->end(), i);
    if (hit != at->end())
      out.push_back((*values)[static_cast<size_t>(hit - at->begin())]);
    else if (next < a[0].as_list()->size())
      out.push_back((*a[0].as_list())[next++]);
  }
  if (out.size() != size) return problem("`insert` names a position twice");
  return value(StaticValue::list(std::move(out)));
}

BuiltinOutcome range(Args a, bool) {
  std::vector<int64_t> bounds;
  for (const StaticValue& v : a) {
    if (!v.as_int()) return problem("`range` takes integers");
    bounds.push_back(*v.as_int());
  }
  if (bounds.empty() || bounds.size() > 2) return problem("`range` takes one or two integers");
  if (bounds.size() == 1) bounds.insert(bounds.begin(), 0);
  if (bounds[1] - bounds[0] > 1'000'000) return problem("`range` is too long");
  StaticList out;
  for (int64_t i = bounds[0]; i < bounds[1]; ++i) out.push_back(StaticValue::integer(i));
  return value(StaticValue::list(std::move(out)));
}

BuiltinOutcome reverse(Args a, bool) {
  if (a.size() != 1 || !a[0].as_list()) return problem("`reverse` takes one list");
  return value(StaticValue::list(StaticList(a[0].as_list()->rbegin(), a[0].as_list()->rend())));
}

// Position of a value in a list, or -1.
BuiltinOutcome index_of(Args a, bool) {
  if (a.size() != 2 || !a[0].as_list()) return problem("`index_of` takes a list and a value");
  for (size_t i = 0; i < a[0].as_list()->size(); ++i)
    if ((*a[0].as_list())[i] == a[1]) return value(StaticValue::integer(static_cast<int64_t>(i)));
  return value(StaticValue::integer(-1));
}

BuiltinOutcome contains(Args a, bool) {
  if (a.size() != 2 || !a[0].as_list()) return problem("`contains` takes a list and a value");
  return value(
      StaticValue(std::find(a[0].as_list()->begin(), a[0].as_list()->end(), a[1]) != a[0].as_list()->end()));
}

BuiltinOutcome all(Args a, bool) {
  if (a.size() != 1 || !a[0].as_list()) return problem("`all` takes one list of bools");
  for (const StaticValue& v : *a[0].as_list()) {
    if (!v.as_bool()) return problem("`all` takes one list of bools");
    if (!*v.as_bool()) return value(StaticValue(false));
  }
  return value(StaticValue(true));
}

// A number without a fraction as an integer.
BuiltinOutcome whole(Args a, bool) {
  if (a.size() == 1 && a[0].as_dim()) return value(a[0]);
  const double* real = a.size() == 1 ? a[0].as_float() : nullptr;
  if (!real || *real != std::floor(*real) || std::abs(*real) > 1e15)
    return problem("`int` takes a whole number");
  return value(StaticValue::integer(static_cast<int64_t>(*real)));
}

// A list of dims, written as a shape.
std::string shape_text(const StaticValue& value) {
  std::vector<Dim> dims;
  for (const StaticValue& item : *value.as_list()) {
    if (!item.as_dim()) return to_string(value);
    dims.push_back(item.as_dim());
  }
  return shape_to_string(dims);
}

// One axis of a broadcast; null if the extents definitely disagree. An existential dim is compared at run
// time: against a constant other than 1 it must be that constant or 1, so the result is the constant.
Dim broadcast_extent(Dim a, Dim b, bool instance_level, std::vector<std::pair<Dim, Dim>>& to_broadcast) {
  bool open = instance_level || a->has_any || b->has_any || a->has_infer || b->has_infer;
  if (a == b || is_const(a, 1) || is_const(b, 1) || open) return dim_broadcast(a, b);
  if (!contains_opened(a) && !contains_opened(b)) return nullptr;
  to_broadcast.emplace_back(a, b);
  return as_const(a) ? a : as_const(b) ? b : dim_broadcast(a, b);
}

BuiltinOutcome broadcast(Args a, bool instance_level) {
  for (const StaticValue& v : a)
    if (!v.as_list()) return problem("`broadcast` takes shapes");
  if (a.empty()) return problem("`broadcast` takes shapes");
  BuiltinOutcome outcome{a[0], "", DiagnosticKind::DimMismatch};
  auto differ = [&](const StaticValue& other, Dim x, Dim y) {
    return fmt::format("the shapes {} and {} do not broadcast: {} and {} differ and neither is 1",
                       shape_text(*outcome.value), shape_text(other), to_string(x), to_string(y));
  };
  for (size_t k = 1; k < a.size(); ++k) {
    StaticList result = *outcome.value->as_list(), other = *a[k].as_list();
    if (other.size() > result.size()) std::swap(result, other);
    size_t offset = result.size() - other.size();
    for (size_t i = 0; i < other.size(); ++i) {
      Dim x = result[offset + i].as_dim(), y = other[i].as_dim();
      if (!x || !y) return problem("`broadcast` takes shapes");
      size_t asked = outcome.to_broadcast.size();
      Dim extent = broadcast_extent(x, y, instance_level, outcome.to_broadcast);
      if (!extent || outcome.to_broadcast.size() > asked) outcome.problem = differ(a[k], x, y);
      if (!extent) return {std::nullopt, outcome.problem, outcome.kind};
      result[offset + i] = StaticValue(extent);
    }
    outcome.value = StaticValue::list(std::move(result));
  }
  return outcome;
}

template <bool (DType::*Test)() const>
BuiltinOutcome dtype_test(Args a, bool) {
  if (a.size() != 1 || !a[0].as_dtype()) return problem("takes one dtype");
  // A dtype not settled by inference gets the benefit of the doubt; the instance is checked again.
  return value(StaticValue(a[0].as_dtype()->is_infer() || (a[0].as_dtype()->*Test)()));
}

// Whether two dims can be equal: False only if they differ for every value of their variables. Open cases are
// left to a run-time check.
BuiltinOutcome may_equal(Args a, bool) {
  if (a.size() != 2) return problem("`may_equal` takes two values");
  return value(StaticValue(static_equal(a[0], a[1]).value_or(true)));
}

// Whether two values are written the same; decided even if `==` is open.
BuiltinOutcome same(Args a, bool) {
  if (a.size() != 2) return problem("`same` takes two values");
  return value(StaticValue(a[0] == a[1]));
}

BuiltinOutcome is_list(Args a, bool) {
  if (a.size() != 1) return problem("`is_list` takes one value");
  return value(StaticValue(a[0].as_list() != nullptr));
}

// letters("ij k") is ["i", "j", "k"]: each character except blanks.
BuiltinOutcome letters(Args a, bool) {
  if (a.size() != 1 || !a[0].as_string()) return problem("`letters` takes a string");
  StaticList all;
  for (char c : *a[0].as_string())
    if (c != ' ') all.emplace_back(std::string(1, c));
  return value(StaticValue::list(std::move(all)));
}

// split("ij,jk", ",") is ["ij", "jk"]; a string without the separator is one part.
BuiltinOutcome split(Args a, bool) {
  if (a.size() != 2 || !a[0].as_string() || !a[1].as_string() || a[1].as_string()->empty())
    return problem("`split` takes a string and a separator");
  std::string_view text = *a[0].as_string(), separator = *a[1].as_string();
  StaticList parts;
  for (size_t at; (at = text.find(separator)) != std::string_view::npos;
       text.remove_prefix(at + separator.size()))
    parts.emplace_back(std::string(text.substr(0, at)));
  parts.emplace_back(std::string(text));
  return value(StaticValue::list(std::move(parts)));
}

// error("… {} …", values): the message with the values in place of its `{}`.
BuiltinOutcome error(Args a, bool) {
  if (a.empty() || !a[0].as_string()) return problem("an error");
  std::string text = *a[0].as_string();
  for (size_t k = 1; k < a.size(); ++k)
    if (size_t at = text.find("{}"); at != std::string::npos) text.replace(at, 2, to_string(a[k]));
  return problem(text);
}

struct Row {
  std::string_view name;
  StaticBuiltin function;
};
constexpr Row kBuiltins[] = {
    {"len", len},
    {"min", minimum},
    {"max", maximum},
    {"product", product},
    {"sum", sum},
    {"concat", concat},
    {"drop", drop},
    {"take", take},
    {"permute", take},
    {"set", set},
    {"insert", insert},
    {"range", range},
    {"reverse", reverse},
    {"index_of", index_of},
    {"contains", contains},
    {"all", all},
    {"int", whole},
    {"broadcast", broadcast},
    {"letters", letters},
    {"split", split},
    {"error", error},
    {"may_equal", may_equal},
    {"same", same},
    {"is_list", is_list},
    {"is_float", dtype_test<&DType::is_float>},
    {"is_int", dtype_test<&DType::is_int>},
    {"is_bool", dtype_test<&DType::is_bool>},
    {"has_one_lane", dtype_test<&DType::has_one_lane>},
};

}  // namespace

bool compares_form(std::string_view builtin) {
  return builtin == "same" || builtin == "contains" || builtin == "index_of";
}

std::vector<std::string> static_builtin_names() {
  std::vector<std::string> names;
  for (const Row& row : kBuiltins) names.emplace_back(row.name);
  return names;
}

StaticBuiltin find_static_builtin(std::string_view name) {
  for (const Row& row : kBuiltins)
    if (row.name == name) return row.function;
  return nullptr;
}

}  // namespace quern
