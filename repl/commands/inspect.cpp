// Commands that list and inspect: types, shapes, variables, definitions, diagnostics.

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "frontend/infer/infer.h"
#include "ide/hover.h"
#include "repl/command_files.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/report/value_size.h"
#include "repl/workspace.h"

namespace quern {

namespace {

/// The variable that `%x` names, or null.
const TopLevelVariable* variable_asked(Workspace& workspace, std::string_view asked) {
  return asked.starts_with('%') && is_name(asked.substr(1)) ? workspace.variable_of(asked.substr(1))
                                                            : nullptr;
}

/// The shapes that a value of the type has.
std::string shape_of(Type type, const Value& value) {
  if (auto* tuple = value.object_as<TupleObject>()) {
    std::string text;
    for (size_t i = 0; i < tuple->fields.size(); ++i)
      text += (i == 0 ? "" : ", ") + shape_of(type->args[i], tuple->fields[i]);
    return fmt::format("({}{})", text, tuple->fields.size() == 1 ? "," : "");
  }
  auto* tensor = value.object_as<TensorObject>();
  if (!tensor) return shape_text(type);
  const Shape& shape = tensor->tensor->shape();
  return fmt::format("({}{}) {}", fmt::join(shape, ", "), shape.size() == 1 ? "," : "",
                     to_string(tensor->tensor->dtype()));
}

bool show_type(Workspace& workspace, const std::string& expression) {
  Session& session = workspace.session();
  std::string_view asked = trimmed(expression);
  if (std::string_view name = global_name(asked); !name.empty()) {
    if (session.find_definition(workspace.module(), name)) {
      print_line(workspace.type_of(name, ""));
      return true;
    }
  }
  // A polymorphic function has a scheme, but no monomorphic type as a value.
  if (const TopLevelVariable* variable = variable_asked(workspace, asked)) {
    print_line(to_string(variable->scheme));
    return true;
  }
  return workspace.with_source(expression, [&](SourceId source) {
    // The type of an operator is its signature.
    auto hover = is_name(asked) ? ide::hover(session, source, 0) : std::nullopt;
    if (hover && hover->range.end - hover->range.begin == asked.size()) {
      print_line(ide::code_of(*hover));
      return true;
    }
    auto statement = workspace.only_expression(source, "`:type`");
    if (!statement) return false;
    print_line(to_string(session.inferred_statement(*statement).definition.scheme));
    return true;
  });
}

/// Shows shape and dtype only; of a variable, those of its value.
bool show_shape(Workspace& workspace, const std::string& expression) {
  if (!global_name(trimmed(expression)).empty())
    return workspace.complain("a function has no shape; `:type` shows its type");
  if (const TopLevelVariable* variable = variable_asked(workspace, trimmed(expression)))
    if (const Value* value = workspace.execution().value_of(variable->variable)) {
      print_line(shape_of(variable->variable->type, *value));
      return true;
    }
  return workspace.with_source(expression, [&](SourceId source) {
    auto statement = workspace.only_expression(source, "`:shape`");
    if (!statement) return false;
    const Type type = workspace.session().inferred_statement(*statement).definition.scheme.type;
    if (type->kind == TypeKind::Function)
      return workspace.complain("a function has no shape; `:type` shows its type");
    print_line(shape_text(type));
    return true;
  });
}

bool show_variables(Workspace& workspace, const std::string&) {
  Session& session = workspace.session();
  std::map<std::string, const TopLevelVariable*> latest;
  std::vector<std::string> order;
  for (DeclarationId statement : session.statements_of_module(workspace.module())) {
    for (const auto& variable : session.statement_variables(statement)) {
      std::string name(variable->variable->name);
      std::erase(order, name);
      order.push_back(name);
      latest[name] = variable.get();
    }
  }
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> results;
  ValueBytes bytes_of_results;
  size_t result_bytes = 0;
  for (const std::string& name : order) {
    const TopLevelVariable& variable = *latest[name];
    const Value* value = workspace.execution().value_of(variable.variable);
    if (value && Results::is_name(name)) {
      results.push_back(name);
      result_bytes += bytes_of_results.add(*value);
      continue;
    }
    const bool has_size = value && !value->object_as<ClosureObject>();
    rows.push_back({fmt::format("%{}: {}", name, to_string(variable.scheme)),
                    has_size ? bytes_text(ValueBytes().add(*value)) : ""});
  }
  // There are many results, and their names are generated.
  if (!results.empty()) {
    const std::string range = results.size() == 1 ? "" : fmt::format(" to %{}", results.back());
    rows.push_back({fmt::format("%{}{}: results", results.front(), range), bytes_text(result_bytes)});
  }
  fmt::print("{}", columns_text(rows, "lr"));
  return true;
}

/// A one-line description of a declaration.
std::string summary_of(Workspace& workspace, DeclarationId id) {
  Session& session = workspace.session();
  const DeclarationInfo& about = session.info(id);
  if (about.kind == PieceKind::Test) return fmt::format("test \"{}\"", about.name);
  if (about.kind == PieceKind::Def && about.name.starts_with("@"))
    return workspace.type_of(about.name.substr(1), about.name + ": ");
  const bool has_body = about.kind == PieceKind::Def || about.kind == PieceKind::Op;
  const Range range = session.range_of({{id, 0}, {}});
  std::string text = has_body ? session.signature(id)
                              : session.text(about.source).substr(range.begin, range.end - range.begin);
  std::string line;
  for (char c : text) {
    const bool is_blank = c == '\n' || c == '\t' || c == ' ';
    if (!is_blank || !line.ends_with(' ')) line += is_blank ? ' ' : c;
  }
  return std::string(trimmed(line));
}

bool show_definitions(Workspace& workspace, const std::string&) {
  for (const auto& [id, declared] : workspace.declared().in_order()) {
    const Unsound found = workspace.declared().unsound(id);
    const std::string state =
        found.errors.empty()
            ? ""
            : fmt::format("  // {}: {}", found.waits ? "waits" : "has errors", found.errors[0].message);
    print_line(summary_of(workspace, id) + state);
  }
  return true;
}

}  // namespace

std::span<const ReplCommand> commands_to_inspect() {
  static constexpr ReplCommand kRows[] = {
      {":type", "EXPR", Takes::Expression, About::Look, "the type of an expression, of @f or of an operator",
       as_command<show_type>},
      {":shape", "EXPR", Takes::Expression, About::Look, "shape and dtype alone", as_command<show_shape>},
      {":vars", "", Takes::None, About::Look, "the variables, their types and how large their values are",
       as_command<show_variables>},
      {":defs", "", Takes::None, About::Look, "what the inputs declare: definitions, operators, types, tests",
       as_command<show_definitions>},
  };
  return kRows;
}

}  // namespace quern
