// The printer on slices: `f(%x)[1, :, ::2]` where no index expression could say it, which reads what has a
// name.

#include <algorithm>

#include "frontend/print/printer_impl.h"
#include "frontend/syntax/slice_range.h"

namespace quern::printer_detail {

namespace {

bool has_name(ExprPtr tensor) {
  while (auto* field = as<FieldExpr>(tensor)) tensor = field->tuple;
  return tensor->kind == ExprKind::Var;
}

/// The rank-0 tensor that a position is computed by, or null.
ExprPtr computed_position(ExprPtr index) {
  auto* cast = as<ScalarExpr>(index);
  auto* read = cast && cast->is_cast && cast->args.size() == 1 ? as<ReadExpr>(cast->args[0]) : nullptr;
  return read && read->indices.empty() && !read->otherwise ? read->tensor : nullptr;
}

bool is_spelled(Dim dim) {
  bool spelled = !dim->has_any && !dim->has_infer;
  for_each_var(dim, [&](Dim var) { spelled &= !var->opened; });
  return spelled;
}

/// What a bound may have been written as, the shortest first: left out, or without what keeps it in the axis.
std::vector<std::optional<Dim>> spellings(Dim bound, Dim extent) {
  std::vector<std::optional<Dim>> found{std::nullopt};
  std::vector<Dim> todo{bound};
  while (!todo.empty()) {
    Dim dim = todo.back();
    todo.pop_back();
    if (dim->kind == DimKind::Min || dim->kind == DimKind::Max)
      todo.insert(todo.end(), dim->args.begin(), dim->args.end());
    if (auto from_end = as_const(dim_sub(dim, extent)); from_end && *from_end < 0 && !as_const(dim))
      found.emplace_back(dim_const(*from_end));
    if (is_spelled(dim)) found.emplace_back(dim);
  }
  std::stable_sort(found.begin() + 1, found.end(), [](const auto& a, const auto& b) {
    return as_const(*a).has_value() > as_const(*b).has_value();
  });
  return found;
}

}  // namespace

/// One position of an axis: a name, or a number, from the end where that is needed.
std::optional<std::string> Printer::position(Dim at, Dim extent) {
  if (auto known = as_const(at); known && *known >= 0) return dim_text(at);
  if (auto known = as_const(dim_sub(at, extent)); known && *known < 0) return std::to_string(*known);
  if (at->kind == DimKind::Var && is_spelled(at)) return dim_text(at);
  return std::nullopt;
}

/// The shortest of the spellings that mean `at` for `var` below `count`.
std::optional<std::string> Printer::slice_text(Dim at, Dim var, Dim count, Dim extent) {
  auto linear = linear_in(at, var);
  auto step = linear ? as_const(linear->coefficient) : std::nullopt;
  if (!step) return std::nullopt;
  Dim first = linear->rest, last = dim_add(first, dim_mul(count, dim_const(*step)));
  for (std::optional<Dim> from : spellings(first, extent))
    for (std::optional<Dim> to : spellings(last, extent)) {
      SliceRange range = slice_range(from, to, *step, extent);
      if (range.first != first || range.count != count) continue;
      std::string text = (from ? dim_text(*from) : "") + ":" + (to ? dim_text(*to) : "");
      return *step == 1 ? text : text + ":" + std::to_string(*step);
    }
  return std::nullopt;
}

/// The positions of a slice; nothing for what is none, or is said as well by an index expression.
std::optional<std::vector<Printer::SliceItem>> Printer::slice_items(const ComprehensionExpr& e) {
  auto* read = e.schedule ? nullptr : as<ReadExpr>(e.body);
  if (!read || read->otherwise || read->indices.empty() || !read->tensor->type->is_tensor())
    return std::nullopt;
  bool plain = has_name(read->tensor) && std::ranges::all_of(e.extents, is_spelled);
  size_t vars = 0;
  std::vector<SliceItem> items;
  for (size_t axis = 0; axis < read->indices.size(); ++axis) {
    Dim extent = read->tensor->type->dims[axis];
    if (ExprPtr computed = computed_position(read->indices[axis])) {
      plain &= computed->kind == ExprKind::Var;
      items.push_back({"", computed});
      continue;
    }
    auto* value = as<DimValueExpr>(read->indices[axis]);
    if (!value) return std::nullopt;
    plain &= !read->checked[axis];  // a position of an index expression is proved
    bool runs = vars < e.vars.size() && contains_var(value->dim, e.vars[vars]);
    auto text =
        runs ? slice_text(value->dim, e.vars[vars], e.extents[vars], extent) : position(value->dim, extent);
    if (!text) return std::nullopt;
    vars += runs ? 1 : 0;
    items.push_back({*text, nullptr});
  }
  if (plain || vars != e.vars.size()) return std::nullopt;
  while (items.size() > 1 && items.back().text == ":") items.pop_back();
  return items;
}

void Printer::slice(const ReadExpr& e, const std::vector<SliceItem>& items) {
  at(e.tensor, Level::Postfix);
  list(
      "[", items.size(), [&](size_t i) { items[i].computed ? item(items[i].computed) : text(items[i].text); },
      "]");
}

}  // namespace quern::printer_detail
