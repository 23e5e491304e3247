#include "ide/attribute_hints.h"

#include <algorithm>
#include <functional>

#include "frontend/signature/signature.h"

namespace quern::ide {

namespace {

/// The declaration that names a callee's attributes; null if there is none.
const Declaration* signature_of(Scope& scope, SyntaxPtr callee) {
  if (callee->is(SyntaxKind::Name)) return scope.op(callee->text);
  if (!callee->is(SyntaxKind::GlobalName)) return nullptr;
  std::string_view name = callee->text;
  if (name.starts_with("@")) name.remove_prefix(1);
  const Declaration* def = scope.global(name);
  return def && has_attributes_or_packs(*def) ? def : nullptr;
}

void add_hints(Session& session, DeclarationId declaration, SyntaxPtr call, Range within,
               std::vector<AttributeHint>& hints) {
  const Declaration* called = signature_of(session.scope(session.info(declaration).module), call->child(0));
  if (!called) return;
  std::vector<std::string_view> names;
  for (SyntaxPtr param : params_of(called->syntax)->children)
    if (param->is(SyntaxKind::AttributeParam)) names.push_back(param->text);
  // A single value needs no hint: `ones((2, 3))`.
  if (call->children.size() == 2) return;
  const size_t tensors = tensor_param_count(called->syntax);
  size_t position = 0;
  for (SyntaxPtr argument : call->children.subspan(1)) {
    if (argument->is(SyntaxKind::NamedArgument)) continue;
    if (argument->is(SyntaxKind::Spread)) return;
    const size_t slot = position++;
    if (slot < tensors || slot - tensors >= names.size()) continue;
    const std::string_view name = names[slot - tensors];
    const uint32_t offset = session.range_of(Place{{declaration, argument->id}, {}}).begin;
    if (argument->text != name && within.begin <= offset && offset <= within.end)
      hints.push_back({offset, std::string(name)});
  }
}

}  // namespace

std::vector<AttributeHint> attribute_hints(Session& session, SourceId source, Range within) {
  std::vector<AttributeHint> hints;
  auto look = [&](DeclarationId id) {
    std::function<void(SyntaxPtr)> walk = [&](SyntaxPtr node) {
      if (!node) return;
      // Calls in index expressions are of scalar functions.
      if (node->is(SyntaxKind::Comprehension)) return;
      if (node->is(SyntaxKind::Call)) add_hints(session, id, node, within, hints);
      for (SyntaxPtr child : node->children) walk(child);
    };
    walk(session.declaration(id).syntax);
  };
  for (const DeclarationId id : session.declarations(source)) {
    const Range range = session.range_of(id);
    if (range.end < within.begin || range.begin > within.end) continue;
    look(id);
    for (const DeclarationId chunk : session.chunks(id)) look(chunk);
  }
  std::ranges::sort(hints, {}, &AttributeHint::offset);
  return hints;
}

}  // namespace quern::ide
