// Extracts the selected expression as a function, or an index expression as an operator: the names in it become
// parameters.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "ide/refactoring.h"
#include "ide/refactoring_text.h"
#include "ide/typed_syntax.h"
#include "ide/written_type.h"

namespace quern::ide {

namespace {

/// Adds the names of dims and types in a type, in order; false if the type cannot be written.
bool add_variables(Type type, std::vector<std::string>& names) {
  if (type->has_infer || contains_error(type)) return false;
  auto add = [&](std::string_view name) {
    if (std::ranges::find(names, name) == names.end()) names.emplace_back(name);
  };
  bool writable = !type->is_tensor() || !type->dtype.is_var();
  for (Dim dim : type->dims) {
    writable = writable && !dim->has_any;
    for_each_var(dim, [&](Dim var) {
      writable = writable && !var->opened;
      add(var->name);
    });
  }
  if (type->kind == TypeKind::Var) add(type->name);
  return writable && std::ranges::all_of(type->args, [&](Type arg) { return add_variables(arg, names); });
}

class FunctionExtraction {
 public:
  explicit FunctionExtraction(const Selection& selection)
      : selection_(selection), session_(selection.session), expression_(selection.expression()) {}

  /// Whether what the selection names can be parameters.
  bool is_possible() {
    if (!expression_ || !typed_body(session_, selection_.at.whole)) return false;
    const Type type = selection_.type_of(expression_);
    if (!type || !write(type, result_)) return false;
    for (const FreeName& name : free_names(session_, selection_.at.declaration, expression_))
      if (!take(name)) return false;
    return std::ranges::all_of(selection_.around, [](SyntaxPtr node) {
      return !node->is(SyntaxKind::Formatted) && !node->is(SyntaxKind::Scheduled);
    });
  }
  bool is_index_expression() const {
    return inner()->is(SyntaxKind::Comprehension) && !inner()->child(0)->children.empty();
  }

  Result<Change> function() const {
    const std::string name = free_name(selection_.lexed(), LexemeKind::Global, "extracted");
    const std::string end = line_end(selection_.text());
    const std::string dims = dims_.empty() ? "" : fmt::format("[{}]", fmt::join(dims_, ", "));
    const std::string text =
        fmt::format("def @{}{}({}) -> {} {{{}  {}{}}}{}{}", name, dims, fmt::join(params_, ", "), result_,
                    end, selection_.text_of(selection_.range_of(inner())), end, end, end);
    return change(text, "@" + name,
                  [name](Session&, TypedDeclarations& typed) { return typed.put_body_in_place(name); });
  }

  Result<Change> op() const {
    const std::string name = free_name(selection_.lexed(), LexemeKind::Name, "extracted");
    const std::string end = line_end(selection_.text());
    const SyntaxPtr comprehension = inner();
    std::vector<std::string> binders;
    for (SyntaxPtr binder : comprehension->child(0)->children) binders.emplace_back(binder->text);
    const std::string text =
        fmt::format("op {}({}) -> {} {{{}  [{}] => {}{}}}{}{}", name, fmt::join(params_, ", "), result_, end,
                    fmt::join(binders, ", "),
                    selection_.text_of(selection_.range_of(comprehension->child(1))), end, end, end);
    return change(text, name, [name](Session& session, TypedDeclarations& typed) {
      typed.put_operator_in_place(name, session.functions());
      return true;
    });
  }

 private:
  SyntaxPtr inner() const {
    SyntaxPtr node = expression_;
    while (node->is(SyntaxKind::Paren)) node = node->child(0);
    return node;
  }
  bool write(Type type, std::string& text) {
    const auto written = written_type(session_, selection_.module(), type);
    if (!written || !add_variables(type, dims_)) return false;
    text = *written;
    return true;
  }

  bool take(const FreeName& name) {
    switch (name.target.kind) {
      case NameKind::Variable: return add_parameter(name);
      case NameKind::TypeParameter:
        if (std::ranges::find(dims_, name.text) == dims_.end()) dims_.push_back(name.text);
        return true;
      case NameKind::Index:
      case NameKind::Attribute:
      case NameKind::Constant:
      case NameKind::Loop: return false;
      case NameKind::Definition:
      case NameKind::Operator:
      case NameKind::Static:
      case NameKind::Type:
      case NameKind::Constructor:
      case NameKind::Field:
      case NameKind::Module: return true;
    }
    return false;
  }
  /// The type is that of an occurrence of the name.
  bool add_parameter(const FreeName& name) {
    if (!names_.insert(name.text).second) return false;
    for (const Occurrence& occurrence : session_.occurrences(selection_.at.declaration)) {
      if (occurrence.target != name.target || !is_inside(expression_, occurrence.node)) continue;
      const SyntaxPtr node =
          find_node(session_.declaration(selection_.at.declaration).syntax, occurrence.node);
      const Type type = node && node->is(SyntaxKind::Local) ? selection_.type_of(node) : nullptr;
      std::string written;
      if (!type || !write(type, written)) return false;
      params_.push_back(fmt::format("%{}: {}", name.text, written));
      arguments_.push_back("%" + name.text);
      return true;
    }
    return false;
  }

  Result<Change> change(const std::string& declaration, const std::string& name,
                        SeeThrough see_through) const {
    const uint32_t before = selection_.begin_with_comment();
    const std::string call = fmt::format("{}({})", name, fmt::join(arguments_, ", "));
    TextEdits edits{{{before, before}, declaration}, {selection_.range_of(expression_), call}};
    return same_program(session_, selection_.source, std::move(edits), nullptr, std::move(see_through));
  }

  const Selection& selection_;
  Session& session_;
  SyntaxPtr expression_;
  std::string result_;
  std::vector<std::string> dims_, params_, arguments_;
  std::set<std::string> names_;
};

}  // namespace

void extract_function(const Selection& selection, std::vector<Offer>& offers) {
  auto extraction = std::make_shared<FunctionExtraction>(selection);
  if (!extraction->is_possible()) return;
  offers.push_back({"extract into a function", [extraction] { return extraction->function(); }});
  if (extraction->is_index_expression())
    offers.push_back({"extract into an operator", [extraction] { return extraction->op(); }});
}

}  // namespace quern::ide
