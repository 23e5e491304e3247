// `import`: the file that each one names, and the names it provides to a module.
//
//     import "layers.relay" as layers      @layers.affine, layers.Net, layers.capsule_conv
//     import "layers.relay"                @affine, Net, capsule_conv
//     import "quern:models/bert.relay" as bert         a module of the library
//
// A file is one module of the session, whoever imports it, so its text is an input like any other. Imports
// are not transitive. A module's own names take precedence. Files are read when a text that imports them is
// set (`follow_imports`), never in a query.

#include <algorithm>
#include <filesystem>

#include "session/db/database.h"
#include "session/texts/module_files.h"

namespace quern {

namespace {

// The shortest import path from one module to another, inclusive; empty if there is none. `follow(module,
// visit)` visits a module's imports.
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

void Database::follow_imports(SourceId source) {
  ModuleId module = sources[source].module;
  if (module == kLibrary) return;
  const std::string folder = sources[source].folder;
  for (DeclarationId id : all_of_source(source, PieceKind::Import)) {
    importing_.insert(module);
    for (const std::string& candidate : import_paths(folder, declarations[id].name))
      if (look_at_file(candidate).module) break;
  }
  update_imports();
}

const Database::FileState& Database::look_at_file(const std::string& path) {
  std::string file = module_key(path);
  auto [known, added] = files.try_emplace(file, FileState{path, 0, ""});
  if (added) {
    auto content = text_of_module(file);
    if (content)
      sources[open_file(path, std::move(*content))].open = false;
    else if (is_there(file))
      known->second.problem = content.error().message;
  }
  return known->second;
}

void Database::update_imports() {
  std::map<ModuleId, std::vector<Import>> all;
  for (ModuleId module : importing_)
    for (DeclarationId id : all_of(module, PieceKind::Import)) all[module].push_back(resolve_import(id));
  auto follow = [&](ModuleId module, const auto& visit) {
    if (auto found = all.find(module); found != all.end())
      for (const Import& import : found->second)
        if (import.module) visit(import.module);
  };
  for (ModuleId module : importing_) {
    std::vector<Import>& list = all[module];
    for (Import& import : list)
      if (import.module) import.cycle = path_between(import.module, module, follow);
    imports.set(module, list);
  }
}

Import Database::resolve_import(DeclarationId id) {
  SyntaxPtr syntax = tree(id).syntax;
  Import import{id, syntax->is(SyntaxKind::ImportAs) ? std::string(syntax->child(0)->text) : "", 0, {}, "",
                {}};
  if (syntax->is(SyntaxKind::Error)) return import;
  for (const std::string& candidate :
       import_paths(sources[declarations[id].source].folder, declarations[id].name)) {
    import.tried.push_back(candidate);
    auto known = files.find(module_key(candidate));
    if (known == files.end()) continue;
    import.module = known->second.module;
    import.problem = known->second.problem;
    if (import.module || !import.problem.empty()) break;
  }
  return import;
}

SourceId Database::open_file(std::string path, std::string text) {
  std::string file = module_key(path);
  FileState& state = files.try_emplace(file, FileState{path, 0, ""}).first->second;
  if (state.module) {
    SourceId source = modules[state.module][0];
    sources[source].open = true;
    set_text(source, std::move(text));
    return source;
  }
  // Registered by path before its own imports are followed, which may lead back here.
  state.module = make_module();
  state.problem.clear();
  ModuleId module = state.module;
  std::string folder = std::filesystem::path(path).parent_path().string();
  SourceId source = add_source(module, std::move(path), std::move(text), std::move(folder), {});
  update_imports();
  return source;
}

void Database::reread_files() {
  std::vector<std::string> known;
  for (auto& [file, _] : files) known.push_back(file);
  for (const std::string& file : known) {
    FileState& state = files.at(file);
    if (state.module && sources[modules[state.module][0]].open) continue;
    auto content = text_of_module(file);
    if (content)
      sources[open_file(state.shown, std::move(*content))].open = false;
    else
      state = {state.shown, 0, is_there(file) ? content.error().message : ""};
  }
  update_imports();
  reread_data_files();
}

std::vector<std::string> Database::outdated_files() const {
  std::vector<std::string> outdated;
  for (auto& [file, state] : files) {
    const SourceId source = state.module ? modules[state.module][0] : 0;
    if (state.module && sources[source].open) continue;
    auto now = text_of_module(file);
    const bool same = now ? state.module && *now == text(source) : !state.module;
    if (!same) outdated.push_back(state.shown);
  }
  return outdated;
}

}  // namespace quern
