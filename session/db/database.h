#pragma once
// The database of a session's texts: its inputs, and the queries that derive everything else.
//
// Each query is declared here once, with its function. Its key space (session/query/table.h) determines when
// it is dropped with a declaration, its bound and how a failure in it is reported; the MemoryRow before it, which
// row of the memory report counts it. A query reads only inputs and queries, and writes only its value, except that
// it may intern what a name determines. One thread sets inputs and asks queries; any thread may read a value it has
// obtained.

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/image/text_image.h"
#include "frontend/infer/infer.h"
#include "frontend/names/occurrences.h"
#include "frontend/signature/declared_types.h"
#include "frontend/static/metadata.h"
#include "frontend/syntax/syntax.h"
#include "ir/base/series.h"
#include "ir/expr/dot_intrinsic.h"
#include "passes/pipeline.h"
#include "session/db/bodies.h"
#include "session/db/data_files.h"
#include "session/db/declaration_table.h"
#include "session/db/layout.h"
#include "session/db/module_names.h"
#include "session/db/values.h"
#include "session/query/query.h"
#include "session/texts/read_ahead.h"
#include "session/texts/text_diagnostics.h"

namespace quern {

class Database;
class ModuleScope;
class Program;

/// The typed definitions of a database's modules.
class DatabaseFunctions final : public FunctionSource {
 public:
  explicit DatabaseFunctions(Database& db) : db_(db) {}
  const Definition* function(uint32_t module, std::string_view name) override;
  const Definition* bound(const Variable* variable) override;
  std::vector<TypedConstructor> constructors(Origin user, Type data) override;
  std::shared_ptr<const OpInstance> instance(const OpInstance& called) override;
  std::vector<std::string> devices() override;

 private:
  Database& db_;
};

class Database final : public Tables {
 public:
  static constexpr ModuleId kLibrary = 0;  ///< its text never changes
  static constexpr uint32_t kGone = UINT32_MAX;

  Database();
  ~Database();

  struct SourceInfo {
    ModuleId module;
    std::string path, folder;
    bool open = true;                     ///< its text is given and overrides the disk's
    std::optional<TextImage> image = {};  ///< of a library text
  };
  std::vector<SourceInfo> sources;               ///< by id
  std::vector<std::shared_ptr<Layout>> layouts;  ///< by source
  std::vector<std::vector<SourceId>> modules;    ///< by id: their sources, in order
  DeclarationTable declarations;
  std::vector<uint32_t> index_of{kGone};  ///< by declaration: the piece of its source
  Series request_variables;               ///< of requests of an editor
  const MemoryRow of_names{*this, "declared names"};
  ModuleNames names{*this, kLibrary};

  // --- inputs
  const MemoryRow of_inputs{*this, "texts of declarations"};
  /// Of any module but the library; `text_of_declaration` has all.
  Input<ByDeclaration, std::string> piece_text{*this, "texts of declarations"};
  /// Changes whenever a piece is added or removed, named or not.
  Input<ByModule, uint64_t> pieces{*this, "pieces"};
  Input<ByModule, std::vector<Import>> imports{*this, "imports"};
  /// The text after `#[metadata]`.
  Input<BySource, std::string> metadata_text{*this, "metadata texts"};
  /// For a text without that section: the file beside it that holds its constants; "" for none.
  Input<BySource, std::string> constants_path{*this, "paths of constants"};
  /// `/` is a name character: TVM's files.
  Input<BySource, bool> slash_names{*this, "slash names"};
  /// The TVM version implied by the header.
  Input<BySource, std::optional<int>> header_version{*this, "headers"};
  /// Variables with a value, by the statement that binds them.
  Input<ByDeclaration, StatementVariables> kept{*this, "kept variables"};
  /// The passes that all modules do without, under the library's.
  Input<ByModule, std::vector<std::string>> left_out{*this, "passes left out"};
  /// The devices besides the host, likewise.
  Input<ByModule, std::vector<std::string>> devices{*this, "devices"};
  const MemoryRow of_data_files{*this, "headers and constants of data files"};
  Input<ByPath, DataFile> data_file{*this, "data files", read_data_file};
  Input<ByPath, StoredConstants> stored_constants{*this, "constants", read_constants};

  const MemoryRow of_bodies{*this, "long definitions, in parts"};
  Bodies bodies{*this};

  // --- queries: texts
  const MemoryRow of_metadata{*this, "constants of #[metadata]"};
  /// Null if there is none.
  Query<BySource, std::shared_ptr<const Metadata>> metadata{*this, "metadata", &Database::parse_metadata};
  const MemoryRow of_texts{*this, "syntax trees"};
  Query<ByDeclaration, ParseOutcome> parsed{*this, "parse", &Database::parse};
  /// Where many pieces of a source are not parsed yet, begins to read them on another thread. It ends with the check,
  /// or when a text is set.
  void begin_read_ahead(SourceId source, const std::vector<size_t>& pieces);
  std::unique_ptr<ReadAhead> read_ahead;
  /// Early cut-off if only white space changed.
  Query<ByDeclaration, Declaration> tree{*this, "tree", &Database::make_tree, std::equal_to<>()};
  /// Without its bodies: early cut-off if only a body changed.
  Query<ByDeclaration, Declaration> head{*this, "head", &Database::make_head, std::equal_to<>()};
  /// Names of the definitions that a declaration mentions.
  Query<ByDeclaration, std::vector<std::string>> references{*this, "references", &Database::find_references,
                                                            std::equal_to<>()};
  /// Whether it parses without a problem.
  Query<ByDeclaration, bool> parses{*this, "parses", &Database::has_no_problems, std::equal_to<>()};
  /// Declarations that did not parse, with their text.
  Query<ByModule, std::vector<std::pair<DeclarationId, std::string>>> broken_declarations{
      *this, "broken_declarations", &Database::find_broken, std::equal_to<>()};

  // --- queries: types
  const MemoryRow of_types{*this, "data types"};
  Query<ByModule, std::map<std::string, DeclarationId>> constructors{
      *this, "constructors", &Database::find_constructors, std::equal_to<>()};
  /// The type that has it, or 0.
  Query<ByConstructor, DeclarationId> constructor{*this, "constructor", &Database::owner_of_constructor,
                                                  std::equal_to<>()};
  Query<ByType, std::optional<DataHeader>> data_header{*this, "data_header", &Database::header_of_data};
  /// The alias that a type declares, and its diagnostics.
  Query<ByType, std::pair<std::optional<TypeAlias>, Diagnostics>> alias{*this, "alias",
                                                                        &Database::define_alias};
  /// Whether a type is `to`, or an alias defined in terms of it.
  bool alias_reaches(DeclarationId from, DeclarationId to);
  Query<ByType, std::pair<std::optional<DataDefinition>, Diagnostics>> data{*this, "data",
                                                                            &Database::define_data};

  // --- queries: definitions and statements
  const MemoryRow of_definitions{*this, "typed definitions and statements"};
  /// Callers do not distinguish schemes that differ only in their fresh variables.
  Query<ByDefinition, std::optional<Annotations>> annotated{*this, "annotated", &Database::annotations_of,
                                                            same_but_for_variables};
  /// The incompletely annotated definitions of a module, each with the group that it is inferred with.
  Query<ByModule, std::map<std::string, Group>> groups{*this, "groups", &Database::compute_groups,
                                                       std::equal_to<>()};
  /// Whether callers depend only on a definition's text.
  Query<ByDefinition, bool> has_signature{*this, "has_signature", &Database::is_signature, std::equal_to<>()};
  /// That of an incompletely annotated definition.
  Query<ByDefinition, Group> group{*this, "group", &Database::group_of, std::equal_to<>()};
  /// By the group's first member.
  Query<ByDefinition, std::vector<Inferred>> group_inferred{*this, "infer", &Database::infer_members};
  /// Callers report where a definition needs what their types do not have.
  Query<ByDefinition, std::optional<Scheme>> scheme{*this, "scheme", &Database::scheme_of, same_with_places};
  Query<ByDeclaration, Inferred> statement{*this, "infer_statement", &Database::infer_one_statement};
  Query<ByDeclaration, StatementVariables> variables{*this, "variable", &Database::variables_of_statement,
                                                     are_same_variables};
  Query<ByInstance, std::vector<Inferred>> specialised{*this, "specialise", &Database::infer_specialised};
  /// How to make a copy. Its declaration is looked up again: by its number it may be one from before an edit.
  InternTable<ByCopy, InstanceRequest> copies{*this, "names of copies"};

  // --- queries: operators
  const MemoryRow of_operators{*this, "operators at ranks and dtypes"};
  Query<ByInstance, InstanceResult> instance{*this, "instance", &Database::define_instance};
  /// Represents an instance of an editable operator in its callers' nodes.
  Query<ByInstance, std::shared_ptr<const LateInstance>> late_instance{*this, "late_instance",
                                                                       &Database::make_late_instance};
  Query<ByModule, DotIntrinsics> dot_intrinsics{*this, "dot_intrinsics", &Database::find_dot_intrinsics};

  // --- queries: names
  const MemoryRow of_uses{*this, "uses of names"};
  /// The variables of a statement's pattern with their nodes.
  Query<ByDeclaration, std::vector<std::pair<uint32_t, std::string>>> binders{
      *this, "binders", &Database::find_binders, std::equal_to<>()};
  /// What each name in a declaration or a chunk refers to.
  Query<ByDeclaration, Occurrences> occurrences{*this, "occurrences", &Database::find_occurrences,
                                                std::equal_to<>()};

  // --- queries: diagnostics
  const MemoryRow of_diagnostics{*this, "errors and warnings"};
  Query<ByDeclaration, Diagnostics> operator_check{*this, "operator_check", &Database::check_one_operator};
  /// Diagnostics of the text of a declaration or chunk by itself.
  Query<ByDeclaration, TextDiagnostics> text_diagnostics{*this, "text_diagnostics", &Database::diagnose_text,
                                                         std::equal_to<>()};
  Query<ByDeclaration, Diagnostics> declaration_diagnostics{*this, "diagnostics", &Database::of_declaration};

  // --- queries: programs
  const MemoryRow of_programs{*this, "compiled programs, without kernels"};
  Query<ByDefinition, Optimised> optimised{*this, "optimise", &Database::optimise_definition};
  Query<ByDefinition, std::shared_ptr<const Program>> program{*this, "program",
                                                              &Database::compile_definition};

  // --- sources (sources.cpp)
  ModuleId make_module();
  /// `image` is the text's, or empty.
  SourceId add_source(ModuleId module, std::string path, std::string text, std::string folder,
                      std::string_view image);
  void set_text(SourceId source, std::string text);
  void set_text(SourceId source, std::shared_ptr<const std::string> text, TextEdit edit);
  const std::string& text(SourceId source) const { return *layouts[source]->text; }
  /// Null for a declaration that is no longer in the text.
  const Piece* piece_of(DeclarationId id) const;
  /// The text of a declaration, without its chunks. The library's is not copied: it is in its source's, which
  /// never changes.
  std::string_view text_of_declaration(DeclarationId id);
  /// Whether `a` precedes `b` in their module.
  bool is_before(DeclarationId a, DeclarationId b) const;
  /// The declarations of a kind in a module, or in a source, in order.
  std::vector<DeclarationId> all_of(ModuleId module, PieceKind kind) const;
  std::vector<DeclarationId> all_of_source(SourceId source, PieceKind kind) const;
  DeclarationId make_declaration(DeclarationInfo info);
  void drop_declaration(DeclarationId id);

  // --- files (files.cpp)
  struct FileState {
    std::string shown;    ///< its path as first requested
    ModuleId module = 0;  ///< 0: missing or unreadable
    std::string problem;
  };
  std::map<std::string, FileState> files;  ///< files seen so far, by absolute path
  SourceId open_file(std::string path, std::string text);
  /// The file at a path, read on first use.
  const FileState& look_at_file(const std::string& path);
  void reread_files();
  void reread_data_files();
  std::vector<std::string> outdated_files() const;

  // --- names
  /// The declaration of a name as a module sees it (its own, otherwise the library's), or 0.
  DeclarationId find(ModuleId module, NameTable table, std::string_view name);
  DeclarationId find_constructor(ModuleId module, std::string_view name);
  /// A declaration's name in the module that declares it.
  NameKey key_of(DeclarationId id) const;
  ModuleScope& scope_of(ModuleId module);
  bool is_in_broken_import(ModuleId module, std::string_view name);
  bool in_library(DeclarationId id) const { return declarations[id].module == kLibrary; }

  /// The statement that binds a name as seen at another statement, or 0.
  DeclarationId variable_before(DeclarationId statement, std::string_view name);

  // --- what is known
  DatabaseFunctions functions{*this};
  const Inferred* inferred(ModuleId module, const std::string& global);
  /// The same, of a name in the module that declares it.
  const Inferred* inferred(const NameKey& key);
  /// The types of the nodes of a declaration or a chunk, by node id; some may be null.
  const std::vector<Type>& types_of(DeclarationId id);
  /// The definition of a name, or of a copy; null if it has errors or does not exist.
  const Definition* definition(ModuleId module, std::string_view name);
  /// The definition of a statement's function literal.
  const Definition* bound_function(const Variable* variable);
  std::shared_ptr<const OpInstance> linked(const OpInstance& called);
  /// The declaration of a value's data type in a module; if the type was redefined since, the present one of
  /// that name.
  const DataDefinition* data_of(ModuleId module, Type type);
  /// Registers the name of a copy of a definition.
  void name_copy(const InstanceRequest& request);
  /// Nothing if the name is not a copy's.
  std::optional<InstanceRequest> request_of(ModuleId module, std::string_view name);
  const Inferred* specialised_definition(ModuleId module, const std::string& name);
  /// The pieces of a source that may have diagnostics, in order: those that had some at the last check, and what may
  /// have changed since. So a check costs what changed, not what the text has.
  std::vector<size_t> pieces_to_check(SourceId source);
  /// What `check` reports of a piece of a source.
  Diagnostics diagnostics_at(SourceId source, size_t piece);
  /// Checks that there is code for the schedules in an expression without errors (diagnostics/schedules.cpp).
  Diagnostics of_schedules(ExprPtr expr);

 private:
  // texts
  std::shared_ptr<const Metadata> parse_metadata(SourceId source);
  ParseOutcome parse(DeclarationId id);
  Declaration make_tree(DeclarationId id);
  Declaration make_head(DeclarationId id);
  /// A part of its tree as its syntax, or an error where it is not the syntax of its kind.
  Declaration declaration_of(DeclarationId id, SyntaxPtr part);
  TextKind kind_of_text(DeclarationId id) const;
  TextDiagnostics diagnose_text(DeclarationId id);
  std::vector<std::string> find_references(DeclarationId id);
  bool has_no_problems(DeclarationId id);
  std::vector<std::pair<DeclarationId, std::string>> find_broken(ModuleId module);
  // types
  std::map<std::string, DeclarationId> find_constructors(ModuleId module);
  DeclarationId owner_of_constructor(const NameKey& key);
  std::optional<DataHeader> header_of_data(const NameKey& key);
  std::pair<std::optional<TypeAlias>, Diagnostics> define_alias(const NameKey& key);
  std::pair<std::optional<DataDefinition>, Diagnostics> define_data(const NameKey& key);
  // definitions and statements
  static bool same_but_for_variables(const std::optional<Annotations>& a,
                                     const std::optional<Annotations>& b);
  static bool same_with_places(const std::optional<Scheme>& a, const std::optional<Scheme>& b);
  static bool are_same_variables(const StatementVariables& a, const StatementVariables& b);
  std::optional<Annotations> annotations_of(const NameKey& key);
  std::map<std::string, Group> compute_groups(ModuleId module);
  Group group_of(const NameKey& key);
  /// The group that a definition is inferred with: an annotated one is alone.
  Group inferred_together(const NameKey& key);
  std::vector<Inferred> infer_members(const NameKey& key);
  std::optional<Scheme> scheme_of(const NameKey& key);
  Inferred infer_one_statement(DeclarationId id);
  StatementVariables variables_of_statement(DeclarationId id);
  std::vector<Inferred> infer_specialised(const InstanceKey& key);
  Declaration with_chunks(DeclarationId id, std::deque<Declaration>& chunks);
  bool is_signature(const NameKey& key);
  // operators
  InstanceResult define_instance(const InstanceKey& key);
  std::shared_ptr<const LateInstance> make_late_instance(const InstanceKey& key);
  DotIntrinsics find_dot_intrinsics(ModuleId module);
  bool late_calls_are_sound(const Inferred& inferred);
  // names
  std::vector<std::pair<uint32_t, std::string>> find_binders(DeclarationId id);
  Occurrences find_occurrences(DeclarationId id);
  // diagnostics
  Diagnostics check_one_operator(DeclarationId id);
  Diagnostics of_declaration(DeclarationId id);
  Diagnostics diagnostics_of(ModuleId module, const Inferred& inferred);
  Diagnostics with_copies(ModuleId module, const Inferred& inferred, DeclarationId id);
  Diagnostics of_copies(const std::vector<Specialisation>& needs);
  /// Diagnostics of the gradients in a definition or statement without errors (diagnostics/gradients.cpp).
  Diagnostics of_gradients(const Inferred& inferred);
  /// Whether a declaration parses, including its chunks: problems in the rest of one that does not parse are
  /// not reported.
  bool parses_whole(DeclarationId id);
  /// Whether a word occurs in the text, to skip walks over long bodies that do not mention what they look
  /// for.
  bool mentions(DeclarationId id, std::string_view word);
  /// The constructors of a type that another type of the module also declares.
  Diagnostics duplicate_constructors(DeclarationId type);
  /// The next check of its source looks at a declaration.
  void make_due(DeclarationId id);
  Diagnostics import_diagnostics(DeclarationId id);
  Diagnostics import_clashes(const Import& import, const std::vector<Import>& all);
  Diagnostics mistakes_of(const Import& import);
  // programs
  Optimised optimise_definition(const NameKey& key);
  std::shared_ptr<const Program> compile_definition(const NameKey& key);

  void set_lasting_names();
  /// How a failed check reports a declaration.
  Subject subject_of(DeclarationId id) const;
  Subject subject_of(const NameKey& key, NameTable table) const;
  // layout of sources
  Layout& layout_to_change(SourceId source);
  void take_pieces(SourceId source, const Rescan& same, std::string_view old_text, TextEdit edit,
                   const std::vector<DeclarationId>& old_ids);
  /// `edit`: what made this text of the one before; nothing for another text.
  void set_piece(DeclarationId id, std::string_view text, std::optional<TextEdit> edit);
  /// `edit`: what made the source's text of the one before.
  void set_metadata(SourceId source, TextEdit edit);
  /// The first declaration of this kind and name in its source (itself if it has no name).
  DeclarationId first_of_name(DeclarationId id) const;
  // imports
  /// The declaration that an import provides under a name, or 0; `look` finds a module's own declarations.
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
  Import resolve_import(DeclarationId id);
  /// After a text was set: reads the files that it imports, transitively, unless already read.
  void follow_imports(SourceId source);
  void update_imports();

  /// What the last check of a source has seen.
  struct LastCheck {
    std::set<DeclarationId> due;       ///< what it has not seen, or not as it is now
    std::set<DeclarationId> reported;  ///< what had diagnostics when it was seen
  };
  std::map<SourceId, LastCheck> last_checks_;  ///< of the sources that were ever checked
  std::set<ModuleId> importing_;               ///< modules with imports
  std::map<ModuleId, std::unique_ptr<ModuleScope>> scopes_;
};

}  // namespace quern
