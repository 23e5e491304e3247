#include "frontend/infer/bodies/blocks.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

namespace {

bool is_let(SyntaxPtr s) {
  return s->is(SyntaxKind::Let) || s->is(SyntaxKind::GraphLet) || s->is(SyntaxKind::LetPattern);
}

}  // namespace

void Blocks::add(SyntaxPtr s, BlockSoFar& block) {
  if (s->is(SyntaxKind::GraphLet)) return add_graph(s, block);
  if (scope_.cancelled()) return;
  if (s->is(SyntaxKind::FreeVar)) {
    const Variable* variable = drafts_.variable(s->text, infer(s)->type);
    return names_.bind(variable->name, variable, s);
  }
  if (s->is(SyntaxKind::Let)) return add_let(s, block);
  if (s->is(SyntaxKind::LetPattern)) return add_pattern(s, block);
  block.bindings.push_back({nullptr, infer(s)});
}

void Blocks::add_function(SyntaxPtr s, BlockSoFar& block) {
  auto [variable, function] = functions_.let_function(s);
  block.bindings.push_back({variable, function});
}

void Blocks::add_graph(SyntaxPtr s, BlockSoFar& block) {
  if (std::ranges::find(block.graph_names, s->text) != block.graph_names.end())
    report(DiagnosticKind::DuplicateDefinition, s,
           fmt::format("`%{}` is bound twice in this block", s->text));
  block.graph_names.push_back(s->text);
  if (binds_function(s)) return add_function(s, block);
  DraftPtr value = infer(s->child(0));
  const Variable* variable = drafts_.variable(s->text, value->type, true);
  block.bindings.push_back({variable, value});
  names_.bind(variable->name, variable, s);
}

DraftPtr Blocks::annotated(SyntaxPtr value, SyntaxPtr annotation, std::string_view name, Type& declared) {
  declared = annotation ? names_.annotation(annotation) : nullptr;
  parts_.files.annotations.emplace(value, annotation);
  DraftPtr draft = infer(value, declared);
  if (!declared) return draft;
  assignments_.expect(value, declared, draft->type, name.empty() ? "this value" : fmt::format("`%{}`", name),
                      {{place(annotation), "it is declared here"}}, DiagnosticKind::AnnotationMismatch,
                      draft);
  declared = resolve(declared);
  DraftPtr exact = checks_.opened(draft, declared, name.empty() ? "parts" : name);
  if (exact != draft) declared = exact->type;
  return exact;
}

void Blocks::add_let(SyntaxPtr s, BlockSoFar& block) {
  if (binds_function(s)) return add_function(s, block);
  Type declared = nullptr;
  DraftPtr value = annotated(s->child(1), s->child(0), s->text, declared);
  if (s->text == "_") {
    block.bindings.push_back({nullptr, value});
    return;
  }
  const Variable* variable = drafts_.variable(s->text, declared ? declared : value->type);
  block.bindings.push_back({variable, value});
  names_.bind(variable->name, variable, s);
}

void Blocks::add_pattern(SyntaxPtr s, BlockSoFar& block) {
  Type declared = nullptr;
  DraftPtr value = annotated(s->child(2), s->child(1), "", declared);
  const size_t first = names_.depth();
  PatternPtr pattern = patterns_.of_let(s, declared ? declared : value->type);
  patterns_.bind_parts(pattern, value, first, block.bindings);
}

DraftPtr Blocks::block(SyntaxPtr s, Type wanted) {
  size_t depth = names_.depth();
  BlockSoFar block;
  DraftPtr result = nullptr;
  for (SyntaxPtr statement : s->children) {
    if (statement == s->children.back() && !is_let(statement))
      result = infer(statement, wanted);
    else
      add(statement, block);
  }
  names_.leave_to(depth);
  if (!result) result = drafts_.tuple(origin(s), {});
  return block.bindings.empty() ? result : drafts_.block(origin(s), block.bindings, result);
}

DraftPtr Blocks::chunk(const Declaration& chunk, bool at_end, BlockSoFar& block, Type wanted) {
  context_.declaration = chunk.id;
  std::span<const SyntaxPtr> all = chunk.syntax->children;
  bool has_result = at_end && !all.empty() && !is_let(all.back());
  for (SyntaxPtr s : has_result ? all.first(all.size() - 1) : all) add(s, block);
  if (has_result) return infer(all.back(), wanted);
  return at_end ? drafts_.tuple(origin(chunk.syntax), {}) : nullptr;
}

DraftPtr Blocks::in_chunks(const Declaration& def, Type wanted) {
  size_t depth = names_.depth();
  BlockSoFar block;
  DraftPtr result = nullptr;
  for (const Declaration* part : def.chunks) result = chunk(*part, part == def.chunks.back(), block, wanted);
  context_.declaration = def.id;
  names_.leave_to(depth);
  return drafts_.block(origin(def.syntax), block.bindings, result);
}

}  // namespace quern
