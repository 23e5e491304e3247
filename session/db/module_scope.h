#pragma once
// The scope of a declaration of a module, answered by queries.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/db/database.h"

namespace quern {

class ModuleScope final : public Scope {
 public:
  /// `statement`: the statement that asks, which sees the variables bound before it; 0 for definitions.
  ModuleScope(Database& db, ModuleId module, DeclarationId statement = 0)
      : db_(db), module_(module), statement_(statement) {}
  /// For a chunk of a definition: it sees variables bound before it, and adds those it uses to `uses`.
  static ModuleScope for_chunk(Database& db, DeclarationId chunk,
                               std::vector<std::shared_ptr<const TopLevelVariable>>& uses) {
    ModuleScope scope(db, db.declarations[chunk].module);
    scope.chunk_ = chunk;
    scope.uses_ = &uses;
    return scope;
  }
  /// For the type of an alias: the alias itself, and those defined in terms of it, have no type there.
  static ModuleScope for_alias(Database& db, DeclarationId alias) {
    ModuleScope scope(db, db.declarations[alias].module);
    scope.alias_ = alias;
    return scope;
  }
  /// For making an instance: operators have their bodies.
  static ModuleScope for_instances(Database& db, ModuleId module) {
    ModuleScope scope(db, module);
    scope.makes_instances_ = true;
    return scope;
  }

  uint32_t module() const override { return module_; }
  Scope& home(const Declaration& declaration) override;
  bool has_global(std::string_view name) override;
  const Declaration* global(std::string_view name) override;
  const Declaration* op(std::string_view name) override;
  Diagnostics schedule_problems(const FnExpr& definition) override;
  const Declaration* static_function(std::string_view name) override;
  std::string infix(std::string_view symbol) override;
  const Declaration* type_declaration(std::string_view name) override;
  const DataHeader* data_header(std::string_view type_name) override;
  const TypeAlias* alias(std::string_view type_name) override;
  const DataDefinition* data(std::string_view type_name) override;
  const DataDefinition* data_of(Type type) override;
  const DataDefinition* data_of_constructor(std::string_view constructor) override;
  const TopLevelVariable* variable(std::string_view name) override;
  std::shared_ptr<const TopLevelVariable> shared_variable(std::string_view name) override;
  bool has_top_level_variable(std::string_view name) override;
  bool in_broken_declaration(std::string_view name) override;
  bool in_broken_import(std::string_view name) override { return db_.is_in_broken_import(module_, name); }
  const Scheme* scheme(std::string_view name) override;
  const Annotations* annotations(std::string_view name) override;
  void specialise(const InstanceRequest& request) override;
  const Inferred* specialised(const InstanceRequest& request) override;
  InstanceAnswer instance(InstanceRequest request) override;
  const Metadata* metadata(uint32_t declaration) override {
    return db_.metadata(db_.declarations[declaration].source).get();
  }
  std::optional<int> tvm(uint32_t declaration) override;
  bool warns_about(uint32_t declaration) override {
    SourceId source = db_.declarations[declaration].source;
    return db_.declarations[declaration].module != Database::kLibrary && !db_.slash_names.get(source);
  }
  Result<Type> file_type(std::string_view path, std::string_view entry) override;
  std::vector<std::string> names(Names kind) override;
  bool cancelled() override { return db_.engine.cancelled(); }

 private:
  /// Only statements see the script's variables.
  bool sees_variables() const {
    return statement_ && db_.declarations[statement_].kind == PieceKind::Statement;
  }
  /// Null for one that did not parse.
  const Declaration* declaration(DeclarationId id) {
    const Declaration* found = id ? &db_.tree(id) : nullptr;
    return found && !found->syntax->is(SyntaxKind::Error) ? found : nullptr;
  }
  const Declaration* head(DeclarationId id) {
    const Declaration* found = id ? &db_.head(id) : nullptr;
    return found && !found->syntax->is(SyntaxKind::Error) ? found : nullptr;
  }

  Database& db_;
  ModuleId module_;
  DeclarationId statement_;
  bool makes_instances_ = false;
  DeclarationId chunk_ = 0;
  DeclarationId alias_ = 0;
  std::vector<std::shared_ptr<const TopLevelVariable>>* uses_ = nullptr;
};

}  // namespace quern
