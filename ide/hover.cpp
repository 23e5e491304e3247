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

/// The text of an operator's declaration, where it is short enough to be read at a glance.
std::string short_definition(Session& session, DeclarationId op) {
  constexpr ptrdiff_t kMostLines = 16;
  const std::string_view text = session.text_of(op);
  return std::ranges::count(text, '\n') < kMostLines ? std::string(text) : "";
}

Hover of_operator(Session& session, Range range, DeclarationId op) {
  return {range, Hover::Declared{session.signature(op)}, session.doc(op), short_definition(session, op)};
}

/// The dims of a type that have names in the declaration around it.
std::vector<Hover::NamedDim> named_dims(Session& session, DeclarationId declaration, Type type) {
  std::vector<std::string> names;
  for_each_dim_var(type, [&](Dim dim) {
    const std::string name = to_string(dim);
    if (!dim->opened && std::ranges::find(names, name) == names.end()) names.push_back(name);
  });
  if (names.empty()) return {};
  std::vector<Hover::NamedDim> dims;
  for (const NamePlace& place : names_in_declaration(session, declaration)) {
    const std::string name(text_at(session, place));
    if (!place.declares || place.target.kind != NameKind::TypeParameter) continue;
    if (std::ranges::find(names, name) != names.end()) dims.push_back({name, {place.source, place.range}});
  }
  return dims;
}

/// The doc comment of the function that a name refers to.
std::string doc_of_function(Session& session, const SyntaxPath& at, Range range) {
  const auto name = name_at(session, session.info(at.whole).source, range.begin);
  return name && name->target.kind == NameKind::Definition ? session.doc(name->target.declared.declaration)
                                                           : "";
}

std::optional<Hover> hover_of_node(Session& session, const SyntaxPath& at, SyntaxPtr node) {
  const Range range = session.range_of({{at.declaration, node->id}, {}});
  const ModuleId module = session.info(at.whole).module;
  if (node->is(SyntaxKind::NamedType))
    if (const DeclarationId type = session.find_type(module, node->text))
      return Hover{range, Hover::Declared{std::string(session.text_of(type))}, session.doc(type)};
  if (node->is(SyntaxKind::Name)) {
    if (const DeclarationId op = session.find_operator(module, node->text))
      return of_operator(session, range, op);
  }
  const std::vector<Type>& types = session.types_of(at.declaration);
  const Type type = node->id < types.size() ? types[node->id] : nullptr;
  if (!type || type->is_error()) return std::nullopt;
  Hover found{range, Hover::Typed{"", to_string(type)}};
  if (node->is(SyntaxKind::GlobalName)) found.doc = doc_of_function(session, at, range);
  found.dims = named_dims(session, at.whole, type);
  return found;
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
  return Hover{at->range, Hover::Typed{session.info(at->whole).name, to_string(known->definition.scheme)},
               session.doc(at->whole)};
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

std::string to_markdown(const Hover& hover, const std::string& remark) {
  std::string text = fmt::format("```quern\n{}\n```", code_of(hover));
  if (!remark.empty()) text += "\n\n" + remark;
  if (auto* primitive = std::get_if<Hover::Primitive>(&hover.about))
    text += fmt::format("\n\n{}", primitive->does);
  if (!hover.doc.empty()) text += fmt::format("\n\n{}", hover.doc);
  if (!hover.definition.empty()) text += fmt::format("\n\n---\n```quern\n{}\n```", hover.definition);
  return text;
}

}  // namespace quern::ide
