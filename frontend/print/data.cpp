// Data, matches and references as text.

#include <algorithm>

#include "frontend/print/printer_impl.h"
#include "ir/type/type.h"

namespace quern::printer_detail {

std::string Printer::pattern_text(const Pattern& pattern,
                                  const std::function<std::string(const Variable*)>& name) {
  switch (pattern.kind) {
    case PatternKind::Wildcard: return "_";
    case PatternKind::Variable: return "%" + name(pattern.variable);
    case PatternKind::Constructor:
      if (pattern.parts.empty()) return constructor_text(pattern.name, pattern.type);
      break;
    case PatternKind::Tuple: break;
  }
  bool data = pattern.kind == PatternKind::Constructor;
  std::string words = data ? constructor_text(pattern.name, pattern.type) + "(" : "(";
  for (size_t i = 0; i < pattern.parts.size(); ++i)
    words += (i > 0 ? ", " : "") + pattern_text(*pattern.parts[i], name);
  return words + (!data && pattern.parts.size() == 1 ? ",)" : ")");
}

// With the prefix of its import, which a constructor has where it was written but not where it was made.
std::string Printer::constructor_text(std::string_view name, Type type) {
  const bool is_written = !options_.spelling || name.find('.') != std::string_view::npos;
  return (is_written ? "" : options_.spelling->qualifier(type).value_or("")) + std::string(name);
}

std::string Printer::arm_pattern(const Pattern& pattern) {
  return pattern_text(pattern, [this](const Variable* variable) {
    names_.bind(variable);
    return names_.of(variable);
  });
}

std::string Printer::statement_pattern(const Pattern& pattern) {
  return pattern_text(pattern, [this](const Variable* variable) { return names_.wanted(*variable); });
}

void Printer::arm(const MatchArm& arm) {
  hard_line();
  bracketed(arm_pattern(*arm.pattern) + " => ");
  at(arm.body, Level::Or);
  text(",");
  run([this, &arm] {
    for_each_variable(arm.pattern, [&](const Variable* variable) { names_.release(variable); });
  });
}

Level Printer::node(const MatchExpr& e) {
  text(e.partial ? "match? " : "match ");
  at(e.scrutinee, Level::Or);
  text(" {");
  indent();
  for (const MatchArm& each : e.arms) expected_with(e, each.body);
  for (const MatchArm& each : e.arms) run([this, &each] { arm(each); });
  dedent();
  if (!e.arms.empty()) hard_line();
  text("}");
  return Level::Primary;
}

Level Printer::node(const TupleExpr& e) {
  for (ExprPtr field : e.fields) expected_with(e, field);
  list("(", e.fields, e.fields.size() == 1 ? ",)" : ")");
  return Level::Postfix;
}

Level Printer::node(const FieldExpr& e) {
  // `@f.name` is one dotted name, in TVM's texts `%x.name` and `%x.0.name` too.
  bool joins =
      e.tuple &&
      (e.tuple->kind == ExprKind::Global ||
       (options_.slash_names && (e.tuple->kind == ExprKind::Var || e.tuple->kind == ExprKind::Field)));
  bool glued = !e.name.empty() && joins;
  if (glued) text("(");
  at(e.tuple, Level::Postfix);
  text((glued ? ")." : ".") + (e.name.empty() ? std::to_string(e.index) : std::string(e.name)));
  return Level::Postfix;
}

bool Printer::tells_type(const ConstructExpr& e) const {
  if (expected_.contains(&e)) return true;
  size_t count = std::min<size_t>(e.type->args.size(), 64);
  uint64_t open = count == 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
  for (size_t i = 0; open != 0 && i < e.fields.size() && i < e.constructor->parameters.size(); ++i) {
    auto* inner = as<ConstructExpr>(e.fields[i]);
    if (!inner || tells_type(*inner)) open &= ~e.constructor->parameters[i];
  }
  return open == 0;
}

Level Printer::node(const ConstructExpr& e) {
  std::string name = constructor_text(e.name, e.type);
  if (!tells_type(e)) {
    std::string types;
    for (Type arg : e.type->args) types += (types.empty() ? "<" : ", ") + type_text(arg);
    name += types + ">";
  }
  for (ExprPtr field : e.fields) expected(field);
  if (e.fields.empty()) {
    text(std::move(name));
    return Level::Postfix;
  }
  list(
      name + "(", e.fields.size(),
      [&](size_t i) {
        if (std::string_view field = e.constructor->fields[i]; !field.empty()) text(std::string(field) + "=");
        item(e.fields[i]);
      },
      ")");
  return Level::Postfix;
}

Level Printer::node(const RefExpr& e) {
  expected_with(e, e.content);
  list("ref(", {&e.content, 1}, ")");
  return Level::Postfix;
}

Level Printer::node(const RefReadExpr& e) {
  list("ref_read(", {&e.reference, 1}, ")");
  return Level::Postfix;
}

Level Printer::node(const RefWriteExpr& e) {
  expected(e.content);
  list(
      "ref_write(", 2, [&](size_t i) { item(i == 0 ? e.reference : e.content); }, ")");
  return Level::Postfix;
}

}  // namespace quern::printer_detail
