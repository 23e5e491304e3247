#include "ide/definition.h"

#include <algorithm>

namespace quern::ide {

namespace {

std::optional<DeclarationLink> link(Session& session, Range origin, const NameTarget& target) {
  const std::optional<NamePlace> declared = declared_place(session, target);
  if (!declared) return std::nullopt;
  return DeclarationLink{origin, declared->source, session.range_of(declared->declaration), declared->range};
}

std::optional<DeclarationLink> file_of_import(Session& session, const SyntaxPath& at, uint32_t offset) {
  if (at.nodes.empty()) return std::nullopt;
  const SyntaxPtr root = at.nodes.front();
  if (!root->is(SyntaxKind::Import) && !root->is(SyntaxKind::ImportAs)) return std::nullopt;
  const std::string_view text = session.text_of(at.whole);
  const size_t open = text.find('"'), close = text.find('"', open + 1);
  if (close == std::string_view::npos) return std::nullopt;
  const Range path{at.range.begin + static_cast<uint32_t>(open),
                   at.range.begin + static_cast<uint32_t>(close) + 1};
  if (offset < path.begin || offset > path.end) return std::nullopt;
  const std::optional<SourceId> file = session.imported_by(at.whole);
  return file ? std::optional(DeclarationLink{path, *file, {}, {}}) : std::nullopt;
}

/// The type annotation of what a node binds; null if there is none.
SyntaxPtr annotation_of(SyntaxPtr binder) {
  switch (binder->kind) {
    case SyntaxKind::Let:
    case SyntaxKind::FreeVar:
    case SyntaxKind::TensorParam:
    case SyntaxKind::VariablePattern:
    case SyntaxKind::ConstructorField: return binder->child(0);
    default: return nullptr;
  }
}

/// Links from a place to the declarations of its type.
class TypeLinks {
 public:
  TypeLinks(Session& session, ModuleId module) : session_(session), module_(module) {}

  void add(Range origin, const NameTarget& target) {
    if (target.kind != NameKind::Type) return;
    const auto found = link(session_, origin, target);
    const bool is_known = found && std::ranges::any_of(all, [&](const DeclarationLink& d) {
                            return d.source == found->source && d.name == found->name;
                          });
    if (found && !is_known) all.push_back(*found);
  }

  /// Adds the name in a type annotation.
  bool add_written(Range origin, DeclarationId in, SyntaxPtr type) {
    if (!type || !type->is(SyntaxKind::NamedType)) return false;
    for (const Occurrence& occurrence : session_.occurrences(in))
      if (occurrence.node == type->id) add(origin, occurrence.target);
    return !all.empty();
  }

  void add(Range origin, Type type) {
    if (!type) return;
    switch (type->kind) {
      case TypeKind::Data:
        if (const DataDefinition* data = session_.data(module_, type))
          add(origin, NameTarget{NameKind::Type, {data->declaration, 1}});
        return;
      case TypeKind::Tuple:
        for (const Type element : type->args) add(origin, element);
        return;
      case TypeKind::Function: return add(origin, type->result());
      case TypeKind::Ref: return add(origin, type->args[0]);
      case TypeKind::Tensor:
      case TypeKind::Dim:
      case TypeKind::Var:
      case TypeKind::Infer:
      case TypeKind::Error: return;
    }
  }

  std::vector<DeclarationLink> all;

 private:
  Session& session_;
  ModuleId module_;
};

/// The type of a name's declaration; null if unknown.
Type type_of_declared(Session& session, ModuleId module, const NameTarget& target) {
  const DeclarationId in = target.declared.declaration;
  if (target.kind == NameKind::Definition) {
    const std::string& name = session.info(in).name;
    const Scheme* scheme = session.scheme(session.info(in).module, std::string_view(name).substr(1));
    return scheme ? scheme->type : nullptr;
  }
  if (target.kind == NameKind::Field) {
    const DataDefinition* data = session.scope(module).data(session.info(in).name);
    if (!data) return nullptr;
    for (const DataConstructor& constructor : data->constructors)
      for (const DataField& field : constructor.fields)
        if (field.place.origin == target.declared) return field.type;
    return nullptr;
  }
  const SyntaxPtr binder = find_node(session.declaration(in).syntax, target.declared.node);
  return binder ? type_of_binding(session, in, binder) : nullptr;
}

}  // namespace

std::optional<DeclarationLink> definition(Session& session, SourceId source, uint32_t offset) {
  if (const auto name = name_at(session, source, offset)) return link(session, name->range, name->target);
  const auto at = session.syntax_at(source, offset);
  return at ? file_of_import(session, *at, offset) : std::nullopt;
}

std::vector<DeclarationLink> type_definitions(Session& session, SourceId source, uint32_t offset) {
  const auto at = session.syntax_at(source, offset);
  if (!at) return {};
  TypeLinks links(session, session.module_of(source));
  const std::optional<NamePlace> name = name_at(session, source, offset);
  if (name && name->target.kind == NameKind::Type) {
    links.add(name->range, name->target);
    return links.all;
  }
  if (name) {
    const Origin declared = name->target.declared;
    const SyntaxPtr binder = find_node(session.declaration(declared.declaration).syntax, declared.node);
    if (binder && links.add_written(name->range, declared.declaration, annotation_of(binder)))
      return links.all;
    if (name->target.kind == NameKind::Constructor)
      links.add(name->range, NameTarget{NameKind::Type, {declared.declaration, 1}});
    links.add(name->range,
              type_of_declared(session, session.info(declared.declaration).module, name->target));
    if (!links.all.empty()) return links.all;
  }
  // The innermost part that has a type.
  const std::vector<Type>& types = session.types_of(at->declaration);
  for (auto node = at->nodes.rbegin(); node != at->nodes.rend(); ++node) {
    const Type type = (*node)->id < types.size() ? types[(*node)->id] : nullptr;
    if (!type || type->is_error()) continue;
    links.add(session.range_of({{at->declaration, (*node)->id}, {}}), type);
    break;
  }
  return links.all;
}

}  // namespace quern::ide
