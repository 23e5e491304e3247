#include "session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "frontend/text/format_string.h"
#include "session/db/database.h"
#include "session/texts/embedded.h"

namespace quern {

Session::Session(std::vector<LibraryFile> library) : db_(std::make_unique<Database>()) {
  ModuleId module = make_module();
  for (LibraryFile& file : library)
    db_->add_source(module, "stdlib/" + file.name, std::move(file.text), "", file.image);
}
Session::~Session() = default;

// --- inputs

ModuleId Session::make_module() { return db_->make_module(); }

SourceId Session::add_source(ModuleId module, std::string path, std::string text, std::string folder) {
  return db_->add_source(module, std::move(path), std::move(text), std::move(folder), {});
}

void Session::set_text(SourceId source, std::string text) { db_->set_text(source, std::move(text)); }

void Session::edit(SourceId source, Range range, std::string_view text) {
  const std::string& before = db_->text(source);
  range.begin = std::min(range.begin, static_cast<uint32_t>(before.size()));
  range.end = std::clamp(range.end, range.begin, static_cast<uint32_t>(before.size()));
  std::string after;
  after.reserve(before.size() + text.size());
  after.append(before, 0, range.begin).append(text).append(before, range.end);
  db_->set_text(source, std::make_shared<const std::string>(std::move(after)),
                {range.begin, range.end, range.begin + static_cast<uint32_t>(text.size())});
}

void Session::remove_last_source(ModuleId module) {
  std::vector<SourceId>& list = db_->modules[module];
  if (list.empty()) return;
  set_text(list.back(), "");
  list.pop_back();
}

SourceId Session::open_file(std::string path, std::string text) {
  return db_->open_file(std::move(path), std::move(text));
}

void Session::close_file(SourceId source) {
  db_->sources[source].open = false;
  reread_files();
}

void Session::reread_files() { db_->reread_files(); }
void Session::reread_data_files() { db_->reread_data_files(); }
std::vector<std::string> Session::data_files() const { return db_->data_file.keys(); }
std::vector<std::string> Session::outdated_files() { return db_->outdated_files(); }

const std::string& Session::text(SourceId source) { return db_->text(source); }
std::optional<SourceId> Session::find_source(std::string_view path) const {
  for (size_t id = db_->sources.size(); id-- > 0;)
    if (db_->sources[id].path == path) return static_cast<SourceId>(id);
  return std::nullopt;
}
const std::string& Session::folder(SourceId source) const { return db_->sources[source].folder; }

// --- contents of a module

std::vector<Session::LibraryFile> Session::builtin_library() {
  std::vector<LibraryFile> files;
  const std::span<const std::string_view> images = embedded_images();
  for (const EmbeddedFile& f : embedded_stdlib())
    files.push_back({std::string(f.name), std::string(f.text), images[files.size()]});
  return files;
}

std::vector<DeclarationId> Session::statements(SourceId source) {
  return db_->all_of_source(source, PieceKind::Statement);
}
std::vector<DeclarationId> Session::tests(SourceId source) {
  return db_->all_of_source(source, PieceKind::Test);
}
ModuleId Session::module_of(SourceId source) const { return db_->sources[source].module; }

std::vector<DeclarationId> Session::statements_of_module(ModuleId module) {
  return db_->all_of(module, PieceKind::Statement);
}

const std::vector<DeclarationId>& Session::declarations(SourceId source) const {
  return db_->layouts[source]->ids;
}

const DeclarationInfo& Session::info(DeclarationId declaration) const {
  return db_->declarations[declaration];
}

namespace {

// The bytes of a node that a part covers; `text` is the whole source.
Range part_of(Range whole, Part part, uint32_t length, std::string_view text) {
  switch (part) {
    case Part::Whole: return whole;
    case Part::Head: return {whole.begin, std::min(whole.end, whole.begin + length)};
    case Part::Tail: return {whole.end - std::min(length, whole.end - whole.begin), whole.end};
    case Part::Before: return {whole.begin, whole.begin};
    case Part::After: return {whole.end, whole.end};
    case Part::BeforeOpen: {
      size_t open = text.substr(0, whole.begin).find_last_of("([{");
      uint32_t at = open == std::string_view::npos ? whole.begin : static_cast<uint32_t>(open);
      return {at, at};
    }
    case Part::Bracketed: {
      size_t open = text.substr(0, whole.begin).find_last_of("([{"),
             close = text.find_first_of(")]}", whole.end);
      if (open == std::string_view::npos || close == std::string_view::npos) return whole;
      return {static_cast<uint32_t>(open), static_cast<uint32_t>(close + 1)};
    }
  }
  return whole;
}

bool is_in_format_string(SyntaxPtr s, uint32_t node) {
  if (!s) return false;
  if (s->is(SyntaxKind::FormatString)) return find_node(s, node) != nullptr;
  return std::ranges::any_of(s->children, [&](SyntaxPtr c) { return is_in_format_string(c, node); });
}

}  // namespace

bool Session::in_library(DeclarationId declaration) const {
  return info(declaration).module == Database::kLibrary;
}

Range Session::range_of(const Place& place) {
  DeclarationId id = place.origin.declaration;
  const Piece* piece = db_->piece_of(id);
  if (!piece) return {};
  const std::vector<Range>& spans = db_->parsed(id).spans;
  uint32_t node = place.origin.node;
  if (SyntaxPtr binding = find_binding(tree_root(id), node)) node = binding->id;
  Range local = db_->bodies.in_whole(id, place.range ? *place.range : spans[node < spans.size() ? node : 0]);
  // A chunk may end an unclosed body.
  Range whole{std::min(piece->range.begin + local.begin, piece->range.end),
              std::min(piece->range.begin + local.end, piece->range.end)};
  return part_of(whole, place.part, place.length, text(info(id).source));
}

LocatedFix Session::locate(const Fix& fix, SourceId source) {
  LocatedFix located{fix.title, {}};
  for (const Edit& edit : fix.edits) {
    if (info(edit.place.origin.declaration).source != source) return {};
    // Problems of texts have ranges, and their fixes are already written for them.
    const bool in_string = !edit.place.range && is_in_format_string(tree_root(edit.place.origin.declaration),
                                                                    edit.place.origin.node);
    located.edits.emplace_back(range_of(edit.place), in_string ? as_in_string(edit.text) : edit.text);
  }
  std::sort(located.edits.begin(), located.edits.end(),
            [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
  return located;
}

LocatedDiagnostic Session::locate(const Diagnostic& d) {
  SourceId source = info(d.place.origin.declaration).source;
  LocatedDiagnostic located{d.kind, db_->sources[source].path, text(source), range_of(d.place), d.message,
                            {}};
  for (const Note& note : d.notes) {
    if (!note.place || !note.place->origin.declaration) {
      located.notes.push_back({"", {}, {}, note.message});
      continue;
    }
    SourceId where = info(note.place->origin.declaration).source;
    // A note at the diagnostic's own place would show the same line twice.
    if (where == source && range_of(*note.place) == located.range) continue;
    located.notes.push_back({db_->sources[where].path, text(where), range_of(*note.place), note.message});
  }
  for (const Fix& fix : d.fixes)
    if (LocatedFix f = locate(fix, source); !f.edits.empty()) located.fixes.push_back(std::move(f));
  return located;
}

// For problems of the scanner: places are in the file itself.
LocatedDiagnostic Session::locate(const SyntaxProblem& problem, SourceId source) {
  const std::string& path = db_->sources[source].path;
  LocatedDiagnostic located{problem.kind, path, text(source), problem.range, problem.message};
  for (const Note& note : problem.notes) {
    if (note.place)
      located.notes.push_back({path, text(source), *note.place->range, note.message});
    else
      located.notes.push_back({"", {}, {}, note.message});
  }
  for (const Fix& fix : problem.fixes) {
    LocatedFix f{fix.title, {}};
    for (const Edit& edit : fix.edits) f.edits.emplace_back(*edit.place.range, edit.text);
    located.fixes.push_back(std::move(f));
  }
  return located;
}

std::vector<std::pair<DeclarationId, ParsedTree>> Session::trees(SourceId source) {
  std::vector<std::pair<DeclarationId, ParsedTree>> result;
  const Layout& layout = *db_->layouts[source];
  for (DeclarationId id : layout.ids) {
    if (db_->bodies.chunks.peek(id).empty()) {
      result.emplace_back(id, db_->parsed(id).tree);
      continue;
    }
    Range range = db_->piece_of(id)->range;
    std::string_view whole = std::string_view(*layout.text).substr(range.begin, range.end - range.begin);
    result.emplace_back(id, parse_declaration(whole, layout.scan.slash_names).tree);
  }
  return result;
}

const Inferred& Session::inferred_statement(DeclarationId statement) { return db_->statement(statement); }

void Session::keep(DeclarationId statement) {
  StatementVariables variables = db_->variables(statement);
  QUERN_CHECK(db_->engine.idle());
  db_->kept.set(statement, std::move(variables));
}

void Session::release(SourceId source) {
  QUERN_CHECK(db_->engine.idle());
  for (DeclarationId statement : statements(source))
    if (!db_->kept.peek(statement).empty()) db_->kept.set(statement, {});
}

const StatementVariables& Session::statement_variables(DeclarationId statement) {
  return db_->variables(statement);
}

const Definition* Session::definition(ModuleId module, std::string_view name) {
  return db_->definition(module, name);
}

FunctionSource& Session::functions() { return db_->functions; }

const DotIntrinsics& Session::dot_intrinsics() { return db_->dot_intrinsics(Database::kLibrary); }

const Scheme* Session::scheme(ModuleId module, std::string_view name) {
  DeclarationId id = find_definition(module, name);
  if (!id) return nullptr;
  const auto& known = db_->scheme(db_->key_of(id));
  return known ? &*known : nullptr;
}

std::vector<DeclarationId> Session::reached_definitions(DeclarationId declaration) {
  std::vector<DeclarationId> reached{declaration};
  std::unordered_set<DeclarationId> known{declaration};
  for (size_t i = 0; i < reached.size(); ++i)
    for (const std::string& name : db_->references(reached[i])) {
      DeclarationId callee = db_->find(info(reached[i]).module, NameTable::Globals, name);
      if (callee && !in_library(callee) && known.insert(callee).second) reached.push_back(callee);
    }
  reached.erase(reached.begin());
  return reached;
}

const DataDefinition* Session::data(ModuleId module, Type type) { return db_->data_of(module, type); }

std::vector<std::string> Session::definitions(ModuleId module) {
  std::vector<std::string> list;
  db_->names.for_each(module, NameTable::Globals, [&](const std::string& name) { list.push_back(name); });
  std::sort(list.begin(), list.end());
  return list;
}

void Session::leave_out(std::vector<std::string> passes) {
  db_->left_out.set(Database::kLibrary, std::move(passes));
}

void Session::set_devices(std::vector<std::string> names) {
  db_->devices.set(Database::kLibrary, std::move(names));
}

const std::vector<std::string>& Session::left_out() { return db_->left_out.get(Database::kLibrary); }

const Optimised& Session::optimised(ModuleId module, std::string_view name) {
  return db_->optimised({module, std::string(name)});
}

bool Session::is_optimised(ModuleId module, std::string_view name) const {
  return db_->optimised.is_current({module, std::string(name)});
}

std::shared_ptr<const Program> Session::program(ModuleId module, std::string_view name) {
  return db_->program({module, std::string(name)});
}

Series& Session::request_variables() { return db_->request_variables; }

uint64_t Session::times_computed(const std::string& query) const {
  auto it = db_->engine.computed.find(query);
  return it == db_->engine.computed.end() ? 0 : it->second;
}

}  // namespace quern
