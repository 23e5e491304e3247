#include "repl/report/kernel_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "jit/vm/operation_count.h"
#include "repl/report/command_text.h"

namespace quern {

namespace {

using Sources = std::vector<size_t>;

void merge(Sources& into, const Sources& more) {
  for (size_t node : more)
    if (std::ranges::find(into, node) == into.end()) into.push_back(node);
}

class GraphBuilder {
 public:
  explicit GraphBuilder(const std::function<std::string(const FnExpr&)>& kernel_name)
      : kernel_name_(kernel_name) {}

  KernelGraph run(ExprPtr expr) {
    auto* fn = as<FnExpr>(expr);
    if (fn)
      for (const Variable* param : fn->params) input(param);
    const ExprPtr body = fn ? fn->body : expr;
    const Sources result = of(body);
    add(KernelGraph::NodeKind::Result, "result", body->type, "", result);
    return std::move(graph_);
  }

 private:
  size_t add(KernelGraph::NodeKind kind, std::string name, Type type, std::string flops, Sources reads) {
    const bool has_shape = type && (type->is_tensor() || type->kind == TypeKind::Tuple);
    graph_.nodes.push_back(
        {kind, std::move(name), has_shape ? shape_text(type) : "", std::move(flops), std::move(reads)});
    return graph_.nodes.size() - 1;
  }

  Sources input(const Variable* variable) {
    const size_t node =
        add(KernelGraph::NodeKind::Input, "%" + std::string(variable->name), variable->type, "", {});
    return sources_[variable] = {node};
  }

  Sources of(ExprPtr expr) {
    return visit(expr, [this](const auto& e) { return make(e); });
  }

  Sources of_children(const Expr& expr) {
    Sources all;
    for_each_child(&expr, [&](ExprPtr child) { merge(all, of(child)); });
    return all;
  }

  Sources other(const Expr& expr, std::string name) {
    Sources reads = of_children(expr);
    return {add(KernelGraph::NodeKind::Other, std::move(name), expr.type, "", std::move(reads))};
  }

  Sources make(const VarExpr& e) {
    auto known = sources_.find(e.variable);
    return known != sources_.end() ? known->second : input(e.variable);
  }
  // Single numbers are in the kernels' code, or as good as that.
  Sources make(const ConstExpr& e) {
    if (e.type->is_scalar()) return {};
    return {add(KernelGraph::NodeKind::Input, "constant", e.type, "", {})};
  }
  Sources make(const DimValueExpr&) { return {}; }
  // What gives parts of values, or other views of them, computes nothing.
  Sources make(const TupleExpr& e) { return of_children(e); }
  Sources make(const FieldExpr& e) { return of_children(e); }
  Sources make(const ConstructExpr& e) { return of_children(e); }
  Sources make(const ViewExpr& e) { return of_children(e); }
  Sources make(const CheckDimsExpr& e) { return e.value ? of(e.value) : Sources(); }

  Sources make(const BlockExpr& e) {
    for (const Binding& binding : e.bindings) {
      Sources value = of(binding.value);
      if (binding.variable) sources_[binding.variable] = std::move(value);
    }
    return of(e.result);
  }

  Sources make(const CallExpr& e) {
    Sources reads;
    for (ExprPtr arg : e.args) merge(reads, of(arg));
    auto* fn = as<FnExpr>(e.callee);
    if (fn && fn->primitive) {
      const Dim count = operation_count(*fn);
      const auto number = count ? as_const(count) : std::nullopt;
      std::string flops = number ? amount_text(static_cast<double>(*number)) : count ? to_string(count) : "";
      return {
          add(KernelGraph::NodeKind::Kernel, kernel_name_(*fn), e.type, std::move(flops), std::move(reads))};
    }
    if (auto* global = as<GlobalExpr>(e.callee))
      return {
          add(KernelGraph::NodeKind::Other, "@" + std::string(global->name), e.type, "", std::move(reads))};
    merge(reads, of(e.callee));
    return {add(KernelGraph::NodeKind::Other, "call", e.type, "", std::move(reads))};
  }

  /// A function as a value reads what it captures.
  Sources make(const FnExpr& e) {
    Sources reads;
    for (const Variable* variable : free_variables(&e))
      if (auto known = sources_.find(variable); known != sources_.end()) merge(reads, known->second);
    return {add(KernelGraph::NodeKind::Other, "fn", e.type, "", std::move(reads))};
  }
  Sources make(const GlobalExpr& e) {
    return {add(KernelGraph::NodeKind::Other, "@" + std::string(e.name), nullptr, "", {})};
  }
  Sources make(const IfExpr& e) { return other(e, "if"); }
  Sources make(const MatchExpr& e) {
    Sources reads = of(e.scrutinee);
    for (const MatchArm& arm : e.arms) {
      bind_pattern(*arm.pattern, reads);
      merge(reads, of(arm.body));
    }
    return {add(KernelGraph::NodeKind::Other, "match", e.type, "", std::move(reads))};
  }
  void bind_pattern(const Pattern& pattern, const Sources& scrutinee) {
    if (pattern.variable) sources_[pattern.variable] = scrutinee;
    for (PatternPtr part : pattern.parts) bind_pattern(*part, scrutinee);
  }
  Sources make(const IntrinsicExpr& e) {
    Sources reads;
    for (ExprPtr arg : e.args)
      if (arg) merge(reads, of(arg));
    return {
        add(KernelGraph::NodeKind::Other, std::string(to_string(e.intrinsic)), e.type, "", std::move(reads))};
  }
  Sources make(const ExternExpr& e) { return other(e, std::string(e.kernel)); }
  template <class E>
  Sources make(const E& e) {
    return other(e, std::string(to_string(E::kKind)));
  }

  const std::function<std::string(const FnExpr&)>& kernel_name_;
  KernelGraph graph_;
  std::unordered_map<const Variable*, Sources> sources_;
};

std::string flops_text(const KernelGraph::Node& node) {
  return node.flops.empty() ? "" : node.flops + " FLOPs";
}

}  // namespace

KernelGraph kernel_graph(ExprPtr optimised, const std::function<std::string(const FnExpr&)>& kernel_name) {
  return GraphBuilder(kernel_name).run(optimised);
}

std::string to_text(const KernelGraph& graph) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const KernelGraph::Node& node = graph.nodes[i];
    std::string reads;
    for (size_t k : node.reads)
      reads += fmt::format("{}{}{}", reads.empty() ? "<- " : ", ", k + 1,
                           graph.nodes[k].shape.empty() ? "" : ": " + graph.nodes[k].shape);
    rows.push_back({std::to_string(i + 1), node.name, node.shape, flops_text(node), reads});
  }
  return columns_text(rows, "rllrl");
}

std::string to_dot(const KernelGraph& graph) {
  const auto quoted = [](std::string text) {
    for (size_t at = 0; (at = text.find_first_of("\"\\", at)) != std::string::npos; at += 2)
      text.insert(at, "\\");
    return text;
  };
  std::string dot =
      "digraph kernels {\n  node [shape=box, fontname=monospace];\n  edge [fontname=monospace];\n";
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    const KernelGraph::Node& node = graph.nodes[i];
    std::string label = quoted(node.name);
    for (const std::string& line : {node.shape, flops_text(node)})
      if (!line.empty()) label += "\\n" + quoted(line);
    dot += fmt::format("  n{} [label=\"{}\"{}];\n", i + 1, label,
                       node.kind == KernelGraph::NodeKind::Kernel ? "" : ", style=rounded");
  }
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (size_t k : graph.nodes[i].reads)
      dot += fmt::format("  n{} -> n{} [label=\"{}\"];\n", k + 1, i + 1, quoted(graph.nodes[k].shape));
  return dot + "}\n";
}

}  // namespace quern
