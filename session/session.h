#pragma once
// The incremental compilation session that the REPL, the script runner and the language server share.
//
//     text -> pieces -> parse(declaration) -> names(module) -> infer(group) -> optimise -> kernels -> code
//
// A module is an ordered list of sources: one file, or the cells of a REPL. Statements of a module form one
// sequence; its definitions see each other in any order, later cells replacing earlier definitions of a name.
// The library is a module that every other one sees.

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

/// The syntax around a place in a source.
struct SyntaxPath {
  DeclarationId whole;           ///< the declaration that the place is in
  Range range;                   ///< of it
  DeclarationId declaration;     ///< that the nodes are of: the same, or a chunk of its body
  std::vector<SyntaxPtr> nodes;  ///< from the root to the innermost
};

/// A source in its canonical layout.
struct FormatResult {
  std::string text;
  std::vector<FormatEdit> edits;               ///< that make it of the source
  std::vector<LocatedDiagnostic> diagnostics;  ///< why declarations are left as they are
};

/// A source's declarations with their types, as text that parses to the same.
struct TypedText {
  std::string text;
  ConstantPool constants;  ///< what `meta[relay.Constant][k]` stands for
};
/// All diagnostics of a source, with the texts that they point into: a value that no later edit touches.
struct Checked {
  std::vector<LocatedDiagnostic> diagnostics;
  std::vector<std::shared_ptr<const std::string>> texts;
};
/// In place of a value: the work was given up.
struct Cancelled {};

class Database;
class Program;

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
  /// Adds a source at the end of a module. `path` is what diagnostics call it; `folder` is where its data
  /// files are.
  SourceId add_source(ModuleId module, std::string path, std::string text, std::string folder = "");
  void set_text(SourceId source, std::string text);
  /// The source of a file: a module of its own, which imports find by its path. The text given counts,
  /// whatever is on the disk, until it is closed.
  SourceId open_file(std::string path, std::string text);
  /// From now on the disk's text counts.
  void close_file(SourceId source);
  /// Looks again at the files that imports name, but for open ones, and at those that `load` names.
  void reread_files();
  /// Looks again at the files that `load` names: of those, types come from the headers.
  void reread_data_files();
  /// The files whose headers give types, whether there or not.
  std::vector<std::string> data_files() const;
  /// The files that imports name, but for open ones, whose text on the disk is another one by now.
  std::vector<std::string> outdated_files();
  ModuleId module_of(SourceId source) const;
  /// The sources that are there, in the order in which they came: without the library's, and without files
  /// that are gone from the disk.
  std::vector<SourceId> sources() const;
  /// The library's sources.
  const std::vector<SourceId>& library() const;
  /// Whether the source is one of the library's.
  bool is_library(SourceId source) const;
  /// Whether names of variables may have `/` in a source: it has TVM's header.
  bool has_slash_names(SourceId source) const;
  /// The source of a file, which is read where nothing has named it so far. Nothing for one that is not there
  /// or cannot be read.
  std::optional<SourceId> find_file(const std::string& path);
  /// The source that an `import` names; nothing where it cannot be followed.
  std::optional<SourceId> imported_by(DeclarationId import) const;
  /// A session of the same sources, by the same numbers, some of them with other texts; the disk is not
  /// looked at for them.
  std::unique_ptr<Session> with_texts(const std::map<SourceId, std::string>& texts) const;
  /// Puts `text` in the place of a range of the source's text.
  void edit(SourceId source, Range range, std::string_view text);
  void remove_last_source(ModuleId module);
  const std::string& text(SourceId source);
  /// The latest source that diagnostics call so.
  std::optional<SourceId> find_source(std::string_view path) const;
  const std::string& folder(SourceId source) const;

  // --- what is in a module
  /// The declarations of the statements of a source, in order.
  std::vector<DeclarationId> statements(SourceId source);
  std::vector<DeclarationId> statements_of_module(ModuleId module);
  /// All declarations of a source, in order.
  const std::vector<DeclarationId>& declarations(SourceId source) const;
  /// The `test`s of a source, in order.
  std::vector<DeclarationId> tests(SourceId source);
  /// Whether the declaration is one of the built-in library's.
  bool in_library(DeclarationId declaration) const;
  const DeclarationInfo& info(DeclarationId declaration) const;
  /// Whether a statement is a value by itself, and binds none.
  bool is_expression(DeclarationId statement);
  /// What ops of the library with a clause `lowering` declare, whatever the machine; made when first asked
  /// for.
  const DotIntrinsics& dot_intrinsics();
  /// Places in the source of the declaration's nodes.
  Range range_of(const Place& place);

  // --- queries
  /// From now on queries are given up soon after `stop` became true; their values mean nothing then, and
  /// nothing half-done is kept. To be called again before the next work.
  void watch(const std::atomic<bool>* stop);
  /// All diagnostics of a source, each once, in the order of the text. Warnings stop nothing: `has_errors`
  /// tells them apart.
  std::vector<LocatedDiagnostic> check(SourceId source);
  /// The same with those of the files that it imports, directly or not.
  std::vector<LocatedDiagnostic> check_with_imports(SourceId source);
  /// The sources that a source imports, directly or not.
  std::vector<SourceId> imported(SourceId source);
  /// The declarations in their order: functions and statements typed, the others as written, in the canonical
  /// layout. The source has no errors.
  TypedText typed_text(SourceId source);
  /// A definition, of whatever stage of compilation, as a module would write it.
  TypedText typed_text(const Definition& definition, ModuleId module);
  /// The source's layout, or that of the declarations that touch some lines; a failure is a bug.
  Result<FormatResult> format(SourceId source, std::optional<LineRange> lines = std::nullopt);
  /// As above, or Cancelled soon after `stop` became true (another thread may set it). Nothing half-done is
  /// kept, and what was done is: to check again goes on where this ended.
  std::variant<Checked, Cancelled> check(SourceId source, const std::atomic<bool>* stop);
  /// Those of one declaration.
  std::vector<LocatedDiagnostic> check_declaration(DeclarationId declaration);
  LocatedDiagnostic locate(const Diagnostic& diagnostic);
  /// What is reported of a bug: one diagnostic at the smallest declaration that the compiler was at, else
  /// at `asked`, or nowhere (0). The text goes to a file that it names.
  LocatedDiagnostic locate(const InternalFailure& failure, DeclarationId asked = 0);
  /// The syntax tree of each declaration of a source.
  std::vector<std::pair<DeclarationId, ParsedTree>> trees(SourceId source);
  /// Every node of a source that has a type, with it, as text; in the order of the text.
  std::vector<std::pair<Range, std::string>> node_types(SourceId source);
  const Inferred& inferred_statement(DeclarationId statement);
  /// The variables that a statement binds: one for a `let` of one name, those of its pattern for another.
  const StatementVariables& statement_variables(DeclarationId statement);
  /// The one of this name, or null.
  const TopLevelVariable* statement_variable(DeclarationId statement, std::string_view name);
  /// From now on the variables that a statement binds stay what they are, also where what the statement uses is
  /// redefined: they have values, and nothing is run again.
  void keep(DeclarationId statement);
  /// The contrary, for all statements of a source: they will run again.
  void release(SourceId source);
  /// The declaration of @name as seen from a module, or 0.
  DeclarationId find_definition(ModuleId module, std::string_view name);
  /// The head of a definition or an operator, as it is written.
  std::string signature(DeclarationId declaration);
  /// The definitions of functions that a declaration names, and those that these name, each once.
  std::vector<DeclarationId> reached_definitions(DeclarationId declaration);
  /// The type of @name as seen from a module; null with errors that leave it open, or without one.
  const Scheme* scheme(ModuleId module, std::string_view name);
  /// The typed definition of @name as seen from a module; null with errors or without one, and for what is
  /// typed anew at each use.
  const Definition* definition(ModuleId module, std::string_view name);
  /// All of them, for passes.
  FunctionSource& functions();
  /// The declaration of a data type that a value in a module has, or null.
  const DataDefinition* data(ModuleId module, Type type);
  /// Names of a module's own `def @…`, in order.
  std::vector<std::string> definitions(ModuleId module);
  /// Nothing between declarations.
  std::optional<SyntaxPath> syntax_at(SourceId source, uint32_t offset);
  /// What inference knows of a declaration or a chunk of one; null for one that is not inferred.
  const Inferred* inferred(DeclarationId declaration);
  /// The types of its nodes, by their numbers; of some it may have none.
  const std::vector<Type>& types_of(DeclarationId declaration);
  /// What each name in a declaration, or a chunk of one, stands for.
  const Occurrences& occurrences(DeclarationId declaration);
  /// Where the name stands in its source, without a sigil.
  Range range_of(const Occurrence& occurrence, DeclarationId in);
  /// The chunks of a definition with a long body, in order.
  const std::vector<DeclarationId>& chunks(DeclarationId definition) const;
  /// The declaration of an operator as seen from a module, or 0.
  DeclarationId find_operator(ModuleId module, std::string_view name);
  /// The declaration of `static @name` as seen from a module, or 0.
  DeclarationId find_static(ModuleId module, std::string_view name);
  /// The declaration of a type as seen from a module, or 0.
  DeclarationId find_type(ModuleId module, std::string_view name);
  /// The declaration of the type that has the constructor as seen from a module, or 0.
  DeclarationId find_constructor(ModuleId module, std::string_view name);
  /// The last statement of a module that binds %name, or 0.
  DeclarationId find_variable(ModuleId module, std::string_view name);
  /// The operator of a symbol as seen from a module; "" where there is none.
  std::string find_infix(ModuleId module, std::string_view symbol);
  /// Names of the `static @…` that a module sees, in order.
  std::vector<std::string> static_functions(ModuleId module);
  /// What the imports of a module are called, those with `as`: the name and the declaration.
  std::vector<std::pair<std::string, DeclarationId>> import_names(ModuleId module);
  /// What declarations of a module see of others.
  Scope& scope(ModuleId module);
  /// A declaration as it is parsed.
  const Declaration& declaration(DeclarationId id);
  /// The variable of a name among those that a statement binds, where it is known by now; else null. Nothing is
  /// inferred.
  std::shared_ptr<const TopLevelVariable> known_variable(DeclarationId statement, std::string_view name);
  /// What `scheme` gives of a definition, where it is known by now; else null. Nothing is inferred.
  const Scheme* known_scheme(DeclarationId definition);
  /// What diagnostics call a source.
  const std::string& path(SourceId source) const;
  /// The text of a declaration, without the comment above it.
  std::string_view text_of(DeclarationId declaration) const;
  /// Where it stands in its source.
  Range range_of(DeclarationId declaration) const;
  /// The comment above a declaration, Markdown.
  std::string doc(DeclarationId declaration);

  /// The bytecode of @name as seen from a module, optimised; null with errors or without one.
  std::shared_ptr<const Program> program(ModuleId module, std::string_view name);

  /// What is known of a source now; nothing is computed for it.
  Snapshot snapshot(SourceId source);
  /// Memory by kind, as far as the session knows it. What the process has interned, and the parser's tables,
  /// are shared by all sessions.
  std::vector<MemoryUse> memory_report() const;
  /// How often each query was computed so far.
  uint64_t times_computed(const std::string& query) const;

 private:
  SyntaxPtr tree_root(DeclarationId id);
  LocatedDiagnostic locate(const SyntaxProblem& problem, SourceId source);
  LocatedFix locate(const Fix& fix, SourceId source);
  std::unique_ptr<Database> db_;
};

}  // namespace quern
