#include "ide/call_hierarchy.h"

#include <algorithm>

#include "ide/references.h"
#include "ide/typed_syntax.h"

namespace quern::ide {

namespace {

/// The `let` that binds a name to a function literal; null if there is none.
SyntaxPtr function_literal(Session& session, const NameTarget& target) {
  if (target.kind != NameKind::Variable) return nullptr;
  const SyntaxPtr root = session.declaration(target.declared.declaration).syntax;
  const SyntaxPtr let = find_node(root, target.declared.node);
  const bool is_function = let && let->is(SyntaxKind::Let) && let->child(1)->is(SyntaxKind::Fn);
  return is_function ? let : nullptr;
}

std::optional<CallItem> item_of(Session& session, const NameTarget& target) {
  const std::optional<NamePlace> declared = declared_place(session, target);
  if (!declared) return std::nullopt;
  const DeclarationId whole = whole_of(session, declared->declaration);
  switch (target.kind) {
    case NameKind::Definition:
    case NameKind::Operator:
    case NameKind::Static: {
      Symbol symbol = symbol_of(session, whole);
      symbol.name_range = declared->range;
      return CallItem{declared->source, std::move(symbol)};
    }
    case NameKind::Variable: {
      const SyntaxPtr let = function_literal(session, target);
      if (!let) return std::nullopt;
      const Range range = session.range_of({{declared->declaration, let->id}, {}});
      const std::string name = "%" + std::string(text_at(session, *declared));
      return CallItem{declared->source, {name, SymbolKind::Function, "", range, declared->range, {}}};
    }
    case NameKind::Type:
    case NameKind::Constructor:
    case NameKind::Field:
    case NameKind::Attribute:
    case NameKind::TypeParameter:
    case NameKind::Constant:
    case NameKind::Index:
    case NameKind::Loop:
    case NameKind::Module: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<CallItem> call_item(Session& session, SourceId source, uint32_t offset) {
  const auto name = name_at(session, source, offset);
  return name ? item_of(session, name->target) : std::nullopt;
}

std::vector<Call> incoming_calls(Session& session, SourceId source, uint32_t offset) {
  const auto name = name_at(session, source, offset);
  if (!name || !item_of(session, name->target)) return {};
  std::vector<Call> calls;
  std::vector<DeclarationId> callers;
  for (const NamePlace& place : references(session, name->target)) {
    if (place.declares) continue;
    const DeclarationId caller = whole_of(session, place.declaration);
    const auto known = std::ranges::find(callers, caller);
    const auto at = static_cast<size_t>(known - callers.begin());
    if (known == callers.end()) {
      callers.push_back(caller);
      calls.push_back({{place.source, symbol_of(session, caller)}, {}});
    }
    calls[at].places.push_back(place.range);
  }
  return calls;
}

std::vector<Call> outgoing_calls(Session& session, SourceId source, Range item) {
  const auto at = session.syntax_at(source, item.begin);
  if (!at) return {};
  std::vector<Call> calls;
  std::vector<NameTarget> called;
  for (const NamePlace& name : names_in_declaration(session, at->whole)) {
    if (name.declares || name.range.begin < item.begin || name.range.end > item.end) continue;
    const auto known = std::ranges::find(called, name.target);
    const auto index = static_cast<size_t>(known - called.begin());
    if (known == called.end()) {
      auto other = item_of(session, name.target);
      if (!other || (name.symbol && session.is_library(other->source))) continue;
      called.push_back(name.target);
      calls.push_back({std::move(*other), {}});
    }
    calls[index].places.push_back(name.range);
  }
  return calls;
}

}  // namespace quern::ide
