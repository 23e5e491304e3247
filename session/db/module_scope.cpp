#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "frontend/text/suggest.h"
#include "session/db/module_scope.h"

namespace quern {

Scope& ModuleScope::home(const Declaration& declaration) {
  ModuleId module = db_.declarations[declaration.id].module;
  return module == module_ ? *this : static_cast<Scope&>(db_.scope_of(module));
}

bool ModuleScope::has_global(std::string_view name) {
  return db_.find(module_, NameTable::Globals, name) != 0;
}
const Declaration* ModuleScope::global(std::string_view name) {
  return head(db_.find(module_, NameTable::Globals, name));
}
const Declaration* ModuleScope::op(std::string_view name) {
  DeclarationId id = db_.find(module_, NameTable::Operators, name);
  return makes_instances_ ? declaration(id) : head(id);
}
const Declaration* ModuleScope::static_function(std::string_view name) {
  return declaration(db_.find(module_, NameTable::Statics, name));
}

std::string ModuleScope::infix(std::string_view symbol) {
  const Declaration* d = declaration(db_.find(module_, NameTable::Infix, symbol));
  return d && d->syntax->is(SyntaxKind::Infix) ? std::string(d->syntax->child(0)->text) : "";
}

const Declaration* ModuleScope::type_declaration(std::string_view name) {
  return declaration(db_.find(module_, NameTable::Types, name));
}

const DataHeader* ModuleScope::data_header(std::string_view type_name) {
  DeclarationId id = db_.find(module_, NameTable::Types, type_name);
  if (!id) return nullptr;
  auto& header = db_.data_header(db_.key_of(id));
  return header ? &*header : nullptr;
}

const TypeAlias* ModuleScope::alias(std::string_view type_name) {
  static const TypeAlias kOfItself;
  DeclarationId id = db_.find(module_, NameTable::Types, type_name);
  if (!id || !db_.tree(id).syntax->is(SyntaxKind::TypeAlias)) return nullptr;
  if (alias_ && db_.alias_reaches(id, alias_)) return &kOfItself;
  auto& result = db_.alias(db_.key_of(id));
  return result.first ? &*result.first : &kOfItself;
}

const DataDefinition* ModuleScope::data(std::string_view type_name) {
  DeclarationId id = db_.find(module_, NameTable::Types, type_name);
  if (!id) return nullptr;
  auto& result = db_.data(db_.key_of(id));
  return result.first ? &*result.first : nullptr;
}

const DataDefinition* ModuleScope::data_of(Type type) { return db_.data_of(module_, type); }

const DataDefinition* ModuleScope::data_of_constructor(std::string_view constructor) {
  DeclarationId id = db_.find_constructor(module_, constructor);
  if (!id) return nullptr;
  auto& result = db_.data(db_.key_of(id));
  return result.first ? &*result.first : nullptr;
}

const TopLevelVariable* ModuleScope::variable(std::string_view name) { return shared_variable(name).get(); }

std::shared_ptr<const TopLevelVariable> ModuleScope::shared_variable(std::string_view name) {
  if (chunk_) {
    auto found = db_.bodies.find(chunk_, std::string(name));
    if (found) uses_->push_back(found);
    return found;
  }
  if (!sees_variables()) return nullptr;
  const DeclarationId bound = db_.variable_before(statement_, name);
  if (!bound) return nullptr;
  for (const auto& variable : db_.variables(bound))
    if (variable->variable->name == name) return variable;
  return nullptr;
}

bool ModuleScope::has_top_level_variable(std::string_view name) {
  // A statement sees the variables before it.
  return !sees_variables() && !db_.names.get({module_, NameTable::Variables, std::string(name)}).empty();
}

namespace {

// Whether `name` occurs in a text as a whole word, with or without a sigil.
bool mentions(std::string_view text, std::string_view name) {
  auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]))) return true;
  }
  return false;
}

}  // namespace

bool ModuleScope::in_broken_declaration(std::string_view name) {
  for (auto& [id, text] : db_.broken_declarations(module_))
    if ((!statement_ || db_.is_before(id, statement_)) && mentions(text, name)) return true;
  return false;
}

const Scheme* ModuleScope::scheme(std::string_view name) {
  DeclarationId id = db_.find(module_, NameTable::Globals, name);
  if (!id) return nullptr;
  auto& found = db_.scheme(db_.key_of(id));
  return found ? &*found : nullptr;
}

const Annotations* ModuleScope::annotations(std::string_view name) {
  DeclarationId id = db_.find(module_, NameTable::Globals, name);
  if (!id) return nullptr;
  auto& found = db_.annotated(db_.key_of(id));
  return found ? &*found : nullptr;
}

void ModuleScope::specialise(const InstanceRequest& request) { db_.name_copy(request); }

const Inferred* ModuleScope::specialised(const InstanceRequest& request) {
  specialise(request);
  ModuleId owner = db_.declarations[request.declaration].module;
  return db_.specialised_definition(owner, request.key.substr(1));
}

InstanceAnswer ModuleScope::instance(InstanceRequest request) {
  // A library operator has the same meaning in every module: its instances are made once.
  const ModuleId owner = db_.declarations[request.declaration].module;
  const InstanceKey key{owner, std::move(request)};
  if (!makes_instances_ && owner != Database::kLibrary) return {db_.late_instance(key), {}, true};
  const InstanceResult& result = db_.instance(key);
  InstanceAnswer answer{result.instance, result.diagnostics, owner == module_};
  // Errors in an imported file that do not depend on the call are reported there.
  bool imported = owner != module_ && owner != Database::kLibrary;
  if (imported && !db_.operator_check(key.request.declaration).empty()) answer.diagnostics.clear();
  if (!result.instance)
    answer.diagnostics.push_back({DiagnosticKind::StaticLimit,
                                  {{key.request.declaration, 1}, {}},
                                  fmt::format("`{}` is defined by itself", key.request.op),
                                  {}});
  return answer;
}

std::optional<int> ModuleScope::tvm(uint32_t declaration) {
  SourceId source = db_.declarations[declaration].source;
  std::optional<int> header = db_.header_version.get(source);
  if (!header) return std::nullopt;
  const auto& metadata = db_.metadata(source);
  return metadata && metadata->tvm ? metadata->tvm : header;
}

Result<Type> ModuleScope::file_type(std::string_view path, std::string_view entry) {
  SourceId source = statement_ ? db_.declarations[statement_].source : 0;
  std::filesystem::path file = std::filesystem::path(db_.sources[source].folder) / path;
  const Result<Entries<TensorHeader>>& read = *db_.data_file.get(file.string()).headers;
  if (!read) return read.error();
  const Entries<TensorHeader>& headers = *read;
  for (auto& [name, header] : headers) {
    if (name != entry && !(entry.empty() && headers.size() == 1)) continue;
    std::vector<Dim> dims;
    for (int64_t extent : header.shape) dims.push_back(dim_const(extent));
    return tensor_type(dims, header.dtype);
  }
  std::vector<std::string> known;
  for (auto& [name, header] : headers) known.push_back(name);
  if (entry.empty())
    return Failure{fmt::format(
        "`{}` has {} entries ({}): name one, `load(\"{}\", \"{}\")`, or annotate the type of a record", path,
        known.size(), fmt::join(known, ", "), path, known.empty() ? "entry" : known[0])};
  return Failure{fmt::format("`{}` has no entry `{}`; it has {}", path, entry, fmt::join(known, ", "))};
}

std::vector<std::string> ModuleScope::names(Names kind) {
  std::vector<std::string> out;
  auto add = [&](const std::string& name) { out.push_back(name); };
  auto add_all = [&](ModuleId module, NameTable table, const auto& visit) {
    db_.names.depend_on_all(module, table);
    db_.names.for_each(module, table, visit);
  };
  for (ModuleId module : {module_, Database::kLibrary}) {
    switch (kind) {
      case Names::Globals: add_all(module, NameTable::Globals, add); break;
      case Names::Operators: add_all(module, NameTable::Operators, add); break;
      case Names::Types: add_all(module, NameTable::Types, add); break;
      case Names::Constructors:
        for (auto& [name, id] : db_.constructors(module)) add(name);
        break;
      case Names::Variables:
        db_.names.depend_on_all(module, NameTable::Variables);
        for (DeclarationId id : db_.all_of(module, PieceKind::Statement))
          if (sees_variables() && db_.is_before(id, statement_))
            for_each_name(db_.declarations[id].name, [&](std::string_view name) { out.emplace_back(name); });
        if (chunk_ && module == module_)
          for (const std::string& name : db_.bodies.names_before(chunk_)) add(name);
        break;
    }
    if (module_ == Database::kLibrary) break;
  }
  if (module_ != Database::kLibrary)
    for (const Import& import : db_.imports.get(module_)) {
      if (!import.brings_names()) continue;
      std::string prefix = import.alias.empty() ? "" : import.alias + ".";
      auto add_theirs = [&](const std::string& name) { out.push_back(prefix + name); };
      if (kind == Names::Globals) add_all(import.module, NameTable::Globals, add_theirs);
      if (kind == Names::Operators) add_all(import.module, NameTable::Operators, add_theirs);
      if (kind == Names::Types) add_all(import.module, NameTable::Types, add_theirs);
      if (kind == Names::Constructors)
        for (auto& [name, id] : db_.constructors(import.module)) add_theirs(name);
    }
  std::erase(out, "");
  std::sort(out.begin(), out.end());
  if (kind == Names::Types)
    for (std::string& dtype : dtype_names()) out.push_back(std::move(dtype));
  return out;
}

}  // namespace quern
