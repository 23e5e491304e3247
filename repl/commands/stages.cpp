#include "repl/commands/stages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "frontend/infer/infer.h"
#include "frontend/syntax/syntax.h"
#include "ir/base/interrupt.h"
#include "passes/pipeline.h"
#include "repl/command_files.h"
#include "repl/commands/parts.h"
#include "repl/report/command_text.h"
#include "repl/report/graph_picture.h"
#include "repl/report/kernel_graph.h"
#include "repl/report/line_diff.h"
#include "repl/workspace.h"
#include "session/run/compiler.h"

namespace quern {

namespace {

constexpr std::string_view kDefaultStage = "typed", kAll = "all", kDiff = "diff";

bool is_stage(std::string_view word) {
  return word == kAll || word == kDiff ||
         std::ranges::find(Compiler::stages(), word) != Compiler::stages().end();
}

bool is_no_syntax(const std::vector<LocatedDiagnostic>& problems) {
  return std::ranges::any_of(problems, [](const auto& d) { return code_of(d.kind).starts_with("Q01"); });
}

/// The definition of a usable @f; null and `why` if it is only compiled for each call.
const Definition* definition_of(Workspace& workspace, std::string_view name, std::string& why) {
  Session& session = workspace.session();
  const DeclarationId id = session.find_definition(workspace.module(), name);
  if (!id || !workspace.declared().unsound(id).errors.empty()) return nullptr;
  const Definition* definition = session.definition(workspace.module(), name);
  if (!definition) why = Compiler::no_code_of(name);
  return definition;
}

}  // namespace

bool with_definition(Workspace& workspace, std::string_view asked, std::string_view command,
                     const std::function<bool(const Definition&)>& use) {
  if (std::string_view name = global_name(asked); !name.empty()) {
    std::string why;
    if (const Definition* definition = definition_of(workspace, name, why)) return use(*definition);
    if (!why.empty()) return workspace.complain(why);
  }
  return workspace.with_expression(std::string(asked), command, [&](DeclarationId statement) {
    return use(workspace.session().inferred_statement(statement).definition);
  });
}

namespace {

/// Prints a text that may be long in parts, between which it ends at an interrupt.
bool print_text(Workspace& workspace, std::string_view text) {
  constexpr size_t kPart = 1 << 14;
  if (text.ends_with('\n')) text.remove_suffix(1);
  while (!text.empty()) {
    if (is_interrupted()) return workspace.complain(kInterrupted);
    const size_t end = text.size() <= kPart ? text.size() : std::min(text.find('\n', kPart), text.size());
    print_line(text.substr(0, end));
    std::fflush(stdout);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return true;
}

bool show_one(Workspace& workspace, const Definition& definition, const std::string& stage) {
  auto text = workspace.execution().compiler().stage_text(definition, stage);
  if (!text) return workspace.complain(text.error().message);
  return print_text(workspace, trimmed(*text));
}

bool show_all(Workspace& workspace, const Definition& definition) {
  for (const std::string& stage : Compiler::stages()) {
    if (stage == "ast") continue;  // of the text, and long
    print_line(fmt::format("// --- {}", stage));
    if (!show_one(workspace, definition, stage)) return false;
  }
  return true;
}

/// Shows the text before the first pass and after each.
bool show_changes(Workspace& workspace, const Definition& definition) {
  std::string before = print(definition), unchanged;
  for (const Pass& pass : pipeline()) {
    Optimised made = optimise(definition, workspace.session().functions(), pass.name);
    if (!made.expr) return workspace.complain(kInterrupted);
    Definition changed = definition;
    changed.body = made.expr;
    changed.arena = made.arena;
    const std::string after = print(changed);
    if (after == before) {
      unchanged += fmt::format("{}{}", unchanged.empty() ? "" : ", ", pass.name);
    } else {
      print_line(fmt::format("// --- {}: {}", pass.name, pass.does));
      if (!print_text(workspace, line_diff(before, after))) return false;
      before = after;
    }
  }
  if (!unchanged.empty()) print_line(fmt::format("// --- nothing changed in {}", unchanged));
  return true;
}

bool show_syntax(Workspace& workspace, std::string_view asked) {
  Session& session = workspace.session();
  if (const DeclarationId id = session.find_definition(workspace.module(), global_name(asked)))
    for (const auto& [tree_id, tree] : session.trees(session.info(id).source))
      if (tree_id == id) {
        print_line(trimmed(dump(tree.root)));
        return true;
      }
  return workspace.with_source(std::string(asked), [&](SourceId source) {
    if (!workspace.only_expression(source, "`:ir`")) return false;
    print_line(trimmed(dump(session.trees(source)[0].second.root)));
    return true;
  });
}

bool show(Workspace& workspace, std::string_view stage, std::string_view asked) {
  if (stage == "ast") return show_syntax(workspace, asked);
  return with_definition(workspace, asked, "`:ir`", [&](const Definition& definition) {
    if (stage == kAll) return show_all(workspace, definition);
    if (stage == kDiff) return show_changes(workspace, definition);
    return show_one(workspace, definition, std::string(stage));
  });
}

/// `request`: an expression or `@f`, optionally after the name of a stage (`typed` by default); `all` shows every
/// stage, `diff` the changes by each pass.
bool show_stage(Workspace& workspace, const std::string& request) {
  const auto [first, rest] = first_word(request);
  const bool has_stage = !rest.empty() && is_stage(first);
  const std::string_view asked = has_stage ? rest : trimmed(request);
  if (is_stage(asked)) return workspace.complain(fmt::format("write `:ir {} EXPR`", asked));
  // Two adjacent words are no expression, so the first one is taken for a stage.
  if (!has_stage && !rest.empty() && is_name(first)) {
    bool is_text = true;
    workspace.with_source(
        request, [&](SourceId source) { return is_text = !is_no_syntax(workspace.session().check(source)); });
    if (!is_text) return workspace.complain(Compiler::unknown_stage(first) + ", all, diff");
  }
  return show(workspace, has_stage ? first : kDefaultStage, asked);
}

bool show_loops(Workspace& workspace, const std::string& asked) { return show(workspace, "loops", asked); }
bool show_llvm(Workspace& workspace, const std::string& asked) { return show(workspace, "llvm", asked); }
bool show_assembly(Workspace& workspace, const std::string& asked) { return show(workspace, "asm", asked); }

/// Lists the passes in order, then those on demand.
bool show_passes(Workspace&, const std::string&) {
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const Pass& pass) {
    rows.push_back({std::string(pass.name), std::string(pass.does)});
  };
  std::ranges::for_each(pipeline(), add);
  fmt::print("{}", columns_text(rows, "ll"));
  rows.clear();
  std::ranges::for_each(passes_on_demand(), add);
  fmt::print("on demand (`:apply`, `quern ir --passes`):\n{}", columns_text(rows, "ll"));
  return true;
}

/// A definition after passes, under the name `name`. Reports a failure, and returns nothing then.
std::optional<TypedText> text_of_applied(Workspace& workspace, const Definition& definition,
                                         const std::string& name, const std::vector<Pass>& passes) {
  Optimised made = run_passes(definition, workspace.session().functions(), passes);
  if (!made.expr) {
    workspace.complain(kInterrupted);
    return std::nullopt;
  }
  Definition applied = definition;
  applied.name = name;
  applied.body = made.expr;
  applied.arena = made.arena;
  return workspace.session().typed_text(applied, workspace.module());
}

/// The reason why a text cannot be declared at the prompt; "" if it can.
std::string why_undeclared(Workspace& workspace, const TypedText& typed) {
  if (!typed.constants.tensors().empty())
    return "it has tensors of more than 32 elements, which have no text";
  std::string why;
  workspace.with_source(typed.text, [&](SourceId source) {
    for (const LocatedDiagnostic& d : workspace.session().check(source))
      if (why.empty() && severity_of(d.kind) == Severity::Error) why = d.message;
    return true;
  });
  if (why.find("with_gradient") != std::string::npos)
    why = "what only derivatives ask for has no text; the pass `drop_derivatives` drops it";
  return why;
}

/// Shows a definition, and takes it as an input.
bool declare(Workspace& workspace, const TypedText& typed, const std::string& target) {
  print_line(trimmed(typed.text));
  if (const std::string why = why_undeclared(workspace, typed); !why.empty())
    return workspace.complain(fmt::format("`@{}` is not declared: {}", target, why));
  return workspace.submit(std::string(trimmed(typed.text)));
}

bool calls_operators(ExprPtr expr) {
  bool found = expr->kind == ExprKind::OpCall;
  for_each_child(expr, [&](ExprPtr child) { found = found || (child && calls_operators(child)); });
  return found;
}

/// Whether one of the passes is for the definitions of operators, which are only called here.
bool wants_definitions(const Definition& definition, const std::vector<Pass>& passes) {
  constexpr std::string_view kOfDefinitions[] = {"simplify_index", "fuse",         "part_reductions",
                                                 "fuse_rows",      "lift_kernels", "cse"};
  const auto is_one = [&](const Pass& pass) { return std::ranges::count(kOfDefinitions, pass.name) > 0; };
  return std::ranges::any_of(passes, is_one) &&
         std::ranges::count(passes, std::string_view("instantiate_ops"), &Pass::name) == 0 &&
         calls_operators(definition.body);
}

/// `inline,fuse @f` or `inline,fuse @f as @g`: shows the result of only these passes, and declares it.
bool apply_passes(Workspace& workspace, const std::string& request) {
  constexpr std::string_view kForm = "write `:apply PASS,PASS @f` or `:apply PASS,PASS @f as @g`";
  const auto [list, about] = first_word(request);
  const auto [from, rest] = first_word(about);
  const auto [as, to] = first_word(rest);
  const std::string name(global_name(rest.empty() ? from : to));
  if (global_name(from).empty() || name.empty() || (!rest.empty() && as != "as"))
    return workspace.complain(std::string(kForm));
  std::vector<Pass> passes;
  for (const std::string& wanted : split_at_commas(list)) {
    const Pass* pass = find_pass(wanted);
    if (!pass) return workspace.complain(Compiler::unknown_pass(wanted));
    passes.push_back(*pass);
  }
  const std::string target = rest.empty() ? name + "_" + std::string(passes.back().name) : name;
  std::optional<TypedText> typed;
  const bool fine = with_definition(workspace, from, "`:apply`", [&](const Definition& definition) {
    if (definition.name.empty()) return workspace.complain(std::string(kForm));
    if (wants_definitions(definition, passes))
      workspace.complain(
          "operators are calls here, which these passes do not look into: `:apply "
          "inline,instantiate_ops,fuse @f` "
          "puts their definitions in place first");
    typed = text_of_applied(workspace, definition, target, passes);
    return typed.has_value();
  });
  return fine && declare(workspace, *typed, target);
}

/// `def @target(%y) { @f(3, %y) }` for the arguments `3, _` of @f: a parameter for each `_`, whose type follows from the
/// call. `why` is what is wrong with them.
std::string call_with_open_arguments(const Definition& definition, const std::string& target,
                                     const std::vector<std::string>& arguments, std::string& why) {
  const auto* fn = as<FnExpr>(definition.body);
  const size_t taken = fn ? fn->params.size() : 0;
  if (taken != arguments.size())
    why = fmt::format("`@{}` takes {} argument{}, and there {} {}", definition.name, taken,
                      taken == 1 ? "" : "s", arguments.size() == 1 ? "is" : "are", arguments.size());
  if (!why.empty()) return "";
  std::vector<std::string> params, args;
  for (size_t i = 0; i < taken; ++i) {
    const bool is_open = arguments[i] == "_";
    args.push_back(is_open ? fmt::format("%{}", fn->params[i]->name) : arguments[i]);
    if (is_open) params.push_back(args.back());
  }
  return fmt::format("def @{}({}) {{ @{}({}) }}", target, fmt::join(params, ", "), definition.name,
                     fmt::join(args, ", "));
}

/// `@f(3, _)` or `@f(3, _) as @g`: what partial evaluation makes of @f where some arguments are known, as a definition of
/// the others.
bool specialize(Workspace& workspace, const std::string& request) {
  constexpr std::string_view kForm =
      "write `:specialize @f(3, _) as @g`, with an argument for what is known and `_` for what stays open";
  const size_t open = request.find('('), close = request.rfind(')');
  const std::string name(open == std::string::npos ? "" : global_name(trimmed(request.substr(0, open))));
  if (name.empty() || close == std::string::npos || close < open)
    return workspace.complain(std::string(kForm));
  const std::string after = request.substr(close + 1);
  const auto [as, to] = first_word(trimmed(after));
  if (!trimmed(after).empty() && (as != "as" || global_name(to).empty()))
    return workspace.complain(std::string(kForm));
  const std::string target = to.empty() ? name + "_special" : std::string(global_name(to));
  std::vector<std::string> arguments;
  if (const std::string list = request.substr(open + 1, close - open - 1); !trimmed(list).empty())
    for (const std::string& argument : split_at_commas(list)) arguments.emplace_back(trimmed(argument));
  std::string call, why;
  if (!with_definition(workspace, "@" + name, "`:specialize`", [&](const Definition& definition) {
        call = call_with_open_arguments(definition, target, arguments, why);
        return why.empty() || workspace.complain(why);
      }))
    return false;
  std::optional<TypedText> typed;
  const bool fine = workspace.with_source(call, [&](SourceId source) {
    if (!workspace.is_sound(source)) return false;
    const Definition* definition = workspace.session().definition(workspace.module(), target);
    if (!definition) return workspace.complain(Compiler::no_code_of(target));
    typed =
        text_of_applied(workspace, *definition, target,
                        {*find_pass("local_functions"), *find_pass("to_anf"), *find_pass("partial_eval")});
    return typed.has_value();
  });
  return fine && declare(workspace, *typed, target);
}

/// Shows the kernels as a graph: as text, or in a `.dot` or `.svg` file after `>`.
bool show_graph(Workspace& workspace, const std::string& request) {
  static constexpr std::array<std::string_view, 2> kEndings{".dot", ".svg"};
  if (const std::string why = wrong_ending(request, ":graph", kEndings); !why.empty())
    return workspace.complain(why);
  const auto [asked, file] = with_file(request, kEndings);
  return with_definition(workspace, asked, "`:graph`", [&, &to = file](const Definition& definition) {
    const Optimised optimised = optimise(definition, workspace.session().functions());
    if (!optimised.expr) return workspace.complain(kInterrupted);
    const KernelGraph graph = kernel_graph(optimised.expr, [&](const FnExpr& kernel) {
      return workspace.execution().compiler().kernel_name(kernel);
    });
    if (to.empty()) {
      fmt::print("{}", to_text(graph));
      return true;
    }
    const auto written = write_file(std::string(to), to.ends_with(".svg") ? to_svg(graph) : to_dot(graph));
    if (!written) return workspace.complain(written.error().message);
    return true;
  });
}

}  // namespace

std::span<const ReplCommand> commands_about_stages() {
  static constexpr ReplCommand kRows[] = {
      {":ir", "[STAGE] EXPR", Takes::Stage, About::Compile,
       "an expression or @f at a stage: ast, typed, …, schedule, loops, asm; `all`; `diff` of the passes",
       as_command<show_stage>},
      {":loops", "EXPR", Takes::Expression, About::Compile, "the loops of its kernels",
       as_command<show_loops>},
      {":llvm", "EXPR", Takes::Expression, About::Compile, "the LLVM IR of its kernels",
       as_command<show_llvm>},
      {":asm", "EXPR", Takes::Expression, About::Compile, "the machine code of its kernels",
       as_command<show_assembly>},
      {":passes", "", Takes::None, About::Compile, "the passes in order", as_command<show_passes>},
      {":apply", "PASSES @f [as @g]", Takes::Passes, About::Compile,
       "what these passes alone (`inline,fuse`) make of @f; declares it as @g", as_command<apply_passes>},
      {":specialize", "@f(ARGS) [as @g]", Takes::Expression, About::Compile,
       "what is left of @f where some arguments are known and others are `_`; declares it as @g",
       as_command<specialize>},
      {":graph", "EXPR [> FILE]", Takes::Expression, About::Compile,
       "the kernels and what they read of one another; into a `.dot` or an `.svg`", as_command<show_graph>},
  };
  return kRows;
}

}  // namespace quern
