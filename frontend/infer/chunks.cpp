#include "frontend/infer/chunks.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "frontend/infer/inference.h"

namespace quern {

namespace {

constexpr uint32_t kBindingNode = 0x80000000;

bool is_binding(SyntaxPtr s) {
  return s->is(SyntaxKind::GraphLet) || (s->is(SyntaxKind::Let) && s->text != "_");
}

}  // namespace

uint32_t binding_node(std::string_view name) {
  return kBindingNode | static_cast<uint32_t>(std::hash<std::string_view>()(name));
}

SyntaxPtr find_binding(SyntaxPtr chunk, uint32_t node) {
  if (!(node & kBindingNode) || !chunk) return nullptr;
  for (size_t i = chunk->children.size(); i-- > 0;)
    if (is_binding(chunk->children[i]) && binding_node(chunk->children[i]->text) == node)
      return chunk->children[i];
  return nullptr;
}

std::vector<std::string> bound_names(SyntaxPtr chunk) {
  std::vector<std::string> names;
  for (SyntaxPtr s : chunk->children)
    if (s && is_binding(s)) names.emplace_back(s->text);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// --- the walk of a body in chunks

DraftPtr Inference::statements(const Declaration& chunk, bool at_end, std::vector<DraftBinding>& bindings,
                               std::vector<std::string_view>& graph_names, Type wanted) {
  enter(chunk.id);
  std::span<const SyntaxPtr> all = chunk.syntax->children;
  bool has_result =
      at_end && !all.empty() && !all.back()->is(SyntaxKind::Let) && !all.back()->is(SyntaxKind::GraphLet);
  for (SyntaxPtr s : has_result ? all.first(all.size() - 1) : all) binding(s, bindings, graph_names);
  if (has_result) return infer(all.back(), wanted);
  return at_end ? unit(chunk.syntax) : nullptr;
}

DraftPtr Inference::unit(SyntaxPtr at) { return drafts_.tuple(origin(at), {}); }

DraftPtr Inference::chunked_body(const Declaration& def, Type wanted) {
  size_t depth = scope_depth();
  std::vector<DraftBinding> bindings;
  std::vector<std::string_view> graph_names;
  DraftPtr result = nullptr;
  for (const Declaration* chunk : def.chunks)
    result = statements(*chunk, chunk == def.chunks.back(), bindings, graph_names, wanted);
  enter(def.id);
  leave_to(depth);
  return drafts_.block(origin(def.syntax), bindings, result);
}

SyntaxPtr last_statement(const Declaration& chunk) {
  SyntaxPtr at = chunk.syntax;
  while (at->is(SyntaxKind::Block) && !at->children.empty()) at = at->children.back();
  return at;
}

// Whether nothing that follows can decide anything here.
bool Inference::closed() {
  run_queue();
  bool waits = std::any_of(relations_.begin(), relations_.end(), [](const Relation& r) { return !r.done; });
  if (waits || !unifier.unsettled().empty()) return false;
  // What is bound here has one type for later chunks: one that is general is used in the same run.
  return std::none_of(locals_.begin(), locals_.end(), [&](const LocalName& local) {
    return schemes_.contains(local.variable) || resolve(local.variable->type)->has_infer;
  });
}

// --- head, run, definition

std::shared_ptr<const BodyHead> infer_body_head(const Declaration& def, Scope& scope) {
  if (has_attributes_or_packs(def)) return nullptr;
  Inference inference(scope, def.id);
  Head head = inference.head_of_definition(def);
  auto result = std::make_shared<BodyHead>();
  result->result = def.syntax->child(2) ? inference.resolve(head.result) : nullptr;
  if (result->result && result->result->has_infer) return nullptr;
  size_t i = 0;
  for (SyntaxPtr p : params_of(def.syntax)->children) {
    // What else a list of parameters may have is left to the inference of the whole.
    if (!p->is(SyntaxKind::TensorParam)) return nullptr;
    Type type = inference.resolve(head.params[i++]);
    if (type->has_infer) return nullptr;
    const Variable* variable = make_variable(*inference.arena, inference.arena->copy(p->text), type);
    result->params.push_back({variable, {{def.id, p->id}, {}}});
  }
  result->env = std::move(head.env);
  result->dim_vars = std::move(head.dim_vars);
  result->type_vars = std::move(head.type_vars);
  result->diagnostics = std::move(inference.diagnostics);
  result->arena = inference.arena;
  return result;
}

BodyRun Inference::body_run(const BodyHead& head, ChunkSource& chunks, const Declaration* first) {
  env = head.env;
  std::vector<DraftBinding> drafts;
  std::vector<std::string_view> graph_names;
  std::vector<const Declaration*> run;
  std::vector<std::pair<size_t, size_t>> locals_of;  // of each chunk, in locals_
  DraftPtr result = nullptr;
  for (const Declaration* chunk = first;; chunk = chunks.next()) {
    run.push_back(chunk);
    size_t before = locals_.size();
    result = statements(*chunk, chunks.at_end(), drafts, graph_names, head.result);
    locals_of.emplace_back(before, locals_.size());
    if (chunks.at_end() || closed()) break;
  }
  if (result && head.result)
    expect(last_statement(*run.back()), head.result, result->type, "the result", {},
           DiagnosticKind::ResultMismatch, result);
  solve();

  BodyRun out;
  for (size_t i = 0; i < run.size(); ++i) {
    std::unordered_set<std::string_view> seen;
    for (size_t k = locals_of[i].second; k-- > locals_of[i].first;) {
      const LocalName& local = locals_[k];
      if (!seen.insert(local.name).second) continue;
      Type type = finish(local.variable->type);
      if (const Variable* known = chunks.known(run[i]->id, local.name, type, local.variable->graph))
        finished_variables_[local.variable] = known;
      out.variables.push_back({run[i]->id, finish(local.variable)});
    }
  }
  for (const DraftBinding& b : drafts) {
    if (b.variable && finish_copies(b.variable, out.bindings)) continue;
    out.bindings.push_back({b.variable ? finish(b.variable) : nullptr, finish(b.value)});
    out.has_errors = out.has_errors || contains_errors(out.bindings.back().value);
  }
  if (result) {
    out.closed = !resolve(result->type)->has_infer;
    out.result = finish(result);
    out.has_errors = out.has_errors || contains_errors(out.result);
  }
  for (const Declaration* chunk : run) out.declarations.push_back(chunk->id);
  for (const Declaration* chunk : run)
    out.types.push_back(std::make_shared<const std::vector<Type>>(finish_types(*this, chunk->id)));
  for (Diagnostic& d : diagnostics)
    if (std::any_of(run.begin(), run.end(), [&](auto* c) { return c->id == d.place.origin.declaration; }))
      out.diagnostics.push_back(std::move(d));
  out.late_calls = std::move(late_calls);
  out.needs = std::move(needs);
  out.arena = arena;
  return out;
}

BodyRun infer_body_run(const BodyHead& head, ChunkSource& chunks, Scope& scope) {
  const Declaration* first = chunks.next();
  Inference inference(scope, first->id);
  return inference.body_run(head, chunks, first);
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
    // Twice in one run is reported there.
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
