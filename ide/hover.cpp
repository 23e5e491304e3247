#include "ide/hover.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/expr/expr.h"

namespace quern::ide {

namespace {

/// The primitive whose name in a step of a schedule is at the offset.
std::optional<Hover> hover_of_step(Session& session, const SyntaxPath& at, SyntaxPtr step, uint32_t offset) {
  const auto primitive = loops::find_primitive(step->text);
  const Range name = session.range_of({{at.declaration, step->child(1)->id}, {}});
  if (!primitive || offset < name.begin || offset > name.end) return std::nullopt;
  const loops::PrimitiveInfo& info = loops::info(*primitive);
  return Hover{name, Hover::Primitive{info.form, info.does}};
}

std::optional<Hover> hover_of_node(Session& session, const SyntaxPath& at, SyntaxPtr node) {
  const Range range = session.range_of({{at.declaration, node->id}, {}});
  const ModuleId module = session.info(at.whole).module;
  if (node->is(SyntaxKind::NamedType))
    if (const DeclarationId type = session.find_type(module, node->text))
      return Hover{range, Hover::Declared{std::string(session.text_of(type)), session.doc(type)}};
  if (node->is(SyntaxKind::Name)) {
    if (const DeclarationId op = session.find_operator(module, node->text))
      return Hover{range, Hover::Declared{session.signature(op), session.doc(op)}};
  }
  const std::vector<Type>& types = session.types_of(at.declaration);
  const Type type = node->id < types.size() ? types[node->id] : nullptr;
  if (!type || type->is_error()) return std::nullopt;
  return Hover{range, Hover::Typed{"", to_string(type)}};
}

}  // namespace

std::optional<Hover> hover(Session& session, SourceId source, uint32_t offset) {
  const std::optional<SyntaxPath> at = session.syntax_at(source, offset);
  if (!at) return std::nullopt;
  const auto step = std::ranges::find(at->nodes, SyntaxKind::ScheduleStep, &Syntax::kind);
  if (step != at->nodes.end()) return hover_of_step(session, *at, *step, offset);
  for (auto node = at->nodes.rbegin(); node != at->nodes.rend(); ++node)
    if (auto found = hover_of_node(session, *at, *node)) return found;
  const Inferred* known = session.inferred(at->whole);
  if (!known || !known->definition.scheme.type || known->definition.scheme.type->is_error())
    return std::nullopt;
  return Hover{at->range, Hover::Typed{session.info(at->whole).name, to_string(known->definition.scheme)}};
}

std::string code_of(const Hover& hover) {
  return std::visit(overloaded{[](const Hover::Primitive& primitive) { return std::string(primitive.form); },
                               [](const Hover::Declared& declared) { return declared.head; },
                               [](const Hover::Typed& typed) {
                                 return typed.name.empty() ? typed.type
                                                           : fmt::format("{}: {}", typed.name, typed.type);
                               }},
                    hover.about);
}

std::string to_markdown(const Hover& hover) {
  std::string text = fmt::format("```quern\n{}\n```", code_of(hover));
  if (auto* primitive = std::get_if<Hover::Primitive>(&hover.about))
    text += fmt::format("\n\n{}", primitive->does);
  if (auto* declared = std::get_if<Hover::Declared>(&hover.about); declared && !declared->doc.empty())
    text += fmt::format("\n\n{}", declared->doc);
  return text;
}

}  // namespace quern::ide
