// What the names of a declaration refer to.

#include <algorithm>

#include "session/db/module_scope.h"

namespace quern {

namespace {

constexpr uint32_t kRoot = 1;

/// The other declarations' names that a declaration sees.
class NamesAround final : public DeclaredNames {
 public:
  NamesAround(Database& db, DeclarationId id) : db_(db), id_(id), module_(db.declarations[id].module) {}

  Origin definition(std::string_view name) override { return root(NameTable::Globals, name); }
  Origin op(std::string_view name) override { return root(NameTable::Operators, name); }
  Origin static_function(std::string_view name) override { return root(NameTable::Statics, name); }
  Origin type(std::string_view name) override { return root(NameTable::Types, name); }

  Origin constructor(std::string_view name) override {
    const DeclarationId id = db_.find_constructor(module_, name);
    if (!id) return {};
    const std::string_view own = name.substr(name.rfind('.') + 1);
    for (SyntaxPtr c : db_.head(id).syntax->children)
      if (c && c->is(SyntaxKind::Constructor) && (c->text == name || c->text == own)) return {id, c->id};
    return {};
  }

  Origin variable(std::string_view name) override {
    if (db_.declarations[id_].part_of) return in_earlier_chunk(name);
    if (db_.declarations[id_].kind != PieceKind::Statement) return {};
    const DeclarationId id = db_.variable_before(id_, name);
    if (!id) return {};
    if (names_pattern(db_.declarations[id].name))
      for (const auto& [node, bound] : db_.binders(id))
        if (bound == name) return {id, node};
    return {id, kRoot};
  }

  Origin infix(std::string_view symbol) override {
    const DeclarationId id = db_.find(module_, NameTable::Infix, symbol);
    SyntaxPtr declared = id ? db_.tree(id).syntax : nullptr;
    if (!declared || !declared->is(SyntaxKind::Infix)) return {};
    // The operator as seen by the module of the `infix`.
    const DeclarationId op =
        db_.find(db_.declarations[id].module, NameTable::Operators, declared->child(0)->text);
    return op ? Origin{op, kRoot} : Origin{};
  }

  Origin field(SyntaxPtr record, std::string_view name) override {
    const std::vector<Type>& types = db_.types_of(id_);
    const Type type = record->id < types.size() ? types[record->id] : nullptr;
    const DataDefinition* data = type && type->kind == TypeKind::Data ? db_.data_of(module_, type) : nullptr;
    if (!data || data->constructors.size() != 1) return {};
    const std::vector<DataField>& fields = data->constructors[0].fields;
    const auto found = std::ranges::find(fields, name, &DataField::name);
    return found == fields.end() ? Origin{} : found->place.origin;
  }

  Origin module(std::string_view alias) override {
    for (const Import& import : db_.imports.get(module_))
      if (import.alias == alias) return {import.declaration, kRoot + 1};
    return {};
  }

  std::vector<SyntaxPtr> binders(const Origin& op) override {
    std::vector<SyntaxPtr> found;
    auto look = [&](auto&& self, SyntaxPtr s) -> void {
      if (!s) return;
      const bool is_index = s->is(SyntaxKind::Binder) || s->is(SyntaxKind::PackBinder);
      if (is_index || s->is(SyntaxKind::TensorParam)) found.push_back(s);
      for (SyntaxPtr c : s->children) self(self, c);
    };
    SyntaxPtr root = db_.tree(op.declaration).syntax;
    for (size_t child : {1, 4}) look(look, root->child(child));
    return found;
  }

  SyntaxPtr node(const Origin& declared) override {
    return find_node(db_.head(declared.declaration).syntax, declared.node);
  }

 private:
  Origin root(NameTable table, std::string_view name) {
    const DeclarationId id = db_.find(module_, table, name);
    return id ? Origin{id, kRoot} : Origin{};
  }
  Origin in_earlier_chunk(std::string_view name) {
    const std::string key(name);
    // A chunk that did not parse may bind fewer names than it seems to.
    for (DeclarationId at = db_.bodies.binder_before(id_, key); at; at = db_.bodies.binder_before(at, key))
      if (SyntaxPtr binding = find_binding(db_.tree(at).syntax, binding_node(name))) return {at, binding->id};
    return {};
  }

  Database& db_;
  DeclarationId id_;
  ModuleId module_;
};

}  // namespace

std::vector<std::pair<uint32_t, std::string>> Database::find_binders(DeclarationId id) {
  std::vector<std::pair<uint32_t, std::string>> found;
  for (SyntaxPtr binder : binders_of(tree(id).syntax)) found.emplace_back(binder->id, binder->text);
  return found;
}

Occurrences Database::find_occurrences(DeclarationId id) {
  NamesAround names(*this, id);
  const DeclarationId whole = declarations[id].part_of;
  return resolve_names(tree(id), whole ? &head(whole) : nullptr, names);
}

const std::vector<Type>& Database::types_of(DeclarationId id) {
  static const std::vector<Type> kNone;
  const DeclarationInfo& about = declarations[id];
  if (about.part_of && bodies.head(about.part_of)) {
    const BodyRun& run = *bodies.run(bodies.run_start(id));
    const auto at = std::ranges::find(run.declarations, id) - run.declarations.begin();
    return at < std::ssize(run.types) ? *run.types[static_cast<size_t>(at)] : kNone;
  }
  const bool definition = about.kind == PieceKind::Def && about.name.starts_with("@");
  const Inferred* known = about.kind == PieceKind::Statement ? &statement(id)
                          : definition                       ? inferred(about.module, about.name.substr(1))
                                                             : nullptr;
  if (!known || !about.part_of) return known ? known->types : kNone;
  return index_of[id] < known->chunk_types.size() ? *known->chunk_types[index_of[id]] : kNone;
}

}  // namespace quern
