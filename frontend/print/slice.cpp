// Printing of slices: `f(%x)[1, :, ::2]` where an index expression cannot be used, since it reads only named
// tensors.

#include <algorithm>

#include "frontend/print/printer_impl.h"
#include "frontend/syntax/slice_range.h"

namespace quern::printer_detail {

namespace {

bool has_name(ExprPtr tensor) {
  while (auto* field = as<FieldExpr>(tensor)) tensor = field->tuple;
  return tensor->kind == ExprKind::Var;
}

/// The mask of which a read finds the positions where it holds, at `var` and along an axis; null if it is another
/// read.
ExprPtr mask_of(const ReadExpr& read, Dim var) {
  auto* check = as<CheckDimsExpr>(read.tensor);
  auto* where = check && check->value ? as<ExternExpr>(check->value) : nullptr;
  if (!where || where->kernel != "argwhere" || read.indices.size() != 2) return nullptr;
  auto* at = as<DimValueExpr>(read.indices[0]);
  return at && at->dim == var ? where->args[0] : nullptr;
}

/// The tensor that computes a position, or null: of rank 0, or a list of positions or a mask that `var` runs over.
ExprPtr computed_position(ExprPtr index, Dim var) {
  auto* cast = as<ScalarExpr>(index);
  auto* read = cast && cast->is_cast && cast->args.size() == 1 ? as<ReadExpr>(cast->args[0]) : nullptr;
  if (!read || read->otherwise) return nullptr;
  if (read->indices.empty()) return read->tensor;
  if (ExprPtr mask = mask_of(*read, var)) return mask;
  auto* at = read->indices.size() == 1 ? as<DimValueExpr>(read->indices[0]) : nullptr;
  return at && at->dim == var ? read->tensor : nullptr;
}

/// The positions of a list for an axis of unknown extent, as `Slices::list_of` makes it: a chain of
/// conditions on its index; nothing for any other tensor.
std::optional<std::vector<Dim>> known_positions(ExprPtr list) {
  auto* made = as<ComprehensionExpr>(list);
  if (!made || made->vars.size() != 1 || made->schedule) return std::nullopt;
  std::vector<Dim> positions;
  for (ExprPtr element = made->body; element;) {
    auto* chosen = as<IfExpr>(element);
    auto* test = chosen ? as<ScalarExpr>(chosen->condition) : nullptr;
    if (chosen) {
      auto* var = test && test->op == ScalarOp::Eq ? as<DimValueExpr>(test->args[0]) : nullptr;
      auto* at = var ? as<DimValueExpr>(test->args[1]) : nullptr;
      const bool is_next = at && var->dim == made->vars[0] && as_const(at->dim) == std::ssize(positions);
      if (!is_next) return std::nullopt;
    }
    auto* cast = as<ScalarExpr>(chosen ? chosen->then_arm : element);
    auto* position = cast && cast->is_cast ? as<DimValueExpr>(cast->args[0]) : nullptr;
    if (!position) return std::nullopt;
    positions.push_back(position->dim);
    element = chosen ? chosen->else_arm : nullptr;
  }
  if (as_const(made->extents[0]) != std::ssize(positions)) return std::nullopt;
  return positions;
}

bool is_spelled(Dim dim, const Names& names) {
  bool spelled = !dim->has_any && !dim->has_infer;
  for_each_var(dim, [&](Dim var) { spelled &= !var->opened || names.is_computed(var); });
  return spelled;
}

/// The dim, and what it is where a clamp in it does nothing.
std::vector<Dim> without_clamps(Dim dim) {
  std::vector<Dim> all{dim};
  for (size_t i = 0; i < all.size(); ++i)
    if (const Dim choice = all[i]; choice->kind == DimKind::Min || choice->kind == DimKind::Max)
      all.insert(all.end(), choice->args.begin(), choice->args.end());
  return all;
}

/// Possible spellings of a bound, shortest first: omitted, or without clamping to the axis. It is one of `bounds`, up to clamps.
std::vector<std::optional<Dim>> spellings(const std::vector<Dim>& bounds, Dim extent, const Names& names) {
  std::vector<std::optional<Dim>> found{std::nullopt};
  const auto add = [&](std::optional<Dim> dim) {
    if (std::ranges::find(found, dim) == found.end()) found.push_back(dim);
  };
  for (Dim bound : bounds)
    for (Dim dim : without_clamps(bound)) {
      if (auto from_end = as_const(dim_sub(dim, extent)); from_end && *from_end < 0 && !as_const(dim))
        add(dim_const(*from_end));
      if (is_spelled(dim, names)) add(dim);
    }
  // Numbers first, and bounds without clamping.
  const auto rank = [](const std::optional<Dim>& dim) {
    if (as_const(*dim)) return 0;
    return (*dim)->kind == DimKind::Min || (*dim)->kind == DimKind::Max ? 2 : 1;
  };
  std::ranges::stable_sort(found.begin() + 1, found.end(), {}, rank);
  return found;
}

}  // namespace

/// One position of an axis: a name or a number, counted from the end if necessary.
std::optional<std::string> Printer::position(Dim at, Dim extent) {
  if (auto known = as_const(at); known && *known >= 0) return dim_text(at);
  if (auto known = as_const(dim_sub(at, extent)); known && *known < 0) return std::to_string(*known);
  if (at->kind == DimKind::Var && is_spelled(at, names_)) return dim_text(at);
  return std::nullopt;
}

/// `[0, -1]`, if the positions of a list are known up to their axis's extent; otherwise "".
std::string Printer::list_text(ExprPtr list, Dim extent) {
  const auto positions = known_positions(list);
  std::string words;
  for (Dim at : positions.value_or(std::vector<Dim>())) {
    const auto text = position(at, extent);
    if (!text) return "";
    words += (words.empty() ? "[" : ", ") + *text;
  }
  return words.empty() ? "" : words + "]";
}

/// The shortest spelling that means `at` for `var` below `count`.
std::optional<std::string> Printer::slice_text(Dim at, Dim var, Dim count, Dim extent) {
  auto linear = linear_in(at, var);
  auto step = linear ? as_const(linear->coefficient) : std::nullopt;
  if (!step) return std::nullopt;
  const Dim first = linear->rest;
  std::vector<Dim> last;
  for (Dim begin : without_clamps(first))
    for (Dim steps : without_clamps(count)) last.push_back(dim_add(begin, dim_mul(steps, dim_const(*step))));
  const auto ends = spellings(last, extent, names_);
  for (std::optional<Dim> from : spellings({first}, extent, names_))
    for (std::optional<Dim> to : ends) {
      SliceRange range = slice_range(from, to, *step, extent);
      if (range.first != first || range.count != count) continue;
      std::string text = (from ? dim_text(*from) : "") + ":" + (to ? dim_text(*to) : "");
      return *step == 1 ? text : text + ":" + std::to_string(*step);
    }
  return std::nullopt;
}

/// The positions of a slice; nothing if it is not a slice, or an index expression serves as well.
std::optional<std::vector<Printer::SliceItem>> Printer::slice_items(const ComprehensionExpr& e) {
  auto* read = e.schedule ? nullptr : as<ReadExpr>(e.body);
  if (!read || read->otherwise || read->indices.empty() || !read->tensor->type->is_tensor())
    return std::nullopt;
  bool plain = has_name(read->tensor) && std::ranges::all_of(e.extents, [this](Dim extent) {
                 return is_spelled(extent, names_) && !names_.is_computed(extent);
               });
  size_t vars = 0, lists = 0;
  std::vector<SliceItem> items;
  for (size_t axis = 0; axis < read->indices.size(); ++axis) {
    Dim extent = read->tensor->type->dims[axis];
    const Dim var = vars < e.vars.size() ? e.vars[vars] : nullptr;
    if (ExprPtr computed = computed_position(read->indices[axis], var)) {
      plain &= computed->kind == ExprKind::Var;
      items.push_back({list_text(computed, extent), computed});
      const bool is_list = computed->type->is_tensor() && !computed->type->dims.empty();
      lists += is_list ? 1 : 0;
      vars += is_list ? 1 : 0;
      // A mask has a dimension for each axis that it reads along.
      if (is_list) axis += computed->type->dims.size() - 1;
      continue;
    }
    auto* value = as<DimValueExpr>(read->indices[axis]);
    if (!value) return std::nullopt;
    // Positions in index expressions are proved, and integers there are values.
    plain &= !read->checked[axis] && !names_.is_computed(value->dim);
    bool runs = vars < e.vars.size() && contains_var(value->dim, e.vars[vars]);
    auto text =
        runs ? slice_text(value->dim, e.vars[vars], e.extents[vars], extent) : position(value->dim, extent);
    if (!text) return std::nullopt;
    vars += runs ? 1 : 0;
    items.push_back({*text, nullptr});
  }
  if (plain || vars != e.vars.size() || lists > 1) return std::nullopt;
  while (items.size() > 1 && items.back().text == ":") items.pop_back();
  return items;
}

void Printer::slice(const ReadExpr& e, const std::vector<SliceItem>& items) {
  at(e.tensor, Level::Postfix);
  list(
      "[", items.size(),
      [&](size_t i) { items[i].text.empty() ? item(items[i].computed) : text(items[i].text); }, "]");
}

}  // namespace quern::printer_detail
