#pragma once
// The queries of a session. Internal to session/.

#include <deque>
#include <map>
#include <unordered_map>

#include "frontend/resolve_type.h"
#include "jit/vm/vm.h"
#include "passes/pipeline.h"
#include "session/query.h"
#include "session/session.h"

namespace quern {

/// The names of a module: what each stands for. Equal for texts that declare the same names.
struct ModuleNames {
  std::map<std::string, DeclarationId, std::less<>> globals, operators, types, statics, infix, constructors;
  std::vector<DeclarationId> statements;
  friend bool operator==(const ModuleNames&, const ModuleNames&) = default;
};

/// The declarations of one source, in order, with their ids.
struct SourcePieces {
  ScanOutcome scan;
  std::vector<DeclarationId> ids;  ///< one per piece
};

struct NameKey {
  ModuleId module;
  std::string name;
  friend bool operator==(const NameKey&, const NameKey&) = default;
};
struct NameKeyHash {
  size_t operator()(const NameKey& k) const { return std::hash<std::string>()(k.name) * 31 + k.module; }
};
/// An instance is known by its key; the request says how to make it.
struct InstanceKey {
  ModuleId module;
  InstanceRequest request;
  friend bool operator==(const InstanceKey& a, const InstanceKey& b) {
    return a.module == b.module && a.request.key == b.request.key;
  }
};
struct InstanceKeyHash {
  size_t operator()(const InstanceKey& k) const {
    return std::hash<std::string>()(k.request.key) * 31 + k.module;
  }
};

struct InstanceResult {
  std::shared_ptr<const OpInstance> instance;
  Diagnostics diagnostics;
};

struct Parsed {
  ParseOutcome outcome;
};

/// The group of mutually recursive definitions that a definition is inferred with: its members, by name.
using Group = std::vector<std::string>;

struct Session::Impl {
  explicit Impl(Session& session);

  struct SourceInfo {
    ModuleId module;
    std::string path, folder;
  };

  Session& session;
  QueryEngine engine;
  std::vector<SourceInfo> sources;  ///< by id
  ModuleId modules = 0;
  std::deque<DeclarationInfo> declarations{DeclarationInfo{}};  ///< by id, from 1; references stay good
  std::map<std::tuple<SourceId, PieceKind, std::string, uint32_t>, DeclarationId> declaration_ids;

  Input<SourceId, std::string> text;
  Input<ModuleId, std::vector<SourceId>> module_sources;

  Input<DeclarationId, std::shared_ptr<const TopLevelVariable>> kept;  ///< variables that have a value

  Query<SourceId, SourcePieces> pieces;
  Query<SourceId, bool> slash_names;                 ///< `/` is a name character: TVM's files
  Query<DeclarationId, std::optional<Piece>> piece;  ///< with its place: changes with every edit before it
  Query<DeclarationId, std::string> piece_text;      ///< cut off here when only the place changed
  Query<DeclarationId, Parsed> parsed;
  Query<DeclarationId, Declaration> tree;  ///< cut off here when only blanks changed
  Query<ModuleId, ModuleNames> names;
  Query<NameKey, std::optional<DataHeader>, NameKeyHash> data_header;
  Query<NameKey, std::pair<std::optional<DataDefinition>, Diagnostics>, NameKeyHash> data;
  Query<NameKey, std::optional<Scheme>, NameKeyHash> annotated;
  Query<NameKey, Group, NameKeyHash> group;
  Query<NameKey, std::vector<Inferred>, NameKeyHash> group_inferred;  ///< by the group's first member
  Query<NameKey, std::optional<Scheme>, NameKeyHash> scheme;
  Query<DeclarationId, Inferred> statement;
  Query<DeclarationId, std::shared_ptr<const TopLevelVariable>> variable;
  Query<InstanceKey, InstanceResult, InstanceKeyHash> instance;
  Query<DeclarationId, Diagnostics> operator_check;
  Query<NameKey, Optimised, NameKeyHash> optimised;
  Query<NameKey, std::shared_ptr<const Program>, NameKeyHash> program;

  static constexpr ModuleId kLibrary = 0;

  DeclarationId declaration_id(SourceId source, PieceKind kind, const std::string& name, uint32_t turn);
  ModuleNames compute_names(ModuleId module);
  Group compute_group(const NameKey& key);
  SourcePieces compute_pieces(SourceId source);
  /// The declaration of a name as a module sees it (its own, else the library's), or 0.
  DeclarationId find(ModuleId module, std::map<std::string, DeclarationId, std::less<>> ModuleNames::*table,
                     std::string_view name);
  const Inferred* inferred(ModuleId module, const std::string& global);
  Diagnostics of_declaration(DeclarationId id);
};

/// What a declaration of a module sees, answered by queries.
class ModuleScope final : public Scope {
 public:
  /// `statement`: the statement that looks, for the variables bound before it; 0 for definitions.
  ModuleScope(Session::Impl& impl, ModuleId module, DeclarationId statement = 0)
      : impl_(impl), module_(module), statement_(statement) {}

  bool has_global(std::string_view name) override;
  const Declaration* global(std::string_view name) override;
  const Declaration* op(std::string_view name) override;
  const Declaration* static_function(std::string_view name) override;
  std::string infix(std::string_view symbol) override;
  const DataHeader* data_header(std::string_view type_name) override;
  const DataDefinition* data(std::string_view type_name) override;
  const DataDefinition* data_of_constructor(std::string_view constructor) override;
  const TopLevelVariable* variable(std::string_view name) override;
  bool has_top_level_variable(std::string_view name) override;
  bool in_broken_statement(std::string_view name) override;
  const Scheme* scheme(std::string_view name) override;
  InstanceAnswer instance(const InstanceRequest& request) override;
  Result<Type> file_type(std::string_view path, std::string_view entry) override;
  std::vector<std::string> names(Names kind) override;

 private:
  /// Null for one that did not parse.
  const Declaration* declaration(DeclarationId id) {
    const Declaration* found = id ? &impl_.tree(id) : nullptr;
    return found && !found->syntax->is(SyntaxKind::Error) ? found : nullptr;
  }

  Session::Impl& impl_;
  ModuleId module_;
  DeclarationId statement_;
};

}  // namespace quern
