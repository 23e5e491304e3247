#include "frontend/infer/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "frontend/infer/inference.h"

namespace quern {

namespace {

constexpr uint32_t kBindingNode = 0x80000000;

/// The bindings of a chunk's statements for later ones, excluding inputs, which belong at the top of a file.
std::vector<SyntaxPtr> bindings_of(SyntaxPtr s) {
  return s->is(SyntaxKind::FreeVar) ? std::vector<SyntaxPtr>() : binders_of(s);
}

}  // namespace

uint32_t binding_node(std::string_view name) {
  return kBindingNode | static_cast<uint32_t>(std::hash<std::string_view>()(name));
}

SyntaxPtr find_binding(SyntaxPtr chunk, uint32_t node) {
  if (!(node & kBindingNode) || !chunk) return nullptr;
  for (size_t i = chunk->children.size(); i-- > 0;)
    for (SyntaxPtr binding : bindings_of(chunk->children[i]))
      if (binding_node(binding->text) == node) return binding;
  return nullptr;
}

std::vector<std::string> bound_names(SyntaxPtr chunk) {
  std::vector<std::string> names;
  for (SyntaxPtr s : chunk->children)
    if (s)
      for (SyntaxPtr binding : bindings_of(s)) names.emplace_back(binding->text);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// --- head, run, definition

std::shared_ptr<const BodyHead> infer_body_head(const Declaration& def, Scope& scope) {
  if (has_attributes_or_packs(def)) return nullptr;
  Inference inference(scope, def.id);
  Head head = inference.heads.of_definition(def);
  auto result = std::make_shared<BodyHead>();
  result->result = def.syntax->child(2) ? inference.context.unifier.resolve(head.result) : nullptr;
  if (result->result && result->result->has_infer) return nullptr;
  size_t i = 0;
  for (SyntaxPtr p : params_of(def.syntax)->children) {
    // Other kinds of parameters are left to the inference of the whole.
    if (!p->is(SyntaxKind::TensorParam)) return nullptr;
    Type type = inference.context.unifier.resolve(head.params[i++]);
    if (type->has_infer) return nullptr;
    const Variable* variable =
        make_variable(*inference.context.arena, inference.context.arena->copy(p->text), type);
    result->params.push_back({variable, {{def.id, p->id}, {}}});
  }
  result->env = std::move(head.env);
  result->dim_vars = std::move(head.dim_vars);
  result->type_vars = std::move(head.type_vars);
  result->diagnostics = std::move(inference.context.diagnostics);
  result->arena = inference.context.arena;
  return result;
}

namespace {

// The inference of the chunks of a run.
class RunInference {
 public:
  RunInference(const BodyHead& head, ChunkSource& chunks, Scope& scope, const Declaration& first)
      : head_(head), chunks_(chunks), inference_(scope, first.id) {
    inference_.names.env = head.env;
  }

  BodyRun run(const Declaration* first) {
    type_chunks(first);
    if (result_ && head_.result)
      inference_.assignments.expect(last_statement(run_.back().chunk->syntax), head_.result, result_->type,
                                    "the result", {}, DiagnosticKind::ResultMismatch, result_);
    solve(inference_);
    finish_variables();
    finish_values();
    finish_rest();
    return std::move(out_);
  }

 private:
  struct Typed {
    const Declaration* chunk;
    size_t first, last;  ///< range of the variables that it binds, among the locals
  };

  void type_chunks(const Declaration* first) {
    Names& names = inference_.names;
    for (const Declaration* chunk = first;; chunk = chunks_.next()) {
      const size_t before = names.depth();
      result_ = inference_.walk.blocks.chunk(*chunk, chunks_.at_end(), block_, head_.result);
      run_.push_back({chunk, before, names.depth()});
      if (chunks_.at_end() || is_closed()) return;
    }
  }

  // Whether nothing that follows can affect the types here.
  bool is_closed() {
    inference_.relations.run();
    if (inference_.relations.has_waiting() || !inference_.context.unifier.unsettled().empty()) return false;
    // Later chunks see one type per variable, so a polymorphic one must be used within the same run.
    return std::ranges::none_of(inference_.names.locals(), [&](const LocalName& local) {
      return inference_.general.schemes.contains(local.variable) ||
             inference_.context.unifier.resolve(local.variable->type)->has_infer;
    });
  }

  // The last variable of each name in each chunk; it keeps its identity if its type is unchanged.
  void finish_variables() {
    Finisher& finisher = inference_.finisher;
    for (const Typed& part : run_) {
      std::unordered_set<std::string_view> seen;
      for (size_t k = part.last; k-- > part.first;) {
        const LocalName& local = inference_.names.locals()[k];
        if (!seen.insert(local.name).second) continue;
        Type type = finisher.finish(local.variable->type);
        if (const Variable* known = chunks_.known(part.chunk->id, local.name, type, local.variable->graph))
          inference_.context.final_variables[local.variable] = known;
        out_.variables.push_back({part.chunk->id, finisher.finish(local.variable)});
      }
    }
  }

  void finish_values() {
    for (const DraftBinding& binding : block_.bindings) {
      if (inference_.finisher.finish(binding, out_.bindings)) continue;
      out_.has_errors = out_.has_errors || contains_errors(out_.bindings.back().value);
    }
    if (!result_) return;
    out_.closed = !inference_.context.unifier.resolve(result_->type)->has_infer;
    out_.result = inference_.finisher.finish(result_);
    out_.has_errors = out_.has_errors || contains_errors(out_.result);
  }

  void finish_rest() {
    Context& context = inference_.context;
    for (const Typed& part : run_) {
      out_.declarations.push_back(part.chunk->id);
      out_.types.push_back(
          std::make_shared<const std::vector<Type>>(inference_.finisher.types_of(part.chunk->id)));
    }
    for (Diagnostic& d : context.diagnostics)
      if (std::ranges::find(out_.declarations, d.place.origin.declaration) != out_.declarations.end())
        out_.diagnostics.push_back(std::move(d));
    out_.late_calls = std::move(context.late_calls);
    out_.needs = std::move(context.needs);
    out_.arena = context.arena;
  }

  const BodyHead& head_;
  ChunkSource& chunks_;
  Inference inference_;
  BlockSoFar block_;
  std::vector<Typed> run_;
  DraftPtr result_ = nullptr;
  BodyRun out_;
};

}  // namespace

BodyRun infer_body_run(const BodyHead& head, ChunkSource& chunks, Scope& scope) {
  const Declaration* first = chunks.next();
  return RunInference(head, chunks, scope, *first).run(first);
}

Inferred assemble_body(const Declaration& def, const BodyHead& head,
                       const std::vector<std::shared_ptr<const BodyRun>>& runs) {
  auto arena = std::make_shared<Arena>();
  arena->keep(head.arena);
  Inferred out;
  std::vector<Binding> bindings;
  std::unordered_set<std::string_view> graph_names;
  bool has_errors = !head.diagnostics.empty();
  out.diagnostics = head.diagnostics;
  for (const std::shared_ptr<const BodyRun>& run : runs) {
    arena->make<std::shared_ptr<const BodyRun>>(run);
    bindings.insert(bindings.end(), run->bindings.begin(), run->bindings.end());
    out.chunk_types.insert(out.chunk_types.end(), run->types.begin(), run->types.end());
    out.diagnostics.insert(out.diagnostics.end(), run->diagnostics.begin(), run->diagnostics.end());
    out.late_calls.insert(out.late_calls.end(), run->late_calls.begin(), run->late_calls.end());
    out.needs.insert(out.needs.end(), run->needs.begin(), run->needs.end());
    has_errors = has_errors || run->has_errors;
    // Duplicates within one run are reported there.
    std::unordered_set<std::string_view> here;
    for (const ChunkVariable& v : run->variables)
      if (v.variable->graph && here.insert(v.variable->name).second &&
          !graph_names.insert(v.variable->name).second)
        out.diagnostics.push_back({DiagnosticKind::DuplicateDefinition,
                                   {{v.declaration, binding_node(v.variable->name)}, {}},
                                   fmt::format("`%{}` is bound twice in this block", v.variable->name),
                                   {}});
  }
  ExprPtr result = runs.back()->result;
  std::vector<Type> params;
  std::vector<const Variable*> variables;
  for (const TopLevelVariable& p : head.params) {
    params.push_back(p.variable->type);
    variables.push_back(p.variable);
    if (out.types.size() <= p.place.origin.node) out.types.resize(p.place.origin.node + 1, nullptr);
    out.types[p.place.origin.node] = p.variable->type;
  }
  Type result_type = head.result ? head.result : without_opened(result->type, head.dim_vars);
  Scheme scheme{head.dim_vars, head.type_vars, function_type(params, result_type)};
  ExprPtr block = arena->make<BlockExpr>(Expr{ExprKind::Block, result->type, {def.id, def.syntax->id}},
                                         arena->copy(bindings), result);
  ExprPtr fn = arena->make<FnExpr>(Expr{ExprKind::Fn, scheme.type, {def.id, def.syntax->id}},
                                   arena->copy(variables), arena->copy(head.dim_vars), block, false);
  out.definition = {def.name.substr(1), scheme, has_errors ? nullptr : fn, arena};
  return out;
}

}  // namespace quern
