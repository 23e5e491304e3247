// The sources of a session as a whole.

#include <algorithm>
#include <set>

#include "session/db/database.h"
#include "session/session.h"
#include "session/texts/module_files.h"

namespace quern {

std::vector<SourceId> Session::sources() const {
  std::set<ModuleId> files;
  for (const auto& [path, state] : db_->files) files.insert(state.module);
  std::vector<SourceId> found;
  for (SourceId id = 0; id < db_->sources.size(); ++id) {
    const Database::SourceInfo& source = db_->sources[id];
    const bool is_there = source.open || files.contains(source.module);
    if (is_there && source.module != Database::kLibrary) found.push_back(id);
  }
  return found;
}

const std::vector<SourceId>& Session::library() const { return db_->modules[Database::kLibrary]; }

bool Session::is_library(SourceId source) const { return module_of(source) == Database::kLibrary; }

bool Session::is_read_only(SourceId source) const {
  return is_library(source) || is_library_module(path(source));
}

bool Session::has_slash_names(SourceId source) const { return db_->slash_names.peek(source); }

std::optional<SourceId> Session::find_file(const std::string& path) {
  const ModuleId module = db_->look_at_file(path).module;
  return module ? std::optional(db_->modules[module][0]) : std::nullopt;
}

std::vector<std::string> Session::library_modules() { return quern::library_modules(); }
std::optional<std::string_view> Session::library_module(std::string_view path) {
  return quern::library_module(path);
}

std::optional<SourceId> Session::imported_by(DeclarationId import) const {
  for (const Import& known : db_->imports.peek(info(import).module))
    if (known.declaration == import && known.module) return db_->modules[known.module][0];
  return std::nullopt;
}

std::unique_ptr<Session> Session::with_texts(const std::map<SourceId, std::string>& texts) const {
  constexpr std::string_view kLibraryFolder = "stdlib/";
  std::vector<LibraryFile> library;
  for (const SourceId id : this->library()) {
    const Database::SourceInfo& source = db_->sources[id];
    library.push_back({source.path.substr(kLibraryFolder.size()), db_->text(id),
                       source.image ? source.image->bytes() : std::string_view()});
  }
  auto session = std::make_unique<Session>(std::move(library));
  Database& copy = *session->db_;
  while (copy.modules.size() < db_->modules.size()) copy.make_module();
  // Register every file before the first text that may import it.
  copy.files = db_->files;
  for (auto id = static_cast<SourceId>(copy.sources.size()); id < db_->sources.size(); ++id) {
    const Database::SourceInfo& source = db_->sources[id];
    copy.add_source(source.module, source.path, "", source.folder, {});
    copy.sources[id].open = source.open;
  }
  for (const SourceId id : sources()) {
    const auto other = texts.find(id);
    copy.set_text(id, other == texts.end() ? db_->text(id) : other->second);
  }
  return session;
}

}  // namespace quern
