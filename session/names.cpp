// What the names of a module refer to.

#include <algorithm>
#include <array>

#include "session/db/module_scope.h"
#include "session/session.h"

namespace quern {

DeclarationId Session::find_definition(ModuleId module, std::string_view name) {
  return db_->find(module, NameTable::Globals, name);
}
DeclarationId Session::find_operator(ModuleId module, std::string_view name) {
  return db_->find(module, NameTable::Operators, name);
}
DeclarationId Session::find_static(ModuleId module, std::string_view name) {
  return db_->find(module, NameTable::Statics, name);
}
DeclarationId Session::find_type(ModuleId module, std::string_view name) {
  return db_->find(module, NameTable::Types, name);
}
DeclarationId Session::find_constructor(ModuleId module, std::string_view name) {
  return db_->find_constructor(module, name);
}
DeclarationId Session::find_variable(ModuleId module, std::string_view name) {
  const auto& bound = db_->names.get({module, NameTable::Variables, std::string(name)});
  return bound.empty() ? 0 : bound.back();
}

std::string Session::find_infix(ModuleId module, std::string_view symbol) {
  return db_->scope_of(module).infix(symbol);
}

std::vector<std::pair<std::string, DeclarationId>> Session::import_names(ModuleId module) {
  std::vector<std::pair<std::string, DeclarationId>> names;
  for (const Import& import : db_->imports.get(module))
    if (!import.alias.empty()) names.emplace_back(import.alias, import.declaration);
  return names;
}

std::vector<std::string> Session::static_functions(ModuleId module) {
  std::vector<std::string> found;
  for (const ModuleId of : {module, Database::kLibrary})
    db_->names.for_each(of, NameTable::Statics, [&](const std::string& name) { found.push_back(name); });
  std::ranges::sort(found);
  // Clang 14 does not accept the result of `std::ranges::unique` of GCC's library.
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Scope& Session::scope(ModuleId module) { return db_->scope_of(module); }
const Declaration& Session::declaration(DeclarationId id) { return db_->tree(id); }

bool Session::is_expression(DeclarationId statement) {
  constexpr std::array kBinding{SyntaxKind::Let, SyntaxKind::LetPattern, SyntaxKind::GraphLet,
                                SyntaxKind::FreeVar};
  return std::ranges::find(kBinding, db_->tree(statement).syntax->kind) == kBinding.end();
}

static std::shared_ptr<const TopLevelVariable> find_variable(const StatementVariables& variables,
                                                             std::string_view name) {
  for (const auto& variable : variables)
    if (variable->variable->name == name) return variable;
  return nullptr;
}

const TopLevelVariable* Session::statement_variable(DeclarationId statement, std::string_view name) {
  return quern::find_variable(db_->variables(statement), name).get();
}

std::shared_ptr<const TopLevelVariable> Session::known_variable(DeclarationId statement,
                                                                std::string_view name) {
  const bool is_inferred = !db_->kept.peek(statement).empty() || db_->statement.is_current(statement);
  return is_inferred ? quern::find_variable(db_->variables(statement), name) : nullptr;
}

const Scheme* Session::known_scheme(DeclarationId definition) {
  const NameKey key = db_->key_of(definition);
  const auto group = db_->group.is_current(key) ? db_->group.known(key) : nullptr;
  const bool is_inferred =
      group && !group->empty() && db_->group_inferred.is_current({key.module, group->front()});
  const bool is_known = db_->scheme.is_current(key) || db_->annotated.is_current(key) || is_inferred;
  const std::optional<Scheme>* known = is_known ? &db_->scheme(key) : nullptr;
  return known && *known ? &**known : nullptr;
}

const std::string& Session::path(SourceId source) const { return db_->sources[source].path; }

Range Session::range_of(DeclarationId declaration) const {
  const Piece* piece = db_->piece_of(declaration);
  return piece ? piece->range : Range{};
}

std::string_view Session::text_of(DeclarationId declaration) const {
  const Range range = range_of(declaration);
  return std::string_view(db_->text(info(declaration).source)).substr(range.begin, range.end - range.begin);
}

}  // namespace quern
