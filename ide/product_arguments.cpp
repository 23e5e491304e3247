// Repairs calls whose arguments do not fit, by swapping, transposing, casting or reshaping them.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

/// Repairs of one call, or of the operands of a symbol. Each is tried before it is offered.
class ArgumentRepairs {
 public:
  ArgumentRepairs(const Selection& selection, SyntaxPtr call) : selection_(selection), call_(call) {
    const bool is_call = call->is(SyntaxKind::Call);
    for (SyntaxPtr child : call->children.subspan(is_call ? 1 : 0))
      if (!child->is(SyntaxKind::NamedArgument)) arguments_.push_back(child);
  }

  void find() {
    if (call_->is(SyntaxKind::Call) && arguments_.size() == 2) swap();
    for (size_t i = 0; i < arguments_.size(); ++i) {
      const Type type = selection_.type_of(arguments_[i]);
      if (!type || !type->is_tensor()) continue;
      transpose(arguments_[i], type);
      for (Type wanted : wanted_types(i)) {
        convert(arguments_[i], type, wanted);
        reshape(arguments_[i], type, wanted);
      }
    }
  }

  /// The repairs that reduce the number of errors.
  std::vector<Offer> succeeding() {
    std::vector<Offer> offers;
    for (Repair& repair : repairs_) {
      const auto is_same = [&](const Offer& other) { return other.title == repair.title; };
      if (std::ranges::any_of(offers, is_same)) continue;
      if (succeeds(selection_.session, selection_.source, repair.change))
        offers.push_back({repair.title, [change = repair.change] { return Result<Change>(change); }});
    }
    return offers;
  }

 private:
  struct Repair {
    std::string title;
    Change change;
  };

  std::string text(SyntaxPtr node) const {
    return std::string(selection_.text_of(selection_.range_of(node)));
  }
  void add(std::string title, TextEdits edits) {
    repairs_.push_back(
        {std::move(title), with_fewer_errors(selection_.session, selection_.source, std::move(edits))});
  }
  /// Wraps an argument in a call.
  void wrap(std::string title, SyntaxPtr argument, const std::string& op, const std::string& attributes) {
    const Range range = selection_.range_of(argument);
    add(std::move(title),
        {{{range.begin, range.begin}, op + "("}, {{range.end, range.end}, attributes + ")"}});
  }

  void swap() {
    const SyntaxPtr first = arguments_[0], second = arguments_[1];
    add(fmt::format("swap the arguments of `{}`", text(call_->child(0))),
        {{selection_.range_of(first), text(second)}, {selection_.range_of(second), text(first)}});
  }
  void transpose(SyntaxPtr argument, Type type) {
    if (type->dims.size() < 2) return;
    std::vector<size_t> axes(type->dims.size());
    for (size_t i = 0; i < axes.size(); ++i) axes[i] = i;
    std::swap(axes[axes.size() - 2], axes[axes.size() - 1]);
    const std::string written = axes.size() == 2 ? "" : fmt::format(", axes=[{}]", fmt::join(axes, ", "));
    wrap(fmt::format("transpose `{}`", text(argument)), argument, "transpose", written);
  }
  void convert(SyntaxPtr argument, Type type, Type wanted) {
    if (type->dtype == wanted->dtype || type->dtype.is_var() || wanted->dtype.is_var()) return;
    const std::string dtype = to_string(wanted->dtype);
    wrap(fmt::format("cast `{}` to {}", text(argument), dtype), argument, "cast",
         fmt::format(", dtype=\"{}\"", dtype));
  }
  void reshape(SyntaxPtr argument, Type type, Type wanted) {
    const auto constant = [](Dim dim) { return as_const(dim).has_value(); };
    if (std::ranges::equal(type->dims, wanted->dims) || !std::ranges::all_of(type->dims, constant) ||
        !std::ranges::all_of(wanted->dims, constant) ||
        dim_product(type->dims) != dim_product(wanted->dims) || wanted->dims.empty())
      return;
    std::vector<std::string> extents;
    for (Dim dim : wanted->dims) extents.push_back(to_string(dim));
    const std::string shape = fmt::format("({}{})", fmt::join(extents, ", "), extents.size() == 1 ? "," : "");
    wrap(fmt::format("reshape `{}` to {}", text(argument), shape), argument, "reshape",
         fmt::format(", newshape={}", shape));
  }

  /// The tensor types that an argument might be meant to have: its parameter's, else those of the others.
  std::vector<Type> wanted_types(size_t argument) const {
    std::vector<Type> types;
    const SyntaxPtr callee = call_->is(SyntaxKind::Call) ? call_->child(0) : nullptr;
    if (callee && callee->is(SyntaxKind::GlobalName)) {
      std::string_view name = callee->text;
      if (name.starts_with("@")) name.remove_prefix(1);
      const Scheme* scheme = selection_.session.scheme(selection_.module(), name);
      if (scheme && scheme->type && scheme->type->kind == TypeKind::Function &&
          argument < scheme->type->params().size())
        types.push_back(scheme->type->params()[argument]);
    } else {
      for (size_t i = 0; i < arguments_.size(); ++i)
        if (i != argument) types.push_back(selection_.type_of(arguments_[i]));
    }
    std::erase_if(types, [](Type type) { return !type || !type->is_tensor(); });
    return types;
  }

  const Selection& selection_;
  SyntaxPtr call_;
  std::vector<SyntaxPtr> arguments_;
  std::vector<Repair> repairs_;
};

}  // namespace

void repair_arguments(const Selection& selection, std::vector<Offer>& offers) {
  const auto is_call = [](SyntaxPtr node) {
    return node->is(SyntaxKind::Call) || node->is(SyntaxKind::Binary);
  };
  const auto errors = selection.session.check_declaration(selection.at.whole);
  // The innermost enclosing call with an error.
  for (auto node = selection.around.rbegin(); node != selection.around.rend(); ++node) {
    if (!is_call(*node)) continue;
    const Range range = selection.range_of(*node);
    const bool is_wrong = std::ranges::any_of(errors, [&](const LocatedDiagnostic& error) {
      return severity_of(error.kind) == Severity::Error && error.range.begin >= range.begin &&
             error.range.end <= range.end;
    });
    if (!is_wrong) continue;
    ArgumentRepairs repairs(selection, *node);
    repairs.find();
    for (Offer& offer : repairs.succeeding()) offers.push_back(std::move(offer));
    return;
  }
}

}  // namespace quern::ide
