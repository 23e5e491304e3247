#include "import/relay/function_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "import/text/refusal.h"

namespace quern::relay_import {

using import_text::Refusal;

namespace {

/// Blocks and patterns in more others are nothing that a person would read.
constexpr int kMostNested = 100;
constexpr int kMostPatterns = 100'000;

bool is_name(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.") ==
             std::string_view::npos;
}

class FunctionText {
 public:
  FunctionText(ModuleNames& names, size_t function)
      : names_(names), graph_(names.graph()), scopes_(graph_, function) {}

  std::string definition(const std::string& name, size_t function, const Bound& bound) {
    const std::string head = bound.fields.empty() ? "" : record_head(function, bound);
    const std::string parameters = parameters_of(function, &bound);
    const std::string result = result_of(function);
    std::vector<std::string> variables = type_variables_of(function);
    variables.insert(variables.begin(), dims_.begin(), dims_.end());
    const std::string scheme = variables.empty() ? "" : fmt::format("[{}]", fmt::join(variables, ", "));
    return fmt::format("def @{}{}({}){} {{\n{}{}\n}}\n", name, scheme, parameters, result, head,
                       block(scopes_.inner(function, 1), graph_.part(function, "body")));
  }

 private:
  // --- heads of functions

  std::string variable(size_t var) {
    const auto [entry, is_new] = variables_.try_emplace(var);
    if (is_new) entry->second = "%" + taken_.unique(variable_name(name_of(var)));
    return entry->second;
  }
  std::string name_of(size_t var) {
    const size_t id = graph_.part(var, "vid");
    return graph_.string(id, "name_hint");
  }
  /// With the type that the file gives it, or that TVM has inferred.
  std::string declared(size_t var) {
    std::string type = type_text(names_, graph_.object(var, "type_annotation"), dims_);
    if (type.empty()) type = type_text(names_, graph_.object(var, "_checked_type_"), dims_);
    return type.empty() ? variable(var) : fmt::format("{}: {}", variable(var), type);
  }
  /// `let Weights(%w, …) = %params;`.
  std::string record_head(size_t function, const Bound& bound) {
    record_ = "%" + taken_.unique("params");
    std::vector<std::string> fields;
    for (const size_t var : graph_.list(function, "params"))
      if (const auto field = bound.fields.find(name_of(var)); field != bound.fields.end())
        fields.push_back(fmt::format("{}={}", field->second, variable(var)));
    return fmt::format("let {}({}) = {};\n", bound.type, fmt::join(fields, ", "), record_);
  }
  std::string parameters_of(size_t function, const Bound* bound = nullptr) {
    std::vector<std::string> parameters;
    if (!record_.empty() && bound) parameters.push_back(fmt::format("{}: {}", record_, bound->type));
    for (const size_t var : graph_.list(function, "params")) {
      if (bound && bound->fields.contains(name_of(var))) continue;
      parameters.push_back(declared(var));
      if (bound && parameters.back() == variable(var))
        throw Refusal(
            fmt::format("the parameter `{}` of a function of the module has no type: "
                        "`relay.transform.InferType` gives it one",
                        name_of(var)));
    }
    return fmt::format("{}", fmt::join(parameters, ", "));
  }
  std::string result_of(size_t function) {
    const std::string type = type_text(names_, graph_.object(function, "ret_type"), dims_);
    return type.empty() ? "" : " -> " + type;
  }
  std::vector<std::string> type_variables_of(size_t function) {
    std::vector<std::string> variables;
    for (const size_t variable : graph_.list(function, "type_params"))
      variables.push_back(names_.type_variable(variable));
    return variables;
  }

  // --- blocks

  /// What needs no `%k` of its own wherever it stands, and may be written again.
  bool is_inline(size_t node) const {
    const std::string& kind = graph_[node].kind;
    if (kind == "relay.Tuple") return scopes_.uses(node) == 1;
    if (kind == "relay.TupleGetItem")
      return scopes_.uses(node) == 1 || !graph_.is(graph_.part(node, "tuple_value"), "relay.Tuple");
    return kind == "relay.Var" || kind == "relay.Constant" || kind == "Op" || kind == "GlobalVar" ||
           kind == "relay.Constructor";
  }
  /// Whether the text of a part is in that of the expression in this block, whose only use it is.
  bool is_within(size_t part, size_t block) const {
    return scopes_.uses(part) == 1 && scopes_.block(part) == block;
  }

  std::string block(size_t block, size_t result) {
    if (++nested_ > kMostNested) throw Refusal(fmt::format("blocks are in more than {} others", kMostNested));
    std::string text;
    for (;;) {
      const bool lets = graph_.is(result, "relay.Let") && is_within(result, block);
      const std::set<size_t> values = values_of_lets(block);
      for (const size_t node : scopes_.in(block)) {
        const bool is_last = node == result && is_within(result, block);
        if (is_inline(node) || is_last || values.contains(node)) continue;
        const std::string expression = text_of(node);
        text += fmt::format("{} = {};\n", bound_[node] = fmt::format("%{}", count_++), expression);
      }
      if (!lets) break;
      text += let_line(result);
      block = scopes_.inner(result, 1);
      result = graph_.part(result, "body");
    }
    text += is_within(result, block) ? text_of(result) : operand(result);
    --nested_;
    return text;
  }

  /// The expressions that stand in the line of a `let` of this block: a function may call itself by its name.
  std::set<size_t> values_of_lets(size_t block) const {
    std::set<size_t> values;
    for (const size_t node : scopes_.in(block))
      if (graph_.is(node, "relay.Let"))
        if (const size_t value = graph_.part(node, "value"); is_within(value, block)) values.insert(value);
    return values;
  }
  std::string let_line(size_t node) {
    const size_t value = graph_.part(node, "value");
    const std::string head = declared(graph_.part(node, "var"));
    return fmt::format("let {} = {};\n", head, operand(value));
  }

  std::string operand(size_t node) {
    if (const auto bound = bound_.find(node); bound != bound_.end()) return bound->second;
    constexpr int kMostOperands = 200;
    if (++operands_ > kMostOperands)
      throw Refusal(
          fmt::format("node {} is in more than {} expressions without a name", node, kMostOperands));
    std::string text = text_of(node);
    --operands_;
    return text;
  }
  std::string operands(const std::vector<size_t>& nodes) {
    std::vector<std::string> texts;
    texts.reserve(nodes.size());
    for (const size_t node : nodes) texts.push_back(operand(node));
    return fmt::format("{}", fmt::join(texts, ", "));
  }

  // --- expressions

  std::string text_of(size_t node);
  std::string call(size_t node);
  std::string tuple(size_t node) {
    const std::vector<size_t>& fields = graph_.list(node, "fields");
    return fmt::format("({}{})", operands(fields), fields.size() == 1 ? "," : "");
  }
  std::string inner_block(size_t node, size_t number, std::string_view member) {
    return fmt::format("{{\n{}\n}}", block(scopes_.inner(node, number), graph_.part(node, member)));
  }
  std::string function(size_t node) {
    const std::vector<std::string> variables = type_variables_of(node);
    const std::string scheme = variables.empty() ? "" : fmt::format("[{}]", fmt::join(variables, ", "));
    const std::string parameters = parameters_of(node), result = result_of(node);
    return fmt::format("fn {}({}){} {}", scheme, parameters, result, inner_block(node, 1, "body"));
  }
  std::string match(size_t node) {
    std::string arms;
    size_t number = 0;
    for (const size_t clause : graph_.list(node, "clauses")) {
      const std::string pattern = pattern_of(graph_.part(clause, "lhs"), 0);
      const std::string body = block(scopes_.inner(node, ++number), graph_.part(clause, "rhs"));
      arms += fmt::format("{} => {{\n{}\n}},\n", pattern, body);
    }
    return fmt::format("match{} ({}) {{\n{}}}", graph_.integer(node, "complete") != 0 ? "" : "?",
                       operand(graph_.part(node, "data")), arms);
  }
  std::string pattern_of(size_t node, int depth) {
    if (depth > kMostNested || ++patterns_ > kMostPatterns)
      throw Refusal(fmt::format("node {} is one pattern too many", node));
    const std::string& kind = graph_[node].kind;
    if (kind == "relay.PatternWildcard") return "_";
    if (kind == "relay.PatternVar") return variable(graph_.part(node, "var"));
    if (kind != "relay.PatternConstructor" && kind != "relay.PatternTuple")
      throw Refusal(fmt::format("node {} is of the kind `{}`, which is no pattern of Relay", node, kind));
    std::vector<std::string> parts;
    for (const size_t part : graph_.list(node, "patterns")) parts.push_back(pattern_of(part, depth + 1));
    if (kind == "relay.PatternTuple")
      return fmt::format("({}{})", fmt::join(parts, ", "), parts.size() == 1 ? "," : "");
    const std::string name = names_.data(graph_.part(node, "constructor"));
    return parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", "));
  }

  ModuleNames& names_;
  const ObjectGraph& graph_;
  const Scopes scopes_;
  import_text::Names taken_;
  std::map<size_t, std::string> variables_;
  std::map<size_t, std::string> bound_;  ///< the `%k` of expressions
  std::vector<std::string> dims_;
  std::string record_;
  size_t count_ = 0;
  int nested_ = 0, operands_ = 0, patterns_ = 0;
};

std::string FunctionText::text_of(size_t node) {
  const std::string& kind = graph_[node].kind;
  if (kind == "relay.Var") return variable(node);
  if (kind == "relay.Constant") return names_.meta(node);
  if (kind == "GlobalVar") return "@" + names_.global(node);
  if (kind == "relay.Constructor") return names_.data(node);
  if (kind == "relay.Tuple") return tuple(node);
  if (kind == "relay.Function") return function(node);
  if (kind == "relay.Match") return match(node);
  if (kind == "relay.Call") return call(node);
  if (kind == "relay.TupleGetItem")
    return fmt::format("{}.{}", operand(graph_.part(node, "tuple_value")), graph_.integer(node, "index"));
  if (kind == "relay.If")
    return fmt::format("if ({}) {} else {}", operand(graph_.part(node, "cond")),
                       inner_block(node, 1, "true_branch"), inner_block(node, 2, "false_branch"));
  if (kind == "relay.Let")
    return fmt::format("(\n{}{}\n)", let_line(node),
                       block(scopes_.inner(node, 1), graph_.part(node, "body")));
  if (kind == "relay.RefCreate") return fmt::format("ref({})", operand(graph_.part(node, "value")));
  if (kind == "relay.RefRead") return fmt::format("ref_read({})", operand(graph_.part(node, "ref")));
  if (kind == "relay.RefWrite")
    return fmt::format("ref_write({}, {})", operand(graph_.part(node, "ref")),
                       operand(graph_.part(node, "value")));
  // What `parts_of` has let through is an operator.
  if (!is_name(graph_[node].text)) throw Refusal(fmt::format("node {} is an operator without a name", node));
  return graph_[node].text;
}

std::string FunctionText::call(size_t node) {
  const size_t callee = graph_.part(node, "op");
  std::string arguments = operands(graph_.list(node, "args"));
  const size_t attributes = graph_.object(node, "attrs");
  // Those of functions that a program calls have no effect.
  if (graph_.is(callee, "Op") && !graph_[attributes].kind.empty()) {
    const std::string& kind = graph_[attributes].kind;
    if (!kind.starts_with("relay.attrs.") || !is_name(kind))
      throw Refusal(fmt::format("node {} has attributes of the kind `{}`, which is not Relay's", node, kind));
    arguments += (arguments.empty() ? "" : ", ") + names_.meta(attributes);
  }
  return fmt::format("{}({})", operand(callee), arguments);
}

}  // namespace

std::string definition_text(ModuleNames& names, const std::string& name, size_t function,
                            const Bound& bound) {
  return FunctionText(names, function).definition(name, function, bound);
}

}  // namespace quern::relay_import
