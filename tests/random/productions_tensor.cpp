// Productions of tensors: arithmetic that stays exact, reductions, movements of elements, index expressions.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/random/generator_impl.h"

namespace quern::random_programs {

TypePtr Generator::broadcastable(const TypePtr& want) {
  if (want->kind == TypeTerm::Kind::Variable) return want;
  std::vector<Extent> dims = want->dims;
  if (random_.chance(60)) return want;
  for (Extent& d : dims)
    if (random_.chance(40)) d = {1, ""};
  size_t dropped = random_.below(dims.size() + 1);
  dims.erase(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(dropped));
  return tensor(dims, want->dtype);
}

TermPtr Generator::infix(const TypePtr& want, const char* symbol, Exactness left, Exactness right,
                         int depth) {
  TermPtr a = make(want, left, depth);
  // A number goes with every dtype and shape.
  if (want->kind == TypeTerm::Kind::Variable && right.magnitude >= 3 && random_.chance(40))
    return plain(want, {"(", fmt::format(" {} {})", symbol, random_.between(0, 3))}, {a});
  TermPtr b = make(broadcastable(want), right, depth);
  if (random_.chance(50)) std::swap(a, b);
  return plain(want, {"(", fmt::format(" {} ", symbol), ")"}, {a, b});
}

TermPtr Generator::sum_or_difference(const TypePtr& want, Exactness budget, int depth) {
  Exactness half{budget.magnitude / 2, budget.fraction};
  return infix(want, random_.chance(50) ? "+" : "-", half, half, depth);
}

TermPtr Generator::product(const TypePtr& want, Exactness budget, int depth) {
  Exactness root{std::floor(std::sqrt(budget.magnitude)), budget.fraction / 2};
  return infix(want, "*", root, root, depth);
}

TermPtr Generator::extremum(const TypePtr& want, Exactness budget, int depth) {
  TermPtr a = make(want, budget, depth), b = make(broadcastable(want), budget, depth);
  return plain(want, {random_.chance(50) ? "maximum(" : "minimum(", ", ", ")"}, {a, b});
}

TermPtr Generator::unary(const TypePtr& want, Exactness budget, int depth) {
  std::vector<std::string> functions{"-", "abs", "nn.relu", "negative", "sign"};
  if (is_float(want)) functions.insert(functions.end(), {"floor", "ceil", "round", "trunc"});
  const std::string& f = random_.pick(functions);
  TermPtr operand = make(want, budget, depth);
  if (random_.chance(40))
    return plain(want,
                 {"on_device(", random_.chance(50) ? ", \"cpu:1\")" : ", \"cpu:1\", constrain_result=True)"},
                 {operand});
  return f == "-" ? plain(want, {"(- ", ")"}, {operand}) : plain(want, {f + "(", ")"}, {operand});
}

TermPtr Generator::comparison(const TypePtr& want, Exactness /*budget*/, int depth) {
  static const std::vector<std::string> symbols{"<", "<=", ">", ">=", "==", "!="},
      dtypes{"float32", "int32", "int64"};
  TypePtr operand = tensor(want->dims, random_.pick(dtypes));
  TermPtr a = make(operand, kApplied, depth), b = make(broadcastable(operand), kApplied, depth);
  return plain(want, {"(", " " + random_.pick(symbols) + " ", ")"}, {a, b});
}

TermPtr Generator::connective(const TypePtr& want, Exactness budget, int depth) {
  TermPtr a = make(want, budget, depth);
  if (random_.chance(30))
    return want->dims.empty() ? plain(want, {"(not ", ")"}, {a}) : plain(want, {"logical_not(", ")"}, {a});
  if (want->dims.empty() && random_.chance(60))
    return plain(want, {"(", random_.chance(50) ? " and " : " or ", ")"}, {a, make(want, budget, depth)});
  TermPtr b = make(broadcastable(want), budget, depth);
  return plain(want, {random_.chance(50) ? "logical_and(" : "logical_or(", ", ", ")"}, {a, b});
}

TermPtr Generator::where(const TypePtr& want, Exactness budget, int depth) {
  TypePtr condition = broadcastable(tensor(want->dims, "bool"));
  return plain(want, {"where(", ", ", ", ", ")"},
               {make(condition, kParameter, depth), make(want, budget, depth),
                make(broadcastable(want), budget, depth)});
}

TermPtr Generator::reduction(const TypePtr& want, Exactness budget, int depth) {
  size_t axis = random_.below(want->dims.size() + 1);
  bool sums = want->dtype != "bool" && random_.chance(60);
  int64_t extent = random_.between(sums ? 0 : 1, 4);
  std::vector<Extent> dims = want->dims;
  bool keep = axis < dims.size() && dims[axis] == Extent{1, ""} && random_.chance(70);
  if (keep)
    dims[axis].constant = extent;
  else
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), Extent{extent, ""});
  if (sums) budget.magnitude /= static_cast<double>(std::max<int64_t>(extent, 1));
  TermPtr operand = make(tensor(dims, want->dtype), budget, depth);
  std::string name = want->dtype == "bool" ? (random_.chance(50) ? "any" : "all")
                     : sums                ? "sum"
                                           : (random_.chance(50) ? "max" : "min");
  int64_t written = static_cast<int64_t>(axis) - (random_.chance(30) ? static_cast<int64_t>(dims.size()) : 0);
  return plain(want, {name + "(", fmt::format(", axis=[{}]{})", written, keep ? ", keepdims=True" : "")},
               {operand});
}

TermPtr Generator::element(const TypePtr& want, Exactness budget, int depth) {
  if (want->dims.size() > 2) return nullptr;
  size_t axis = random_.below(want->dims.size() + 1);
  int64_t extent = random_.between(1, 3), at = random_.between(0, extent - 1);
  std::vector<Extent> dims = want->dims;
  dims.insert(dims.begin() + static_cast<ptrdiff_t>(axis), Extent{extent, ""});
  std::string index;
  for (size_t i = 0; i < axis; ++i) index += ":, ";
  index += std::to_string(random_.chance(30) ? at - extent : at);
  return plain(want, {"(", ")[" + index + "]"}, {make(tensor(dims, want->dtype), budget, depth)});
}

TermPtr Generator::slice(const TypePtr& want, Exactness budget, int depth) {
  size_t axis = random_.below(want->dims.size());
  if (!want->dims[axis].variable.empty()) return nullptr;
  int64_t extent = want->dims[axis].constant, begin = random_.between(0, 2), after = random_.between(0, 2);
  int64_t step = random_.between(1, 2);
  std::vector<Extent> dims = want->dims;
  dims[axis].constant = begin + (extent ? (extent - 1) * step + 1 : 0) + after;
  std::string index;
  for (size_t i = 0; i < axis; ++i) index += ":, ";
  index += begin || random_.chance(30) ? std::to_string(begin) : "";
  index += ":" + (after || random_.chance(30) ? std::to_string(dims[axis].constant - after) : "");
  if (step != 1) index += ":" + std::to_string(step);
  return plain(want, {"(", ")[" + index + "]"}, {make(tensor(dims, want->dtype), budget, depth)});
}

TermPtr Generator::computed_slice(const TypePtr& want, Exactness budget, int depth) {
  // Its annotation is to name each dim: a `?` would forget it.
  if (!is_spelled(want)) return nullptr;
  const size_t axis = random_.below(want->dims.size());
  if (!want->dims[axis].variable.empty()) return nullptr;
  const int64_t extent = want->dims[axis].constant, begin = random_.between(0, 2);
  std::vector<Extent> dims = want->dims;
  dims[axis].constant += begin;
  const std::string bound = fresh("k"), value = fresh("v");
  std::string position;
  for (size_t i = 0; i < axis; ++i) position += ":, ";
  position += random_.chance(30)   ? fmt::format("[i < {}] => i >= %{}", dims[axis].constant, bound)
              : random_.chance(50) ? fmt::format("%{}:", bound)
                                   : fmt::format("%{0}:%{0} + {1}", bound, extent);
  // The annotation checks the extent when the program runs.
  return plain(want,
               {fmt::format("{{ let %{} = index({}); let %{}: {} = (", bound, begin, value, to_string(*want)),
                fmt::format(")[{}]; %{} }}", position, value)},
               {make(tensor(dims, want->dtype), budget, depth)});
}

TermPtr Generator::transposed(const TypePtr& want, Exactness budget, int depth) {
  size_t rank = want->dims.size();
  std::vector<size_t> axes(rank);
  std::iota(axes.begin(), axes.end(), 0);
  for (size_t i = rank; i > 1; --i) std::swap(axes[i - 1], axes[random_.below(i)]);
  std::vector<Extent> dims(rank);
  for (size_t i = 0; i < rank; ++i) dims[axes[i]] = want->dims[i];
  return plain(want, {"transpose(", fmt::format(", axes=[{}])", fmt::join(axes, ", "))},
               {make(tensor(dims, want->dtype), budget, depth)});
}

TermPtr Generator::reshaped(const TypePtr& want, Exactness budget, int depth) {
  if (!is_static(want)) return nullptr;
  int64_t count = 1;
  for (const Extent& d : want->dims) count *= d.constant;
  if (count == 0) return nullptr;
  std::vector<Extent> dims;
  for (int64_t rest = count; rest > 1;) {
    int64_t factor = random_.between(2, rest);
    while (rest % factor) --factor;
    if (factor < 2) factor = rest;
    dims.push_back({factor, ""});
    rest /= factor;
  }
  std::string shape = shape_text(want->dims);
  return plain(want, {"reshape(", ", newshape=" + shape + ")"},
               {make(tensor(dims, want->dtype), budget, depth)});
}

TermPtr Generator::concatenation(const TypePtr& want, Exactness budget, int depth) {
  size_t axis = random_.below(want->dims.size());
  if (!want->dims[axis].variable.empty()) return nullptr;
  std::vector<Extent> left = want->dims, right = want->dims;
  left[axis].constant = random_.between(0, want->dims[axis].constant);
  right[axis].constant -= left[axis].constant;
  return plain(
      want, {"concatenate((", ", ", fmt::format("), axis={})", axis)},
      {make(tensor(left, want->dtype), budget, depth), make(tensor(right, want->dtype), budget, depth)});
}

TermPtr Generator::dense(const TypePtr& want, Exactness budget, int depth) {
  if (want->kind != TypeTerm::Kind::Tensor || want->dims.size() != 2) return nullptr;
  int64_t inner = random_.between(1, 4);
  Exactness part{std::floor(std::sqrt(budget.magnitude / static_cast<double>(inner))), budget.fraction / 2};
  return plain(want, {"nn.dense(", ", ", ")"},
               {make(tensor({want->dims[0], {inner, ""}}, want->dtype), part, depth),
                make(tensor({want->dims[1], {inner, ""}}, want->dtype), part, depth)});
}

TermPtr Generator::converted(const TypePtr& want, Exactness budget, int depth) {
  if (want->kind != TypeTerm::Kind::Tensor) return nullptr;
  static const std::vector<std::string> dtypes{"int32", "int64", "bool", "float32"};
  std::string from = random_.pick(dtypes);
  return plain(want, {"cast(", fmt::format(", dtype=\"{}\")", want->dtype)},
               {make(tensor(want->dims, from), budget, depth)});
}

TermPtr Generator::scanned(const TypePtr& want, Exactness budget, int depth) {
  const TypePtr carry = random_tensor(), row = tensor(random_dims(2), random_dtype());
  std::vector<Extent> dims = row->dims, made(want->dims.begin() + 1, want->dims.end());
  if (has_unwritten(carry) || has_unwritten(row) || has_unwritten(tensor(made, want->dtype))) return nullptr;
  dims.insert(dims.begin(), want->dims[0]);
  const size_t before = locals_.size();
  const std::string c = fresh("c"), r = fresh("r");
  locals_.push_back({c, carry, kParameter});
  locals_.push_back({r, row, kParameter});
  TermPtr next = make(carry, kParameter, depth), element = make(tensor(made, want->dtype), budget, depth);
  locals_.resize(before);
  return plain(
      want,
      {fmt::format("scan_over(fn (%{}: {}, %{}: {}) {{ (", c, to_string(*carry), r, to_string(*row)), ", ",
       ") }, ", ", ", random_.chance(40) ? ", reverse=True).1" : ").1"},
      {next, element, make(carry, kParameter, depth), make(tensor(dims, row->dtype), kParameter, depth)}, {},
      {c, r});
}

TermPtr Generator::looped(const TypePtr& want, Exactness budget, int depth) {
  if (!kParameter.within(budget) || has_unwritten(want)) return nullptr;
  const bool multiplies = is_float(want) && want->dims.size() == 2 && random_.chance(60);
  const int64_t turns = random_.between(1, 4);
  TypePtr row = tensor(random_dims(2), random_dtype());
  if (multiplies) row = tensor({want->dims[0], {random_.between(1, 4), ""}}, want->dtype);
  if (has_unwritten(row)) return nullptr;
  std::vector<Extent> dims = row->dims;
  dims.insert(dims.begin(), {random_.between(1, 4), ""});
  const size_t before = locals_.size();
  const std::string xs = fresh("xs"), f = fresh("f"), t = fresh("t"), c = fresh("c"), r = fresh("r");
  std::vector<TermPtr> children{make(tensor(dims, row->dtype), kParameter, depth)};
  locals_.push_back({t, tensor({}, "int32"), kParameter});
  locals_.push_back({c, want, kParameter});
  locals_.push_back({r, row, kParameter});
  children.push_back(make(want, kParameter, depth));
  if (multiplies) children.push_back(make(tensor({want->dims[1], row->dims[1]}, want->dtype), {1, 0}, depth));
  locals_.resize(before);
  children.push_back(make(want, kParameter, depth));
  const std::string begin = fmt::format(
      ";\n  let %{0} = fn (%{1}: int32, %{2}: {3}) -> {3} {{ if (%{1} == {4}) {{ %{2} }} else {{ let %{5} = "
      "take(%{6}, "
      "%{1}, axis=0); %{0}(%{1} + 1, ",
      f, t, c, to_string(*want), turns, r, xs);
  const std::string end = fmt::format(") }} }};\n  %{}(0, ", f);
  std::vector<std::string> parts{"{ let %" + xs + " = ", begin, end, ") }"};
  if (multiplies)
    parts = {parts[0], begin + "maximum(minimum(", fmt::format(" + nn.dense(%{}, ", r),
             "), 8.0), -8.0)" + end, parts[3]};
  return plain(want, parts, children, {}, {xs, f, t, c, r});
}

TermPtr Generator::mapped(const TypePtr& want, Exactness budget, int depth) {
  const TypePtr row = tensor(random_dims(2), random_dtype());
  std::vector<Extent> dims = row->dims, made(want->dims.begin() + 1, want->dims.end());
  if (has_unwritten(row) || has_unwritten(tensor(made, want->dtype))) return nullptr;
  dims.insert(dims.begin(), want->dims[0]);
  const size_t before = locals_.size();
  const std::string r = fresh("r");
  locals_.push_back({r, row, kParameter});
  TermPtr element = make(tensor(made, want->dtype), budget, depth);
  locals_.resize(before);
  return plain(want, {fmt::format("vmap(fn (%{}: {}) {{ ", r, to_string(*row)), " })(", ")"},
               {element, make(tensor(dims, row->dtype), kParameter, depth)}, {}, {r});
}

}  // namespace quern::random_programs
