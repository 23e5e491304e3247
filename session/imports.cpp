// `import`: which file each one names, and what it brings into a module.
//
//     import "layers.relay" as layers      @layers.affine, layers.Net, layers.capsule_conv
//     import "layers.relay"                @affine, Net, capsule_conv
//
// A file is one module of the session, whoever imports it, so its text is an input like any other. Names are
// brought one step: what an imported file imports itself stays its own. A module's own name comes first.
// Files are read when a text that imports them is set (`follow_imports`), never in a query.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "session/session_impl.h"

namespace quern {

namespace {

namespace fs = std::filesystem;

std::string absolute_path(const std::string& path) {
  std::error_code error;
  fs::path full = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path, error).lexically_normal().string() : full.string();
}

// The nearest folder upwards with a `quern.toml`, relative to the working folder where `folder` is; "" where
// none is.
std::string project_root(const std::string& folder) {
  std::error_code error;
  fs::path at = folder.empty() ? fs::path(".") : fs::path(folder);
  fs::path full = fs::weakly_canonical(at, error);
  for (fs::path up = full; !error; up = up.parent_path()) {
    if (fs::exists(up / "quern.toml", error))
      return at.is_relative() ? up.lexically_relative(fs::current_path(error)).string() : up.string();
    if (up == up.parent_path()) break;
  }
  return "";
}

Result<std::string> text_of_file(const std::string& path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return Failure{"it is a folder"};
  std::ifstream in(path, std::ios::binary);
  if (!in) return Failure{std::strerror(errno)};
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The shortest way from one module to another, both included; empty where there is none. `follow(module,
// visit)` visits what a module imports.
template <class F>
std::vector<ModuleId> path_between(ModuleId from, ModuleId to, const F& follow) {
  std::map<ModuleId, ModuleId> reached_from{{from, from}};
  std::vector<ModuleId> queue{from};
  for (size_t i = 0; i < queue.size(); ++i) {
    if (queue[i] == to) {
      std::vector<ModuleId> path{to};
      while (path.back() != from) path.push_back(reached_from[path.back()]);
      std::reverse(path.begin(), path.end());
      return path;
    }
    follow(queue[i], [&](ModuleId next) {
      if (reached_from.emplace(next, queue[i]).second) queue.push_back(next);
    });
  }
  return {};
}

}  // namespace

// --- files

namespace {

// Where the file of an import is looked for: beside the importing file, then from the project's root.
std::vector<std::string> candidates(const std::string& folder, const std::string& path) {
  if (path.empty()) return {};
  std::vector<std::string> paths{(fs::path(folder) / path).lexically_normal().string()};
  std::string root = project_root(folder);
  if (!root.empty()) {
    std::string from_root = (fs::path(root) / path).lexically_normal().string();
    if (absolute_path(from_root) != absolute_path(paths[0])) paths.push_back(from_root);
  }
  return paths;
}

}  // namespace

void Session::Impl::follow_imports(SourceId source) {
  ModuleId module = sources[source].module;
  if (module == kLibrary) return;
  const std::string folder = sources[source].folder;
  for (DeclarationId id : all_of_source(source, PieceKind::Import)) {
    importing.insert(module);
    for (const std::string& candidate : candidates(folder, declarations[id].name)) {
      std::string file = absolute_path(candidate);
      auto [known, added] = files.try_emplace(file, FileState{candidate, 0, ""});
      if (added) {
        auto content = text_of_file(file);
        std::error_code ignored;
        if (content)
          sources[session.open_file(candidate, std::move(*content))].open = false;
        else if (fs::exists(file, ignored))
          known->second.problem = content.error().message;
      }
      if (known->second.module) break;
    }
  }
  update_imports();
}

void Session::Impl::update_imports() {
  std::map<ModuleId, std::vector<Import>> all;
  for (ModuleId module : importing)
    for (DeclarationId id : all_of(module, PieceKind::Import)) all[module].push_back(resolve_import(id));
  auto follow = [&](ModuleId module, const auto& visit) {
    if (auto found = all.find(module); found != all.end())
      for (const Import& import : found->second)
        if (import.module) visit(import.module);
  };
  for (ModuleId module : importing) {
    std::vector<Import>& list = all[module];
    for (Import& import : list)
      if (import.module) import.cycle = path_between(import.module, module, follow);
    imports.set(module, list);
  }
}

Import Session::Impl::resolve_import(DeclarationId id) {
  SyntaxPtr syntax = tree(id).syntax;
  Import import{id, syntax->is(SyntaxKind::ImportAs) ? std::string(syntax->child(0)->text) : "", 0, {}, "",
                {}};
  if (syntax->is(SyntaxKind::Error)) return import;
  for (const std::string& candidate :
       candidates(sources[declarations[id].source].folder, declarations[id].name)) {
    import.tried.push_back(candidate);
    auto known = files.find(absolute_path(candidate));
    if (known == files.end()) continue;
    import.module = known->second.module;
    import.problem = known->second.problem;
    if (import.module || !import.problem.empty()) break;
  }
  return import;
}

SourceId Session::open_file(std::string path, std::string text) {
  std::string file = absolute_path(path);
  Impl::FileState& state = impl_->files.try_emplace(file, Impl::FileState{path, 0, ""}).first->second;
  if (state.module) {
    SourceId source = impl_->modules[state.module][0];
    impl_->sources[source].open = true;
    set_text(source, std::move(text));
    return source;
  }
  // Known by its path before its own imports are followed: they may lead back here.
  state.module = make_module();
  state.problem.clear();
  ModuleId module = state.module;
  std::string folder = fs::path(path).parent_path().string();
  SourceId source = add_source(module, std::move(path), std::move(text), std::move(folder));
  impl_->update_imports();
  return source;
}

void Session::close_file(SourceId source) {
  impl_->sources[source].open = false;
  reread_files();
}

void Session::reread_files() {
  std::vector<std::string> known;
  for (auto& [file, _] : impl_->files) known.push_back(file);
  for (const std::string& file : known) {
    Impl::FileState& state = impl_->files.at(file);
    if (state.module && impl_->sources[impl_->modules[state.module][0]].open) continue;
    auto content = text_of_file(file);
    std::error_code ignored;
    if (content)
      impl_->sources[open_file(state.shown, std::move(*content))].open = false;
    else
      state = {state.shown, 0, fs::exists(file, ignored) ? content.error().message : ""};
  }
  impl_->update_imports();
  reread_data_files();
}

std::vector<std::string> Session::outdated_files() {
  std::vector<std::string> outdated;
  for (auto& [file, state] : impl_->files) {
    const SourceId source = state.module ? impl_->modules[state.module][0] : 0;
    if (state.module && impl_->sources[source].open) continue;
    auto now = text_of_file(file);
    const bool same = now ? state.module && *now == text(source) : !state.module;
    if (!same) outdated.push_back(state.shown);
  }
  return outdated;
}

// --- names

bool Session::Impl::is_in_broken_import(ModuleId module, std::string_view name) {
  if (module == kLibrary) return false;
  for (const Import& import : imports.get(module)) {
    if (!import.declared_name(name)) continue;
    if (!import.brings_names()) return true;
    // A name that is not there may be of what did not parse there.
    names.depend_on_all(import.module);
    for (SourceId source : modules[import.module])
      for (DeclarationId id : layouts[source].ids)
        if (!import.alias.empty() && !parses(id)) return true;
  }
  return false;
}

const DataDefinition* Session::Impl::data_of(ModuleId module, Type type) {
  std::vector<ModuleId> reached{module, kLibrary};
  for (size_t i = 0; i < reached.size(); ++i) {
    ModuleId at = reached[i];
    if (DeclarationId id = find(at, NameTable::Types, type->name))
      if (const auto& found = data(key_of(id)).first; found && found->header.type->id == type->id)
        return &*found;
    if (at == kLibrary) continue;
    for (const Import& import : imports.get(at))
      if (import.brings_names() && std::find(reached.begin(), reached.end(), import.module) == reached.end())
        reached.push_back(import.module);
  }
  // One that was redefined: as it is now.
  DeclarationId id = find(module, NameTable::Types, type->name);
  if (!id) return nullptr;
  const auto& now = data(key_of(id)).first;
  return now ? &*now : nullptr;
}

// --- diagnostics

Diagnostics Session::Impl::import_diagnostics(DeclarationId id) {
  const std::vector<Import>& all = imports.get(declarations[id].module);
  auto found = std::find_if(all.begin(), all.end(), [&](const Import& i) { return i.declaration == id; });
  if (found == all.end()) return {};
  const std::string& path = declarations[id].name;
  auto one = [&](DiagnosticKind kind, std::string message, std::vector<Note> notes = {}) -> Diagnostics {
    return {{kind, {{id, 1}, {}}, std::move(message), std::move(notes)}};
  };
  if (path.empty()) return one(DiagnosticKind::ImportNotFound, "the path of this import is empty");
  if (!found->problem.empty())
    return one(DiagnosticKind::ImportNotFound,
               fmt::format("`{}` cannot be read: {}", found->tried.back(), found->problem));
  if (!found->module) {
    std::vector<Note> notes;
    for (const std::string& tried : found->tried)
      notes.push_back({std::nullopt, fmt::format("there is no file `{}`", tried)});
    return one(DiagnosticKind::ImportNotFound,
               fmt::format(
                   "the file `{}` is not found; a path is relative to this file's folder or to the project's "
                   "root (the folder with `quern.toml`)",
                   path),
               std::move(notes));
  }
  if (!found->cycle.empty()) {
    auto shown = [&](ModuleId m) {
      return "`" + fs::path(sources[modules[m][0]].path).filename().string() + "`";
    };
    std::string way = shown(declarations[id].module);
    for (ModuleId m : found->cycle)
      way += " imports " + shown(m) + (m == found->cycle.back() ? "" : ", which");
    return one(DiagnosticKind::ImportCycle,
               fmt::format("this import leads back here: {}; move what both need to a file of its own", way));
  }
  auto same_alias = std::find_if(all.begin(), found, [&](const Import& i) {
    return !found->alias.empty() && i.alias == found->alias &&
           declarations[i.declaration].source == declarations[id].source;
  });
  if (same_alias != found)
    return one(DiagnosticKind::ImportClash, fmt::format("two imports have the name `{}`", found->alias),
               {{Place{{same_alias->declaration, 1}, {}}, "the first is here"}});
  Diagnostics clashes = import_clashes(*found, all);
  return clashes.empty() ? mistakes_of(*found) : clashes;
}

// A file with mistakes is reported where it is imported, by its first one.
Diagnostics Session::Impl::mistakes_of(const Import& import) {
  pieces.get(import.module);
  for (SourceId source : modules[import.module])
    for (DeclarationId id : layouts[source].ids)
      for (const Diagnostic& d : declaration_diagnostics(id)) {
        if (severity_of(d.kind) != Severity::Error) continue;
        return {{DiagnosticKind::ImportedMistake,
                 {{import.declaration, 1}, {}},
                 fmt::format("`{}` has mistakes; the first is {}: {}", declarations[import.declaration].name,
                             code_of(d.kind), d.message),
                 {{d.place, "it is here"}}}};
      }
  return {};
}

Diagnostics Session::Impl::import_clashes(const Import& import, const std::vector<Import>& all) {
  Diagnostics result;
  ModuleId module = declarations[import.declaration].module;
  std::string prefix = import.alias.empty() ? "" : import.alias + ".";
  auto clash = [&](const std::string& name, DeclarationId theirs, DeclarationId other) {
    if (!theirs || !other || theirs == other) return;
    bool own = declarations[other].module == module;
    result.push_back(
        {DiagnosticKind::ImportClash,
         {{import.declaration, 1}, {}},
         fmt::format("this import brings `{}`, which {}; give the import a name: `import \"{}\" as …`", name,
                     own ? "is defined in this file too" : "another import brings too",
                     declarations[import.declaration].name),
         {{Place{{theirs, 1}, {}}, "it is defined here"},
          {Place{{other, 1}, {}}, own ? "this file has its own" : "and here"}}});
  };
  // `look(module, name)`: the declaration of a name in a module's own text, or 0.
  auto compare = [&](const std::string& declared, std::string_view sigil, const auto& look) {
    std::string brought = prefix + declared, shown = std::string(sigil) + brought;
    DeclarationId theirs = look(import.module, declared);
    clash(shown, theirs, look(module, brought));
    for (const Import& earlier : all) {
      if (earlier.declaration == import.declaration) return;
      // What an earlier source of the module imports is replaced.
      if (declarations[earlier.declaration].source != declarations[import.declaration].source) continue;
      if (auto name = earlier.declared_name(brought); name && earlier.brings_names())
        clash(shown, theirs, look(earlier.module, std::string(*name)));
    }
  };
  names.depend_on_all(import.module);
  for (auto [table, sigil] : {std::pair{NameTable::Globals, "@"}, std::pair{NameTable::Operators, ""},
                              std::pair{NameTable::Types, ""}, std::pair{NameTable::Statics, "static @"}}) {
    std::vector<std::string> list;
    names.for_each(import.module, table, [&](const std::string& name) { list.push_back(name); });
    std::sort(list.begin(), list.end());
    for (const std::string& name : list)
      compare(name, sigil, [&, table = table](ModuleId m, const std::string& declared) -> DeclarationId {
        const auto& ids = names.get({m, table, declared});
        return ids.empty() ? 0 : ids[0];
      });
  }
  // Two constructors of one name, where their types have different names.
  for (const auto& [name, type] : std::map(constructors(import.module)))
    compare(name, "", [&, type = type](ModuleId m, const std::string& declared) -> DeclarationId {
      DeclarationId owner = constructor({m, declared});
      return owner && declarations[owner].name != declarations[type].name ? owner
             : m == import.module                                         ? owner
                                                                          : 0;
    });
  return result;
}

// --- a file with what it imports

std::vector<SourceId> Session::imported(SourceId source) {
  std::vector<SourceId> result;
  std::vector<ModuleId> reached{module_of(source)};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const Import& import : impl_->imports.peek(reached[i])) {
      if (!import.module || std::find(reached.begin(), reached.end(), import.module) != reached.end())
        continue;
      reached.push_back(import.module);
      result.push_back(impl_->modules[import.module][0]);
    }
  return result;
}

std::vector<LocatedDiagnostic> Session::check_with_imports(SourceId source) {
  std::vector<LocatedDiagnostic> result = check(source);
  // The mistakes of the files themselves follow.
  auto of_import = [](const LocatedDiagnostic& d) { return d.kind == DiagnosticKind::ImportedMistake; };
  std::erase_if(result, of_import);
  auto is_cycle = [](const LocatedDiagnostic& d) { return d.kind == DiagnosticKind::ImportCycle; };
  bool cycle = std::any_of(result.begin(), result.end(), is_cycle);
  for (SourceId s : imported(source))
    for (LocatedDiagnostic& d : check(s)) {
      // A cycle is reported once: by the file that was asked for, or by the first that is in it.
      if ((cycle && is_cycle(d)) || of_import(d)) continue;
      cycle = cycle || is_cycle(d);
      result.push_back(std::move(d));
    }
  return result;
}

}  // namespace quern
