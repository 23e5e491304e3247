#pragma once
// The queries of a session. Internal to session/.

#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include "frontend/infer/chunks.h"
#include "frontend/signature/resolve_type.h"
#include "frontend/static/metadata.h"
#include "ir/io/data_files.h"
#include "jit/vm/vm.h"
#include "passes/pipeline.h"
#include "session/layout.h"
#include "session/module_names.h"
#include "session/query.h"
#include "session/session.h"

namespace quern {

struct NameKey {
  ModuleId module;
  std::string name;
  friend bool operator==(const NameKey&, const NameKey&) = default;
};
struct NameKeyHash {
  size_t operator()(const NameKey& k) const { return std::hash<std::string>()(k.name) * 31 + k.module; }
};
/// An instance is known by its declaration and its key; the request says how to make it.
struct InstanceKey {
  ModuleId module;
  InstanceRequest request;
  friend bool operator==(const InstanceKey& a, const InstanceKey& b) {
    return a.module == b.module && a.request.declaration == b.request.declaration &&
           a.request.key == b.request.key;
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

/// An `import` of a module.
struct Import {
  DeclarationId declaration;
  std::string alias;               ///< "" without `as`
  ModuleId module = 0;             ///< 0: it cannot be followed
  std::vector<std::string> tried;  ///< the paths where the file was looked for
  std::string problem;             ///< of a file that is there and cannot be read
  std::vector<ModuleId> cycle;     ///< the way back from the module to where the import stands
  bool brings_names() const { return module != 0 && cycle.empty(); }
  /// What a name of the importing module is in the imported one, if it can come from there.
  std::optional<std::string_view> declared_name(std::string_view name) const {
    if (alias.empty()) return name;
    if (!name.starts_with(alias) || name.size() < alias.size() + 2 || name[alias.size()] != '.')
      return std::nullopt;
    return name.substr(alias.size() + 1);
  }
  friend bool operator==(const Import&, const Import&) = default;
};

/// The group of mutually recursive definitions that a definition is inferred with: its members, by name.
using Group = std::vector<std::string>;

class ModuleScope;

/// A name in a definition or in a chunk of one.
struct BodyName {
  DeclarationId declaration;
  std::string name;
  friend bool operator==(const BodyName&, const BodyName&) = default;
};
struct BodyNameHash {
  size_t operator()(const BodyName& k) const { return std::hash<std::string>()(k.name) * 31 + k.declaration; }
};

class RunSource;

/// Long bodies, chunk by chunk (frontend/infer/chunks.h). Chunks are declarations of their own.
struct Session::Bodies {
  Bodies(Impl& impl, QueryEngine& engine);

  Input<DeclarationId, std::vector<DeclarationId>>
      chunks;                                          ///< of a definition, in order; none for a short one
  Input<DeclarationId, DeclarationId> next, previous;  ///< of a chunk, or 0
  std::unordered_map<DeclarationId, std::vector<Range>>
      ranges;  ///< of a definition's chunks, in its own text

  Query<DeclarationId, std::vector<std::string>> names;  ///< that a chunk binds
  Query<DeclarationId, std::map<std::string, std::vector<DeclarationId>>>
      index;  ///< of a definition: name to chunks
  Query<BodyName, std::vector<DeclarationId>, BodyNameHash>
      binders;  ///< chunks of a definition that bind a name
  Query<DeclarationId, std::shared_ptr<const BodyHead>> head;
  Query<DeclarationId, std::shared_ptr<const BodyRun>> run;  ///< that starts with a chunk
  Query<DeclarationId, DeclarationId> run_start;  ///< the first chunk of the run that a chunk is in
  Query<BodyName, std::shared_ptr<const TopLevelVariable>, BodyNameHash> variable;  ///< of a chunk

  /// Nothing where the body has to be inferred as a whole.
  std::optional<Inferred> infer(DeclarationId def);
  /// What a name stands for at the begin of a chunk, or null.
  std::shared_ptr<const TopLevelVariable> find(DeclarationId chunk, const std::string& name);
  /// The names that it can see, for suggestions.
  std::vector<std::string> names_before(DeclarationId chunk);
  void set(DeclarationId def, std::string_view text);
  void drop(DeclarationId chunk);
  /// A range in what is parsed as a declaration (a chunk, or a definition without its chunks), in the piece's
  /// text.
  Range in_whole(DeclarationId id, Range range) const;

 private:
  std::shared_ptr<const BodyRun> compute_run(DeclarationId start);
  std::shared_ptr<const TopLevelVariable> compute_variable(const BodyName& key);

  std::shared_ptr<const TopLevelVariable> known(DeclarationId chunk, const std::string& name) const;

  /// The variables of each chunk as of the last time, so that they stay the same.
  std::unordered_map<DeclarationId, std::map<std::string, std::shared_ptr<const TopLevelVariable>>> known_;
  Session::Impl& impl_;
  friend class RunSource;
};

struct Session::Impl {
  explicit Impl(Session& session);
  ~Impl();

  struct SourceInfo {
    ModuleId module;
    std::string path, folder;
    bool open = true;  ///< its text is given, and the disk's does not count
  };

  class ModuleSpelling;

  Session& session;
  QueryEngine engine;
  std::vector<SourceInfo> sources;                              ///< by id
  std::vector<Layout> layouts;                                  ///< by source
  std::vector<std::vector<SourceId>> modules;                   ///< by id: their sources, in order
  std::deque<DeclarationInfo> declarations{DeclarationInfo{}};  ///< by id, from 1; references stay good
  std::vector<uint32_t> index_of{kGone};  ///< by declaration: which piece of its source it is
  ModuleNames names;

  Input<DeclarationId, std::string> piece_text;
  Input<ModuleId, uint64_t> pieces;  ///< changes where a piece comes or goes, named or not
  Input<ModuleId, std::vector<Import>> imports;
  Input<SourceId, std::string> metadata_text;  ///< what follows `#[metadata]`
  /// Without that section: the tensors of the `.safetensors` beside the file.
  Input<SourceId, std::shared_ptr<const Metadata>> constants_beside;
  Input<SourceId, bool> slash_names;                   ///< `/` is a name character: TVM's files
  Input<SourceId, std::optional<int>> header_version;  ///< the TVM that the header stands for
  Input<DeclarationId, std::shared_ptr<const TopLevelVariable>> kept;  ///< variables that have a value
  Input<std::string, uint64_t> data_file_changes;  ///< how often the file of a path was seen to be another

  Bodies bodies;

  Query<SourceId, std::shared_ptr<const Metadata>> metadata;                           ///< null without one
  Query<std::string, std::shared_ptr<const Result<Entries<TensorHeader>>>> data_file;  ///< by path
  Query<DeclarationId, Parsed> parsed;
  Query<DeclarationId, Declaration> tree;  ///< cut off here when only blanks changed
  Query<DeclarationId, Declaration> head;  ///< without its bodies: cut off here when only a body changed
  Query<DeclarationId, std::vector<std::string>> references;  ///< names of the definitions that one mentions
  Query<DeclarationId, bool> parses;                          ///< without a problem
  Query<ModuleId, std::map<std::string, DeclarationId>> constructors;
  Query<NameKey, DeclarationId, NameKeyHash> constructor;  ///< the type that has it, or 0
  /// Those that did not parse, with their text.
  Query<ModuleId, std::vector<std::pair<DeclarationId, std::string>>> broken_declarations;
  Query<NameKey, std::optional<DataHeader>, NameKeyHash> data_header;
  Query<NameKey, std::pair<std::optional<DataDefinition>, Diagnostics>, NameKeyHash> data;
  Query<NameKey, std::optional<Scheme>, NameKeyHash> annotated;
  /// The definitions of a module without a full annotation, each with those that it is inferred with.
  Query<ModuleId, std::map<std::string, Group>> groups;
  Query<NameKey, Group, NameKeyHash> group;
  Query<NameKey, std::vector<Inferred>, NameKeyHash> group_inferred;  ///< by the group's first member
  Query<InstanceKey, std::vector<Inferred>, InstanceKeyHash> specialised;
  Query<NameKey, std::optional<Scheme>, NameKeyHash> scheme;
  Query<DeclarationId, Inferred> statement;
  Query<DeclarationId, std::shared_ptr<const TopLevelVariable>> variable;
  Query<InstanceKey, InstanceResult, InstanceKeyHash> instance;
  /// What stands for an instance of an operator that may be edited, in the nodes of those who call it.
  Query<InstanceKey, std::shared_ptr<const OpInstance>, InstanceKeyHash> late_instance;
  std::vector<InstanceKey> late_keys{{}};  ///< by OpInstance::late
  Query<DeclarationId, Diagnostics> operator_check;
  Query<DeclarationId, Diagnostics> form;  ///< what is wrong in the text of a declaration or chunk by itself
  Query<DeclarationId, Diagnostics> declaration_diagnostics;
  Query<NameKey, Optimised, NameKeyHash> optimised;
  Query<NameKey, std::shared_ptr<const Program>, NameKeyHash> program;

  static constexpr ModuleId kLibrary = 0;       ///< its text never changes
  std::optional<DotIntrinsics> dot_intrinsics;  ///< of the library, where somebody asked
  static constexpr uint32_t kGone = UINT32_MAX;

  /// What a check that fails reports of a declaration.
  Subject subject_of(DeclarationId id) const;
  Subject subject_of(const NameKey& key) const;
  /// Whether a word stands in the text: a walk over a long body is for those alone that say what it looks
  /// for.
  bool says(DeclarationId id, std::string_view word);
  /// Of the schedules in an expression without errors (schedules.cpp): what there is no code for.
  Diagnostics of_schedules(ExprPtr expr);
  /// Of the gradients in a definition or statement that has no errors (gradients.cpp).
  Diagnostics of_gradients(const Inferred& inferred);

  /// Drops what may be made again, where there is much of it.
  void bound_caches();
  // layout of sources (sources.cpp)
  void set_text(SourceId source, std::shared_ptr<const std::string> text, TextEdit edit);
  void take_pieces(SourceId source, const Rescan& same, std::string_view old_text,
                   const std::vector<DeclarationId>& old_ids);
  void set_piece(DeclarationId id, std::string_view text);
  DeclarationId make_declaration(DeclarationInfo info);
  void drop_declaration(DeclarationId id);
  /// Null for a declaration that is no longer in the text.
  const Piece* piece_of(DeclarationId id) const;
  /// The first declaration of this kind and name in its source (itself for what has no name of its own).
  DeclarationId first_of_name(DeclarationId id) const;
  /// Whether `a` stands before `b` in their module.
  bool is_before(DeclarationId a, DeclarationId b) const;

  std::map<std::string, Group> compute_groups(ModuleId module);
  /// The declaration of a name as a module sees it (its own, else the library's), or 0.
  DeclarationId find(ModuleId module, NameTable table, std::string_view name);
  DeclarationId find_constructor(ModuleId module, std::string_view name);
  /// The declarations of a kind in a module, in order.
  std::vector<DeclarationId> all_of(ModuleId module, PieceKind kind) const;
  std::vector<Inferred> infer_members(ModuleId module, const Group& group);
  std::vector<DeclarationId> all_of_source(SourceId source, PieceKind kind) const;
  const Inferred* inferred(ModuleId module, const std::string& global);
  Diagnostics of_declaration(DeclarationId id);
  /// What `check` reports of a piece of a source.
  Diagnostics diagnostics_at(SourceId source, size_t piece);
  Diagnostics diagnostics_of(ModuleId module, const Inferred& inferred);
  /// Whether a declaration parses, its chunks too: what is wrong in the remains of one that does not is not
  /// reported.
  bool parses_whole(DeclarationId id);
  bool late_calls_are_sound(const Inferred& inferred);
  /// The constructors of a type that another type of the module has, too.
  Diagnostics duplicate_constructors(DeclarationId type);
  /// A name as the module that declares it has it.
  NameKey key_of(DeclarationId id);
  ModuleScope& scope_of(ModuleId module);
  /// The declaration of a data type that a value in a module has; the present one of its name where it was
  /// redefined since.
  const DataDefinition* data_of(ModuleId module, Type type);

  // imports.cpp
  /// The declaration that an import brings under a name, or 0; `look` finds what a module declares itself.
  template <class F>
  DeclarationId find_imported(ModuleId module, std::string_view name, const F& look) {
    if (module == kLibrary) return 0;
    // A later source of the module replaces what an earlier one imports under the same name.
    const std::vector<Import>& all = imports.get(module);
    for (auto import = all.rbegin(); import != all.rend(); ++import)
      if (auto declared = import->declared_name(name); declared && import->brings_names())
        if (DeclarationId id = look(import->module, *declared)) return id;
    return 0;
  }
  bool is_in_broken_import(ModuleId module, std::string_view name);
  Diagnostics import_diagnostics(DeclarationId id);
  Diagnostics import_clashes(const Import& import, const std::vector<Import>& all);
  Diagnostics mistakes_of(const Import& import);
  Import resolve_import(DeclarationId id);
  /// After a text was set: reads what its imports name and was not read before, and what those import.
  void follow_imports(SourceId source);
  void set_metadata(SourceId source);
  void update_imports();

  struct FileState {
    std::string shown;    ///< its path as first asked for
    ModuleId module = 0;  ///< 0: it is not there, or cannot be read
    std::string problem;
  };
  std::map<std::string, FileState> files;  ///< that were looked at, by absolute path
  std::set<ModuleId> importing;            ///< modules with imports
  /// What tells one content of a data file from the next; of a file that is not there, nothing.
  using FileStamp = std::optional<std::pair<std::filesystem::file_time_type, uintmax_t>>;
  static FileStamp stamp_of(const std::string& path);
  std::map<std::string, FileStamp> data_files;  ///< that `load` names, as they were read last
  std::map<ModuleId, std::unique_ptr<ModuleScope>> scopes;
  Declaration with_chunks(DeclarationId id, std::deque<Declaration>& chunks);
  std::vector<Inferred> infer_specialised(const InstanceKey& key);
  Diagnostics with_copies(ModuleId module, const Inferred& inferred, DeclarationId id);
  Diagnostics of_copies(const std::vector<Specialisation>& needs);
  bool is_signature(const NameKey& key);
  /// Null for a use that is no copy.
  const InstanceRequest* request_of(const GlobalExpr& use) const;
  const Inferred* specialised_definition(ModuleId module, const std::string& name);

  /// What the names of copies of definitions stand for, by the declaration that the last use went by.
  std::unordered_map<NameKey, InstanceRequest, NameKeyHash> specialisations;
};

/// What a declaration of a module sees, answered by queries.
class ModuleScope final : public Scope {
 public:
  /// `statement`: the statement that looks, for the variables bound before it; 0 for definitions.
  ModuleScope(Session::Impl& impl, ModuleId module, DeclarationId statement = 0)
      : impl_(impl), module_(module), statement_(statement) {}
  /// For a chunk of a definition: variables bound before it, which are added to `uses`.
  static ModuleScope for_chunk(Session::Impl& impl, DeclarationId chunk,
                               std::vector<std::shared_ptr<const TopLevelVariable>>& uses) {
    ModuleScope scope(impl, impl.declarations[chunk].module);
    scope.chunk_ = chunk;
    scope.uses_ = &uses;
    return scope;
  }
  /// For the making of an instance: operators with their bodies.
  static ModuleScope for_instances(Session::Impl& impl, ModuleId module) {
    ModuleScope scope(impl, module);
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
  const DataHeader* data_header(std::string_view type_name) override;
  const DataDefinition* data(std::string_view type_name) override;
  const DataDefinition* data_of(Type type) override;
  const DataDefinition* data_of_constructor(std::string_view constructor) override;
  const TopLevelVariable* variable(std::string_view name) override;
  std::shared_ptr<const TopLevelVariable> shared_variable(std::string_view name) override;
  bool has_top_level_variable(std::string_view name) override;
  bool in_broken_declaration(std::string_view name) override;
  bool in_broken_import(std::string_view name) override { return impl_.is_in_broken_import(module_, name); }
  const Scheme* scheme(std::string_view name) override;
  bool is_annotated(std::string_view name) override;
  void specialise(const InstanceRequest& request) override;
  const Inferred* specialised(const InstanceRequest& request) override;
  InstanceAnswer instance(const InstanceRequest& request) override;
  const Metadata* metadata(uint32_t declaration) override {
    return impl_.metadata(impl_.declarations[declaration].source).get();
  }
  std::optional<int> tvm(uint32_t declaration) override;
  bool warns_about(uint32_t declaration) override {
    SourceId source = impl_.declarations[declaration].source;
    return impl_.declarations[declaration].module != Session::Impl::kLibrary &&
           !impl_.slash_names.get(source);
  }
  Result<Type> file_type(std::string_view path, std::string_view entry) override;
  std::vector<std::string> names(Names kind) override;
  bool cancelled() override { return impl_.engine.cancelled(); }

 private:
  /// Only a statement of the script sees its variables.
  bool sees_variables() const {
    return statement_ && impl_.declarations[statement_].kind == PieceKind::Statement;
  }
  /// Null for one that did not parse.
  const Declaration* declaration(DeclarationId id) {
    const Declaration* found = id ? &impl_.tree(id) : nullptr;
    return found && !found->syntax->is(SyntaxKind::Error) ? found : nullptr;
  }
  const Declaration* head(DeclarationId id) {
    const Declaration* found = id ? &impl_.head(id) : nullptr;
    return found && !found->syntax->is(SyntaxKind::Error) ? found : nullptr;
  }

  Session::Impl& impl_;
  ModuleId module_;
  DeclarationId statement_;
  bool makes_instances_ = false;
  DeclarationId chunk_ = 0;
  std::vector<std::shared_ptr<const TopLevelVariable>>* uses_ = nullptr;
};

}  // namespace quern
