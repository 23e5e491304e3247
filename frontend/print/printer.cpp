#include "frontend/print/printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "frontend/print/printer_impl.h"
#include "frontend/unify/gradual.h"
#include "ir/type/static_value.h"
#include "ir/type/type.h"

namespace quern {

namespace printer_detail {

// --- expressions -----------------------------------------------------------------------------------------

Level Printer::node(ExprPtr expr) {
  if (expr) return visit(expr, [this](const auto& e) { return node(e); });
  text("<error>");
  return Level::Postfix;
}

namespace {

void find_type_vars(Type type, const std::function<void(Type)>& visit) {
  if (!type) return;
  if (type->kind == TypeKind::Var) visit(type);
  for (Type arg : type->args) find_type_vars(arg, visit);
}

}  // namespace

Level Printer::node(const VarExpr& e) {
  auto pattern = opened_.find(e.variable);
  text("%" + names_.of(pattern == opened_.end() ? e.variable : pattern->second));
  return Level::Postfix;
}

Level Printer::node(const GlobalExpr& e) {
  // A specialised copy of a definition prints as the definition at a use of these types.
  std::string prefix = options_.spelling ? options_.spelling->qualifier(e) : "";
  text(fmt::format("@{}{}", prefix, e.name.substr(0, e.name.find('{'))));
  return Level::Postfix;
}

void Printer::attribute(const StaticValue& value, const DimMap& dims) {
  if (Dim dim = value.as_dim()) return text(dim_text(substitute(dim, dims)));
  if (ExprPtr expr = value.as_index_expr()) return item(expr);
  const StaticList* items = value.as_list();
  if (!items) return text(to_string(value));
  list(
      "[", items->size(), [&](size_t i) { attribute((*items)[i], dims); }, "]");
}

void Printer::call(const std::string& head, std::span<const ExprPtr> args, const OpInstance& instance,
                   std::span<const Dim> dims) {
  DimMap here;
  for (size_t i = 0; i < instance.dim_vars.size() && i < dims.size(); ++i)
    here.emplace(instance.dim_vars[i], dims[i]);
  list(
      head, args.size() + instance.attributes.size(),
      [&](size_t i) {
        if (i < args.size()) return item(args[i]);
        const auto& [name, value] = instance.attributes[i - args.size()];
        text(name + "=");
        attribute(value, here);
      },
      ")");
}

Level Printer::node(const OpCallExpr& e) {
  std::string prefix = options_.spelling ? options_.spelling->qualifier(*e.instance) : "";
  call(prefix + e.instance->name + "(", e.args, *e.instance, e.dims);
  if (!e.schedule) return Level::Postfix;
  schedule(e.schedule->schedule);
  return Level::Scheduled;
}

Level Printer::node(const CallExpr& e) {
  at(e.callee, Level::Postfix);
  auto* global = as<GlobalExpr>(e.callee);
  // Parameter types of a monomorphic definition are known.
  if (global && global->types.empty() && !global->name.ends_with('}'))
    for (ExprPtr arg : e.args) expected(arg);
  auto attributes = global && options_.spelling ? options_.spelling->attributes(*global) : nullptr;
  if (attributes)
    call("(", e.args, *attributes, global->dims);
  else
    list("(", e.args, ")");
  return Level::Postfix;
}

void Printer::signature(const std::string& head, const FnExpr& fn) {
  std::vector<const FnAttribute*> own;
  std::unordered_map<std::string_view, std::string> noted;  // annotations of parameters
  for (const FnAttribute& a : fn.attributes) {
    size_t dot = a.name.starts_with('%') ? a.name.rfind('.') : std::string_view::npos;
    if (dot == std::string_view::npos) {
      own.push_back(&a);
      continue;
    }
    std::string& list = noted[a.name.substr(1, dot - 1)];
    list += fmt::format("{}{}={}", list.empty() ? " {" : ", ", a.name.substr(dot + 1), a.value);
  }
  list(
      head + "(", fn.params.size() + own.size(),
      [&](size_t i) {
        if (i >= fn.params.size()) {
          const FnAttribute& attribute = *own[i - fn.params.size()];
          return text(fmt::format("{}={}", attribute.name, attribute.value));
        }
        names_.bind(fn.params[i]);
        auto here = noted.find(fn.params[i]->name);
        const Type type = fn.params[i]->type;
        bracketed("%" + names_.of(fn.params[i]) + (here == noted.end() ? "" : here->second + "}") +
                  (fn.params[i]->fresh ? " /* fresh */" : "") +
                  (is_from_around(type, fn) ? "" : annotation(type, ": ")));
      },
      ")");
  // A `?` in its place would lose information of the body's type.
  bool typed = fn.type && fn.type->kind == TypeKind::Function && !forgets_dims(fn.type->result());
  if (typed && !annotation(fn.type->result(), "").empty()) expected(fn.body);
  if (typed) bracketed(annotation(fn.type->result(), " -> "));
}

Level Printer::node(const FnExpr& e) {
  std::vector<std::string> general = bind_general(e.dim_vars, e);
  // Type variables not bound by an enclosing function belong to this function.
  std::vector<Type> own;
  find_type_vars(e.type, [&](Type var) {
    if (names_.has_type(var)) return;
    names_.bind_type(var);
    own.push_back(var);
    general.push_back(names_.of_type(var));
  });
  std::string vars = general.empty() ? "" : fmt::format("[{}]", fmt::join(general, ", "));
  signature(std::string(e.primitive ? "/* kernel */ " : "") + "fn " + vars, e);
  text(" ");
  braced(e.body);
  run([this, &e, own] {
    for (const Variable* param : e.params) names_.release(param);
    for (Dim var : e.dim_vars) names_.release(var);
    for (Type var : own) names_.release_type(var);
  });
  return Level::Primary;
}

// The `?` of an operator's result is opened when it is read; an annotation would open it earlier.
static bool has_any_dim(Type type) {
  return std::ranges::any_of(type->dims, [](Dim dim) { return dim->has_any; }) ||
         std::ranges::any_of(type->args, has_any_dim);
}

bool Printer::is_annotated(const Variable& variable, ExprPtr value) {
  if (is_numbered(variable) || !variable.type) return false;
  // A function's type may have its own dims, which only a literal binds.
  if (variable.type->kind == TypeKind::Function || annotation(variable.type, "").empty()) return false;
  // An annotation with a `?` loses information of the value's type, so it is printed only if the source has
  // one.
  auto* check = as<CheckDimsExpr>(value);
  if (!check || !check->value || check->opened.empty())
    return !forgets_dims(variable.type) && !(as<OpCallExpr>(value) && has_any_dim(variable.type));
  return std::ranges::none_of(check->value->type->dims, [](Dim dim) { return dim->has_any; });
}

std::string Printer::binding_head(const Variable& variable, ExprPtr value) {
  std::string name = "%" + names_.of(&variable);
  if (is_numbered(variable)) {
    bool typed = options_.types && variable.type;
    return name + (typed ? " /* " + type_text(variable.type) + " */ = " : " = ");
  }
  return "let " + name + (is_annotated(variable, value) ? annotation(variable.type, ": ") : "") + " = ";
}

void Printer::binding(const Binding& binding) {
  const Variable* variable = binding.variable;
  if (!variable) {
    at(binding.value, Level::Scheduled);
  } else if (binding.value && binding.value->kind == ExprKind::Fn) {
    // A function literal sees its own name.
    names_.bind(variable);
    text(binding_head(*variable, binding.value));
    at(binding.value, Level::Scheduled);
  } else {
    size_t head = layout_.hole();
    if (is_annotated(*variable, binding.value)) expected(binding.value);
    at(binding.value, Level::Scheduled);
    run([this, variable, value = binding.value, head] {
      names_.bind(variable);
      layout_.fill(head, binding_head(*variable, value));
    });
  }
  text(";");
}

void Printer::bindings(const BlockExpr& block, size_t from) {
  if (from == 0) expected_with(block, block.result);
  while (from < block.bindings.size() && spells_extent(block.bindings[from])) ++from;
  if (from < block.bindings.size()) {
    binding(block.bindings[from]);
    hard_line();
    return run([this, &block, from] { bindings(block, from + 1); });
  }
  at(block.result, Level::Scheduled);
  run([this, &block] {
    for (const Binding& b : block.bindings)
      if (b.variable) names_.release(b.variable);
  });
}

void Printer::contents(ExprPtr expr) {
  if (auto* block = as<BlockExpr>(expr))
    run([this, block] { bindings(*block, 0); });
  else
    at(expr, Level::Scheduled);
}

void Printer::braced(ExprPtr expr) {
  open();
  text("{");
  indent();
  line();
  contents(expr);
  dedent();
  line();
  text("}");
  close();
}

const Variable* Printer::opened_variable(const Binding& binding) {
  auto* check = as<CheckDimsExpr>(binding.value);
  auto* var = check && !check->opened.empty() ? as<VarExpr>(check->value) : nullptr;
  if (!var || !binding.variable || var->variable->name != binding.variable->name) return nullptr;
  bool any = false;
  for_each_value_dim(var->type, [&](Dim dim) { any |= dim->has_any; });
  return any ? var->variable : nullptr;
}

Level Printer::node(const BlockExpr& e) {
  if (std::ranges::all_of(e.bindings, opened_variable) && !e.bindings.empty()) {
    for (const Binding& b : e.bindings) opened_.emplace(b.variable, opened_variable(b));
    return node(e.result);
  }
  if (std::ranges::all_of(e.bindings, [this](const Binding& b) { return spells_extent(b); }))
    return node(e.result);
  braced(&e);
  return Level::Primary;
}

Level Printer::node(const IfExpr& e) {
  open();
  ExprPtr step = &e;
  for (auto* chained = &e; chained; chained = as<IfExpr>(step)) {
    expected_with(e, chained->then_arm);
    expected_with(e, chained->else_arm);
    text("if (");
    at(chained->condition, Level::Open);
    text(") {");
    indent();
    line();
    contents(chained->then_arm);
    dedent();
    line();
    text("} else ");
    step = chained->else_arm;
  }
  text("{");
  indent();
  line();
  contents(step);
  dedent();
  line();
  text("}");
  close();
  return Level::Primary;
}

Level Printer::node(const IntrinsicExpr& e) {
  switch (e.intrinsic) {
    case IntrinsicKind::Print:
    case IntrinsicKind::Progress: printed(e); break;
    case IntrinsicKind::Load:
    case IntrinsicKind::Save:
    case IntrinsicKind::Restore: of_file(e); break;
    case IntrinsicKind::Assert: {
      bool close = !e.texts.empty();
      auto part = [&](size_t i) {
        if (i < 2)
          item(e.args[i]);
        else
          text(fmt::format("{}={}", i == 2 ? "rtol" : "atol", e.texts[i - 2]));
      };
      list(close ? "assert_close(" : "assert_equal(", close ? 4 : 2, part, ")");
      break;
    }
    case IntrinsicKind::ToDevice:
      list(
          "to_device(", 3,
          [&](size_t i) {
            if (i == 0)
              item(e.args[0]);
            else
              text(e.texts[i - 1].empty() ? "None" : to_string(StaticValue(std::string(e.texts[i - 1]))));
          },
          ")");
      break;
    case IntrinsicKind::ScanOver:
      list(
          "scan_over(", 3 + e.texts.size(), [&](size_t i) { i < 3 ? item(e.args[i]) : text("reverse=True"); },
          ")");
      break;
    default: list(fmt::format("{}(", to_string(e.intrinsic)), e.args, ")");
  }
  return Level::Postfix;
}

Level Printer::node(const ErrorExpr&) {
  text("<error>");
  return Level::Postfix;
}

// --- whole texts -----------------------------------------------------------------------------------------

std::string Printer::expression(ExprPtr expr) {
  // Free names refer to the outside, so they are bound first.
  if (expr)
    for (const Variable* variable : free_variables(expr)) names_.bind(variable);
  at(expr, Level::Scheduled);
  print_queued();
  return rendered();
}

/// The binding of `{ let %f = fn …; %f }` for a statement `let %f = fn …`, whose function sees its own name.
static const Binding* own_name(const Definition& definition) {
  auto* block = as<BlockExpr>(definition.body);
  auto* result = block && block->bindings.size() == 1 ? as<VarExpr>(block->result) : nullptr;
  const Variable* variable = result ? block->bindings[0].variable : nullptr;
  bool self = variable && result->variable == variable && variable->name == definition.name;
  return self && as<FnExpr>(block->bindings[0].value) ? &block->bindings[0] : nullptr;
}

std::string Printer::statement(const Definition& definition, const StatementBinding& binding) {
  const Variable* variable = binding.variable;
  if (definition.body) note(definition.body->origin);
  if (binding.pattern && definition.body) {
    const std::string type = annotation(definition.scheme.type, ": ");
    if (!type.empty()) expected(definition.body);
    bracketed(fmt::format("let {}{} = ", statement_pattern(*binding.pattern), type));
    return expression(definition.body);
  }
  if (const Binding* self = own_name(definition)) {
    for (const Variable* variable : free_variables(definition.body)) names_.bind(variable);
    names_.bind(self->variable, variable);
    text(binding_head(*self->variable, self->value));
    at(self->value, Level::Scheduled);
    print_queued();
    return rendered();
  }
  bool named = !definition.name.empty() && definition.body;
  bool graph = std::ranges::all_of(definition.name, [](unsigned char c) { return std::isdigit(c); });
  bool function = as<FnExpr>(definition.body);
  if (!graph && named && !function && !annotation(definition.scheme.type, "").empty())
    expected(definition.body);
  if (named && graph) text(fmt::format("%{} = ", definition.name));
  if (named && !graph)
    bracketed(fmt::format("let %{}{} = {}", variable ? names_.wanted(*variable) : definition.name,
                          function ? "" : annotation(definition.scheme.type, ": "), function ? "(" : ""));
  // In parentheses a function literal does not see its own name.
  if (named && function) return fmt::format("{})", expression(definition.body));
  return expression(definition.body);
}

std::string Printer::input(const Definition& input, const Variable& variable) {
  bracketed(fmt::format("free_var %{}: {}", names_.wanted(variable), type_text(input.scheme.type)));
  print_queued();
  return rendered();
}

// `gradient (%g, %y) { … }`, whose parameter types follow from the declaration.
void Printer::gradient_clause(const FnExpr& clause) {
  list(
      "gradient (", clause.params.size(),
      [&](size_t i) {
        names_.bind(clause.params[i]);
        text("%" + names_.of(clause.params[i]));
      },
      ") ");
  braced(clause.body);
  run([this, &clause] {
    for (const Variable* param : clause.params) names_.release(param);
  });
}

std::string Printer::definition(const Definition& definition) {
  auto* fn = as<FnExpr>(definition.body);
  if (!fn) return statement(definition, {});
  note(fn->origin);
  for (const Variable* variable : free_variables(fn)) names_.bind(variable);
  find_named(fn);
  std::vector<Dim> dims = definition.scheme.dim_vars;
  for (Dim var : fn->dim_vars)
    if (std::ranges::find(dims, var) == dims.end()) dims.push_back(var);
  std::vector<std::string> general = bind_general(dims, *fn);
  for (Type var : definition.scheme.type_vars) {
    names_.bind_type(var);
    general.push_back(names_.of_type(var));
  }
  std::string vars = general.empty() ? "" : fmt::format("[{}]", fmt::join(general, ", "));
  signature(fmt::format("def @{}{}", definition.name, vars), *fn);
  ExprPtr body = fn->body;
  auto* own = as<IntrinsicExpr>(body);
  if (own && own->intrinsic == IntrinsicKind::WithGradient && as<FnExpr>(own->args[1])) {
    indent();
    indent();
    hard_line();
    gradient_clause(*as<FnExpr>(own->args[1]));
    dedent();
    dedent();
    body = own->args[0];
  }
  text(" {");
  indent();
  hard_line();
  contents(body);
  dedent();
  hard_line();
  text("}");
  print_queued();
  return rendered();
}

}  // namespace printer_detail

size_t ConstantPool::add(const std::shared_ptr<const HostTensor>& tensor) {
  auto [known, added] = known_.try_emplace(tensor.get(), tensors_.size());
  if (added) tensors_.push_back(tensor);
  return known->second;
}

std::string print(ExprPtr expr, const PrintOptions& options) {
  return printer_detail::Printer(options).expression(expr);
}

std::string print(const Definition& definition, const PrintOptions& options) {
  return printer_detail::Printer(options).definition(definition);
}

std::string print(const Definition& definition, const PrintOptions& options, LineOrigins& origins) {
  return printer_detail::Printer(options, &origins).definition(definition);
}

std::string print_input(const Definition& input, const Variable& variable, const PrintOptions& options) {
  return printer_detail::Printer(options).input(input, variable);
}

std::string print_statement(const Definition& statement, const StatementBinding& binding,
                            const PrintOptions& options) {
  return printer_detail::Printer(options).statement(statement, binding);
}

std::string print_statement(const Definition& statement, const StatementBinding& binding,
                            const PrintOptions& options, LineOrigins& origins) {
  return printer_detail::Printer(options, &origins).statement(statement, binding);
}

}  // namespace quern
