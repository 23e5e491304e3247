#pragma once
// The incremental compilation session that the REPL, the script runner and the language server share.
//
//     text -> pieces -> parse(declaration) -> names(module) -> infer(group) -> optimise -> kernels -> code
//
// A module is an ordered list of sources: one file, or the cells of a REPL. Statements of a module form one
// sequence; its definitions see each other in any order, later cells replacing earlier definitions of a name.
// The library is a module that all others see.

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "frontend/format/format.h"
#include "frontend/infer/infer.h"
#include "frontend/names/occurrences.h"
#include "frontend/parse/scanner.h"
#include "frontend/print/printer.h"
#include "frontend/static/scope.h"
#include "frontend/text/diagnostics.h"
#include "ir/base/internal_failure.h"
#include "ir/expr/dot_intrinsic.h"
#include "session/db/ids.h"
#include "session/query/memory.h"
#include "session/snapshot.h"

namespace quern {

/// The syntax enclosing a position in a source.
struct SyntaxPath {
  DeclarationId whole;           ///< the declaration that contains the position
  Range range;                   ///< of it
  DeclarationId declaration;     ///< owner of the nodes: the same, or a chunk of its body
  std::vector<SyntaxPtr> nodes;  ///< from the root to the innermost
};

/// A source in its canonical layout.
struct FormatResult {
  std::string text;
  std::vector<FormatEdit> edits;               ///< from the source to the text
  std::vector<LocatedDiagnostic> diagnostics;  ///< why declarations are left unformatted
};

/// A source's declarations with their types, as text that parses to the same.
struct TypedText {
  std::string text;
  ConstantPool constants;  ///< the values of `meta[relay.Constant][k]`
};
/// All diagnostics of a source, with the texts they refer to: independent of later edits.
struct Checked {
  std::vector<LocatedDiagnostic> diagnostics;
  std::vector<std::shared_ptr<const std::string>> texts;
};
/// Instead of a value: the work was cancelled.
struct Cancelled {};

class Database;
class Program;
class Series;
struct Optimised;

class Session {
 public:
  struct LibraryFile {
    std::string name, text;
    std::string_view image = {};  ///< of the text (frontend/image/text_image.h), or empty
  };
  /// The texts embedded in this binary.
  static std::vector<LibraryFile> builtin_library();
  explicit Session(std::vector<LibraryFile> library = builtin_library());
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // --- inputs
  ModuleId make_module();
  /// Adds a source at the end of a module. Diagnostics refer to it by `path`; its data files are in `folder`.
  SourceId add_source(ModuleId module, std::string path, std::string text, std::string folder = "");
  void set_text(SourceId source, std::string text);
  /// Opens a file as a module of its own, which imports find by its path. The given text overrides the disk's
  /// until it is closed.
  SourceId open_file(std::string path, std::string text);
  /// From now on the file's text on disk is used.
  void close_file(SourceId source);
  /// Rereads imported files, except open ones, and files named by `load`.
  void reread_files();
  /// Rereads files named by `load`, whose headers determine types.
  void reread_data_files();
  /// The files whose headers determine types, whether they exist or not.
  std::vector<std::string> data_files() const;
  /// The imported files, except open ones, whose text on disk has changed.
  std::vector<std::string> outdated_files();
  ModuleId module_of(SourceId source) const;
  /// The present sources, in order of creation, without the library's and without files that were deleted
  /// from disk.
  std::vector<SourceId> sources() const;
  /// The library's sources.
  const std::vector<SourceId>& library() const;
  /// Whether the source is one of the library's.
  bool is_library(SourceId source) const;
  /// Whether it is one of those, or a module of the library that was imported (`quern:models/bert.relay`).
  bool is_read_only(SourceId source) const;
  /// Whether variable names may contain `/` in a source, because it has TVM's header.
  bool has_slash_names(SourceId source) const;
  /// The source of a file, read on first use. Nothing if it is missing or unreadable.
  std::optional<SourceId> find_file(const std::string& path);
  /// The paths of the library's modules, `quern:models/bert.relay`.
  static std::vector<std::string> library_modules();
  /// The text of one of them; nothing for any other path.
  static std::optional<std::string_view> library_module(std::string_view path);
  /// The source that an `import` names; nothing if it cannot be resolved.
  std::optional<SourceId> imported_by(DeclarationId import) const;
  /// A session with the same sources under the same ids, some with other texts; it does not read them from
  /// disk.
  std::unique_ptr<Session> with_texts(const std::map<SourceId, std::string>& texts) const;
  /// Replaces a range of the source's text by `text`.
  void edit(SourceId source, Range range, std::string_view text);
  void remove_last_source(ModuleId module);
  const std::string& text(SourceId source);
  /// The latest source with this path.
  std::optional<SourceId> find_source(std::string_view path) const;
  const std::string& folder(SourceId source) const;

  /// Programs do without these passes of the pipeline (Pass::only_speeds).
  void leave_out(std::vector<std::string> passes);
  const std::vector<std::string>& left_out();
  /// The names of the devices besides the host that programs are placed on.
  void set_devices(std::vector<std::string> names);

  // --- what is in a module
  /// The declarations of the statements of a source, in order.
  std::vector<DeclarationId> statements(SourceId source);
  std::vector<DeclarationId> statements_of_module(ModuleId module);
  /// All declarations of a source, in order.
  const std::vector<DeclarationId>& declarations(SourceId source) const;
  /// The `test`s of a source, in order.
  std::vector<DeclarationId> tests(SourceId source);
  /// Whether the declaration belongs to the built-in library.
  bool in_library(DeclarationId declaration) const;
  const DeclarationInfo& info(DeclarationId declaration) const;
  /// Whether a statement is a bare expression that binds nothing.
  bool is_expression(DeclarationId statement);
  /// The intrinsics that library ops with a clause `lowering` declare, for any machine; built on first use.
  const DotIntrinsics& dot_intrinsics();
  /// The source range of a declaration's node.
  Range range_of(const Place& place);

  // --- queries
  /// From now on queries are cancelled soon after `stop` becomes true; their values are then meaningless, and
  /// nothing incomplete is kept. Must be called again before the next work.
  void watch(const std::atomic<bool>* stop);
  /// All diagnostics of a source, each once, in source order. Warnings do not prevent running; `has_errors`
  /// distinguishes them.
  std::vector<LocatedDiagnostic> check(SourceId source);
  /// The same with those of the files that it imports, directly or not.
  std::vector<LocatedDiagnostic> check_with_imports(SourceId source);
  /// The sources that a source imports, directly or not.
  std::vector<SourceId> imported(SourceId source);
  /// The declarations in order: functions and statements typed, the others as written, in the canonical
  /// layout. The source must have no errors.
  TypedText typed_text(SourceId source);
  /// The same; adds the expressions that begin on each line to `origins`, and the declarations themselves, as
  /// node 0, where they are as written.
  TypedText typed_text(SourceId source, LineOrigins& origins);
  /// A definition at any stage of compilation, as a module would write it.
  TypedText typed_text(const Definition& definition, ModuleId module);
  /// The source's layout, or that of the declarations that touch some lines; a failure is a bug.
  Result<FormatResult> format(SourceId source, std::optional<LineRange> lines = std::nullopt);
  /// As above, or Cancelled soon after `stop` becomes true (another thread may set it). Completed work is
  /// kept, so checking again continues where this ended.
  std::variant<Checked, Cancelled> check(SourceId source, const std::atomic<bool>* stop);
  /// The diagnostics of one declaration.
  std::vector<LocatedDiagnostic> check_declaration(DeclarationId declaration);
  /// The same with those of everything that it names, directly or not, except the library: what stands between
  /// it and running, whatever else is wrong in the file.
  std::vector<LocatedDiagnostic> check_with_needed(DeclarationId declaration);
  LocatedDiagnostic locate(const Diagnostic& diagnostic);
  /// The report of a bug: one diagnostic at the innermost declaration being compiled, otherwise at `asked`,
  /// or nowhere (0). It names a file to which the text is written.
  LocatedDiagnostic locate(const InternalFailure& failure, DeclarationId asked = 0);
  /// The syntax tree of each declaration of a source.
  std::vector<std::pair<DeclarationId, ParsedTree>> trees(SourceId source);
  /// Every typed node of a source with its type as text, in source order.
  std::vector<std::pair<Range, std::string>> node_types(SourceId source);
  const Inferred& inferred_statement(DeclarationId statement);
  /// The variables that a statement binds: one for a `let` of a name, otherwise those of its pattern.
  const StatementVariables& statement_variables(DeclarationId statement);
  /// The one with this name, or null.
  const TopLevelVariable* statement_variable(DeclarationId statement, std::string_view name);
  /// From now on the variables that a statement binds stay as they are, even if something the statement uses
  /// is redefined: they have values, and nothing is rerun.
  void keep(DeclarationId statement);
  /// The opposite, for all statements of a source: they will run again.
  void release(SourceId source);
  /// The declaration of @name as seen from a module, or 0.
  DeclarationId find_definition(ModuleId module, std::string_view name);
  /// The head of a definition or an operator, as written.
  std::string signature(DeclarationId declaration);
  /// The function definitions that a declaration names, directly or indirectly, each once.
  std::vector<DeclarationId> reached_definitions(DeclarationId declaration);
  /// The type of @name as seen from a module; null if errors leave it open or it does not exist.
  const Scheme* scheme(ModuleId module, std::string_view name);
  /// The typed definition of @name as seen from a module; null if it has errors, does not exist or is retyped
  /// at each use.
  const Definition* definition(ModuleId module, std::string_view name);
  /// All definitions, for passes.
  FunctionSource& functions();
  /// The declaration of a value's data type in a module, or null.
  const DataDefinition* data(ModuleId module, Type type);
  /// Names of a module's own `def @…`, in order.
  std::vector<std::string> definitions(ModuleId module);
  /// Nothing between declarations.
  std::optional<SyntaxPath> syntax_at(SourceId source, uint32_t offset);
  /// The result of inference on a declaration or a chunk; null for one that is not inferred.
  const Inferred* inferred(DeclarationId declaration);
  /// The types of its nodes, by node id; some may be null.
  const std::vector<Type>& types_of(DeclarationId declaration);
  /// What each name in a declaration or a chunk refers to.
  const Occurrences& occurrences(DeclarationId declaration);
  /// The source range of the name, without its sigil.
  Range range_of(const Occurrence& occurrence, DeclarationId in);
  /// The chunks of a definition with a long body, in order.
  const std::vector<DeclarationId>& chunks(DeclarationId definition) const;
  /// The declaration of an operator as seen from a module, or 0.
  DeclarationId find_operator(ModuleId module, std::string_view name);
  /// The declaration of `static @name` as seen from a module, or 0.
  DeclarationId find_static(ModuleId module, std::string_view name);
  /// The declaration of a type as seen from a module, or 0.
  DeclarationId find_type(ModuleId module, std::string_view name);
  /// The declaration of the type with this constructor as seen from a module, or 0.
  DeclarationId find_constructor(ModuleId module, std::string_view name);
  /// The last statement of a module that binds %name, or 0.
  DeclarationId find_variable(ModuleId module, std::string_view name);
  /// The operator of a symbol as seen from a module; "" if there is none.
  std::string find_infix(ModuleId module, std::string_view symbol);
  /// Names of the `static @…` that a module sees, in order.
  std::vector<std::string> static_functions(ModuleId module);
  /// The names of a module's imports with `as`, and their declarations.
  std::vector<std::pair<std::string, DeclarationId>> import_names(ModuleId module);
  /// The scope of a module's declarations.
  Scope& scope(ModuleId module);
  /// A declaration as parsed.
  const Declaration& declaration(DeclarationId id);
  /// The variable with this name that a statement binds, if already known, otherwise null. Infers nothing.
  std::shared_ptr<const TopLevelVariable> known_variable(DeclarationId statement, std::string_view name);
  /// The `scheme` of a definition, if already known, otherwise null. Infers nothing.
  const Scheme* known_scheme(DeclarationId definition);
  /// The path by which diagnostics refer to a source.
  const std::string& path(SourceId source) const;
  /// The text of a declaration, without the comment above it.
  std::string_view text_of(DeclarationId declaration) const;
  /// Its range in its source.
  Range range_of(DeclarationId declaration) const;
  /// The comment above a declaration, as Markdown.
  std::string doc(DeclarationId declaration);

  /// The optimised body of @name as seen from a module; its `expr` is null if it has errors or does not exist.
  const Optimised& optimised(ModuleId module, std::string_view name);
  /// Whether it is already known.
  bool is_optimised(ModuleId module, std::string_view name) const;
  /// The optimised bytecode of @name as seen from a module; null if it has errors or does not exist.
  std::shared_ptr<const Program> program(ModuleId module, std::string_view name);

  /// The variables that requests of an editor make: each request makes the same, so that types do not accumulate.
  Series& request_variables();

  /// What is currently known about a source; computes nothing.
  Snapshot snapshot(SourceId source);
  /// Memory by kind, as far as the session can tell. All sessions share the process's interned dims and types.
  std::vector<MemoryUse> memory_report() const;
  /// How often a query has been computed so far.
  uint64_t times_computed(const std::string& query) const;

 private:
  SyntaxPtr tree_root(DeclarationId id);
  LocatedDiagnostic locate(const SyntaxProblem& problem, SourceId source);
  LocatedFix locate(const Fix& fix, SourceId source);
  std::unique_ptr<Database> db_;
};

}  // namespace quern
