// The inputs of a session: its sources, split into declarations that keep their identity across edits.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iterator>

#include "ir/base/internal_failure.h"
#include "session/db/data_files.h"
#include "session/db/database.h"

namespace quern {

namespace {

std::string_view text_of(std::string_view text, Range range) {
  return text.substr(range.begin, range.end - range.begin);
}

// An edit of a text as one of a piece of it; nothing if it reaches beyond the piece.
std::optional<TextEdit> edit_inside(Range before, Range after, TextEdit edit) {
  const bool whole = before.begin == after.begin && edit.begin >= before.begin &&
                     edit.old_end <= before.end && after.end - edit.new_end == before.end - edit.old_end;
  if (!whole) return std::nullopt;
  return TextEdit{edit.begin - before.begin, edit.old_end - before.begin, edit.new_end - before.begin};
}

// Whether a word is in a text, by whether it was there before the edit.
bool has_word(bool had, std::string_view text, TextEdit edit, std::string_view word) {
  if (had) return text.find(word) != std::string_view::npos;
  const size_t begin = edit.begin - std::min<size_t>(edit.begin, word.size() - 1);
  return text.substr(begin, edit.new_end + word.size() - 1 - begin).find(word) != std::string_view::npos;
}

// The library's inputs never change.
template <class Space, class Value>
void put(Input<Space, Value>& input, const typename Space::Key& key, Value value, bool constant) {
  if (constant)
    input.fix(key, std::move(value));
  else
    input.set(key, std::move(value));
}

}  // namespace

ModuleId Database::make_module() {
  modules.emplace_back();
  return static_cast<ModuleId>(modules.size() - 1);
}

SourceId Database::add_source(ModuleId module, std::string path, std::string text, std::string folder,
                              std::string_view image) {
  auto id = static_cast<SourceId>(sources.size());
  sources.push_back({module, std::move(path), std::move(folder)});
  if (!image.empty()) sources[id].image.emplace(image);
  layouts.push_back(std::make_shared<Layout>());
  modules[module].push_back(id);
  set_text(id, std::move(text));
  return id;
}

// Copy on write: holders of a layout keep it unchanged.
Layout& Database::layout_to_change(SourceId source) {
  std::shared_ptr<Layout>& layout = layouts[source];
  if (layout.use_count() > 1) layout = std::make_shared<Layout>(*layout);
  return *layout;
}

void Database::set_text(SourceId source, std::string now) {
  TextEdit edit = edit_between(text(source), now);
  set_text(source, std::make_shared<const std::string>(std::move(now)), edit);
}

void Database::set_text(SourceId source, std::shared_ptr<const std::string> text, TextEdit edit) {
  Stage stage("text");
  // Before any change: a computation on a text must not see it change.
  QUERN_CHECK(engine.idle());
  if (this->text(source) == *text) return;
  read_ahead.reset();
  Layout& layout = layout_to_change(source);
  std::shared_ptr<const std::string> old_text = std::exchange(layout.text, std::move(text));
  const std::optional<TextImage>& image = sources[source].image;
  Rescan same;
  if (image)
    layout.scan = image->scan();
  else
    same = rescan(layout.scan, *layout.text, edit);
  put(slash_names, source, layout.scan.slash_names, sources[source].module == kLibrary);
  put(header_version, source, layout.scan.tvm, sources[source].module == kLibrary);
  std::vector<DeclarationId> old_ids = std::exchange(layout.ids, {});
  take_pieces(source, same, *old_text, edit, old_ids);
  set_metadata(source, edit);
  follow_imports(source);
}

void Database::set_metadata(SourceId source, TextEdit edit) {
  Layout& layout = *layouts[source];
  const bool constant = sources[source].module == kLibrary;
  Range range = layout.scan.metadata;
  std::string_view now = std::string_view(*layout.text).substr(range.begin, range.end - range.begin);
  if (metadata_text.peek(source) != now) put(metadata_text, source, std::string(now), constant);
  layout.names_constants = has_word(layout.names_constants, *layout.text, edit, "relay.Constant");
  const std::filesystem::path path(sources[source].path);
  put(constants_path, source,
      now.empty() && layout.names_constants
          ? (std::filesystem::path(sources[source].folder) / constants_file(path.filename().string()))
                .string()
          : std::string(),
      constant);
}

// Assigns declarations to the layout's pieces: around the edit by appearance, elsewhere as before.
void Database::take_pieces(SourceId source, const Rescan& same, std::string_view old_text, TextEdit edit,
                           const std::vector<DeclarationId>& old_ids) {
  Layout& layout = *layouts[source];
  ModuleId module = sources[source].module;
  size_t begin = same.same_at_start, end = layout.scan.pieces.size() - same.same_at_end;
  auto tail = old_ids.end() - static_cast<std::ptrdiff_t>(same.same_at_end);
  std::vector<PieceLook> before, after;
  for (const Piece& p : same.replaced) before.push_back({p.kind, p.name, text_of(old_text, p.range)});
  for (size_t i = begin; i < end; ++i) {
    const Piece& p = layout.scan.pieces[i];
    after.push_back({p.kind, p.name, text_of(*layout.text, p.range)});
  }
  std::vector<size_t> pairs = pair_pieces(before, after);

  std::vector<ModuleNames::Declared> removed, added;
  auto entry = [&](std::vector<ModuleNames::Declared>& list, DeclarationId id) {
    const DeclarationInfo& about = declarations[id];
    for (DeclaredName& name : declared_names(about.module, about.kind, about.name))
      list.emplace_back(std::move(name), id);
  };
  layout.ids.reserve(layout.scan.pieces.size());
  layout.ids.assign(old_ids.begin(), old_ids.begin() + static_cast<std::ptrdiff_t>(begin));
  std::vector<bool> stays(before.size());
  bool any_new = false;
  for (size_t i = 0; i < after.size(); ++i) {
    bool is_new = pairs[i] == SIZE_MAX;
    layout.ids.push_back(is_new
                             ? make_declaration({source, module, after[i].kind, std::string(after[i].name)})
                             : old_ids[begin + pairs[i]]);
    any_new |= is_new;
    if (is_new) {
      entry(added, layout.ids.back());
      make_due(layout.ids.back());
    } else {
      stays[pairs[i]] = true;
    }
  }
  layout.ids.insert(layout.ids.end(), tail, old_ids.end());
  std::vector<DeclarationId> gone;
  for (size_t i = 0; i < before.size(); ++i)
    if (!stays[i]) gone.push_back(old_ids[begin + i]);
  for (DeclarationId id : gone) {
    entry(removed, id);
    index_of[id] = kGone;
  }
  if (!gone.empty() || !added.empty() || layout.ids.size() != old_ids.size())
    for (size_t i = begin; i < layout.ids.size(); ++i) index_of[layout.ids[i]] = static_cast<uint32_t>(i);
  for (size_t i = 0; i < after.size(); ++i)
    if (pairs[i] == SIZE_MAX)
      set_piece(layout.ids[begin + i], after[i].text, std::nullopt);
    else if (before[pairs[i]].text != after[i].text)
      set_piece(layout.ids[begin + i], after[i].text,
                edit_inside(same.replaced[pairs[i]].range, layout.scan.pieces[begin + i].range, edit));
  names.update(module, removed, added, [this](DeclarationId a, DeclarationId b) { return is_before(a, b); });
  for (DeclarationId id : gone) drop_declaration(id);
  if (any_new || !gone.empty()) put(pieces, module, pieces.peek(module) + 1, module == kLibrary);
  if (removed.empty() && added.empty()) return;
  layout.duplicates.clear();
  for (DeclarationId id : layout.ids)
    if (DeclarationId first = first_of_name(id); first != id) layout.duplicates.emplace(id, first);
}

void Database::set_piece(DeclarationId id, std::string_view text, std::optional<TextEdit> edit) {
  const DeclarationInfo& about = declarations[id];
  if (about.module == kLibrary) return;
  if (about.kind == PieceKind::Def)
    bodies.set(id, text, edit);
  else
    piece_text.set(id, std::string(text));
}

std::string_view Database::text_of_declaration(DeclarationId id) {
  const DeclarationInfo& about = declarations[id];
  if (about.module != kLibrary) return piece_text.get(id);
  return text_of(*layouts[about.source]->text, piece_of(id)->range);
}

DeclarationId Database::make_declaration(DeclarationInfo info) {
  index_of.push_back(0);
  return declarations.add(std::move(info));
}

void Database::drop_declaration(DeclarationId id) {
  for (DeclarationId chunk : std::vector(bodies.chunks.peek(id))) drop_declaration(chunk);
  index_of[id] = kGone;
  bodies.drop_names(id);
  drop<ByDeclaration>(id);
  const DeclarationInfo& about = declarations[id];
  if (const auto last = last_checks_.find(about.source); last != last_checks_.end()) {
    last->second.due.erase(id);
    last->second.reported.erase(id);
  }
  if (about.kind == PieceKind::Op || about.kind == PieceKind::Def) {
    const auto is_of_it = [&](const InstanceKey& key) { return key.request.declaration == id; };
    instance.drop_if(is_of_it);
    late_instance.drop_if(is_of_it);
    specialised.drop_if(is_of_it);
  }
  const ModuleId module = about.module;
  const std::vector<DeclaredName> declared = declared_names(module, about.kind, about.name);
  declarations.remove(id);
  for (const DeclaredName& name : declared) {
    if (!names.peek(name).empty()) continue;
    NameKey key{module, name.name};
    if (name.table == NameTable::Globals) drop<ByDefinition>(key);
    if (name.table == NameTable::Types) drop<ByType>(key);
  }
}

const Piece* Database::piece_of(DeclarationId id) const {
  if (id != 0 && declarations[id].part_of) id = declarations[id].part_of;
  if (id == 0 || index_of[id] == kGone) return nullptr;
  return &layouts[declarations[id].source]->scan.pieces[index_of[id]];
}

DeclarationId Database::first_of_name(DeclarationId id) const {
  const DeclarationInfo& about = declarations[id];
  const std::vector<DeclaredName> declared = declared_names(about.module, about.kind, about.name);
  // For statements, only those that bind a graph variable (whose name is a number): any other binding may be
  // shadowed.
  bool shadows =
      about.kind == PieceKind::Statement && !std::isdigit(static_cast<unsigned char>(about.name[0]));
  if (declared.size() != 1 || shadows) return id;
  for (DeclarationId other : names.peek(declared[0]))
    if (declarations[other].source == about.source && declarations[other].kind == about.kind) return other;
  return id;
}

bool Database::is_before(DeclarationId a, DeclarationId b) const {
  SourceId in_a = declarations[a].source, in_b = declarations[b].source;
  // Sources are only added at the end of a module.
  return in_a == in_b ? index_of[a] < index_of[b] : in_a < in_b;
}

std::vector<DeclarationId> Database::all_of(ModuleId module, PieceKind kind) const {
  std::vector<DeclarationId> list;
  for (SourceId source : modules[module])
    std::ranges::copy(all_of_source(source, kind), std::back_inserter(list));
  return list;
}

std::vector<DeclarationId> Database::all_of_source(SourceId source, PieceKind kind) const {
  std::vector<DeclarationId> list;
  for (DeclarationId id : layouts[source]->ids)
    if (declarations[id].kind == kind) list.push_back(id);
  return list;
}

}  // namespace quern
