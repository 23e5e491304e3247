// `import`: the file that each one names, and the names it provides to a module.
//
//     import "layers.relay" as layers      @layers.affine, layers.Net, layers.capsule_conv
//     import "layers.relay"                @affine, Net, capsule_conv
//
// A file is one module of the session, whoever imports it, so its text is an input like any other. Imports
// are not transitive. A module's own names take precedence. Files are read when a text that imports them is
// set (`follow_imports`), never in a query.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "session/db/database.h"

namespace quern {

namespace {

namespace fs = std::filesystem;

std::string absolute_path(const std::string& path) {
  std::error_code error;
  fs::path full = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path, error).lexically_normal().string() : full.string();
}

// The nearest ancestor folder with a `quern.toml`, relative to the working folder if `folder` is; "" if there
// is none.
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

namespace {

// The candidate paths of an import: beside the importing file, then from the project's root.
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

void Database::follow_imports(SourceId source) {
  ModuleId module = sources[source].module;
  if (module == kLibrary) return;
  const std::string folder = sources[source].folder;
  for (DeclarationId id : all_of_source(source, PieceKind::Import)) {
    importing_.insert(module);
    for (const std::string& candidate : candidates(folder, declarations[id].name))
      if (look_at_file(candidate).module) break;
  }
  update_imports();
}

const Database::FileState& Database::look_at_file(const std::string& path) {
  std::string file = absolute_path(path);
  auto [known, added] = files.try_emplace(file, FileState{path, 0, ""});
  if (added) {
    auto content = text_of_file(file);
    std::error_code ignored;
    if (content)
      sources[open_file(path, std::move(*content))].open = false;
    else if (fs::exists(file, ignored))
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

SourceId Database::open_file(std::string path, std::string text) {
  std::string file = absolute_path(path);
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
  std::string folder = fs::path(path).parent_path().string();
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
    auto content = text_of_file(file);
    std::error_code ignored;
    if (content)
      sources[open_file(state.shown, std::move(*content))].open = false;
    else
      state = {state.shown, 0, fs::exists(file, ignored) ? content.error().message : ""};
  }
  update_imports();
  reread_data_files();
}

std::vector<std::string> Database::outdated_files() const {
  std::vector<std::string> outdated;
  for (auto& [file, state] : files) {
    const SourceId source = state.module ? modules[state.module][0] : 0;
    if (state.module && sources[source].open) continue;
    auto now = text_of_file(file);
    const bool same = now ? state.module && *now == text(source) : !state.module;
    if (!same) outdated.push_back(state.shown);
  }
  return outdated;
}

}  // namespace quern
