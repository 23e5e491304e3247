// The inputs of a session: its sources, cut into declarations that keep their identity from text to text.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>

#include "ir/io/data_files.h"
#include "session/session_impl.h"

namespace quern {

namespace {

std::string_view text_of(std::string_view text, Range range) {
  return text.substr(range.begin, range.end - range.begin);
}

// The library's inputs never change.
template <class Key, class Value>
void put(Input<Key, Value>& input, Key key, Value value, bool constant) {
  if (constant)
    input.fix(key, std::move(value));
  else
    input.set(key, std::move(value));
}

}  // namespace

static std::shared_ptr<const Metadata> read_constants_beside(const std::string& folder,
                                                             const std::string& path) {
  namespace fs = std::filesystem;
  fs::path file = fs::path(folder) / constants_file(fs::path(path).filename().string());
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return nullptr;
  auto entries = read_tensors(file.string());
  if (!entries) return nullptr;
  Metadata metadata;
  metadata.readable = true;
  auto& constants = metadata.entries["relay.Constant"];
  std::map<std::string, TensorPtr> by_name;
  for (const auto& [name, tensor] : *entries) {
    const size_t colon = name.find(':');
    auto vector = colon == std::string::npos ? std::nullopt : parse_dtype(name.substr(colon + 1));
    by_name.emplace(name.substr(0, colon), vector ? HostTensor::vectors_of(tensor, *vector) : tensor);
  }
  auto entry_of_next = [&] { return by_name.find(constant_entry(constants.size(), DType())); };
  for (auto found = entry_of_next(); found != by_name.end() && found->second; found = entry_of_next())
    constants.push_back({found->second, {}});
  return std::make_shared<Metadata>(std::move(metadata));
}

std::string constants_file(const std::string& text_file) {
  return std::filesystem::path(text_file).replace_extension(".safetensors").string();
}
std::string constant_entry(size_t k, DType dtype) {
  return "relay.Constant." + std::to_string(k) + (dtype.is_vector() ? ":" + to_string(dtype) : "");
}

Session::Impl::FileStamp Session::Impl::stamp_of(const std::string& path) {
  std::error_code error;
  const auto written = std::filesystem::last_write_time(path, error);
  if (error) return std::nullopt;
  const auto size = std::filesystem::file_size(path, error);
  return std::pair(written, error ? 0 : size);
}

void Session::reread_data_files() {
  for (auto& [path, stamp] : impl_->data_files)
    if (Impl::FileStamp now = Impl::stamp_of(path); now != stamp) {
      stamp = now;
      impl_->data_file_changes.set(path, impl_->data_file_changes.peek(path) + 1);
    }
}

ModuleId Session::make_module() {
  impl_->modules.emplace_back();
  return static_cast<ModuleId>(impl_->modules.size() - 1);
}

SourceId Session::add_source(ModuleId module, std::string path, std::string text, std::string folder) {
  auto id = static_cast<SourceId>(impl_->sources.size());
  impl_->sources.push_back({module, std::move(path), std::move(folder)});
  impl_->layouts.emplace_back();
  impl_->modules[module].push_back(id);
  set_text(id, std::move(text));
  return id;
}

void Session::set_text(SourceId source, std::string text) {
  TextEdit edit = edit_between(*impl_->layouts[source].text, text);
  impl_->set_text(source, std::make_shared<const std::string>(std::move(text)), edit);
}

void Session::edit(SourceId source, Range range, std::string_view text) {
  const std::string& before = *impl_->layouts[source].text;
  range.begin = std::min(range.begin, static_cast<uint32_t>(before.size()));
  range.end = std::clamp(range.end, range.begin, static_cast<uint32_t>(before.size()));
  std::string after;
  after.reserve(before.size() + text.size());
  after.append(before, 0, range.begin).append(text).append(before, range.end);
  impl_->set_text(source, std::make_shared<const std::string>(std::move(after)),
                  {range.begin, range.end, range.begin + static_cast<uint32_t>(text.size())});
}

void Session::remove_last_source(ModuleId module) {
  std::vector<SourceId>& list = impl_->modules[module];
  if (list.empty()) return;
  set_text(list.back(), "");
  list.pop_back();
}

const std::string& Session::text(SourceId source) { return *impl_->layouts[source].text; }
const std::string& Session::folder(SourceId source) const { return impl_->sources[source].folder; }

void Session::Impl::set_text(SourceId source, std::shared_ptr<const std::string> text, TextEdit edit) {
  Stage stage("text");
  // Before anything is changed: what is computed of a text is not to see it change.
  QUERN_CHECK(engine.idle());
  Layout& layout = layouts[source];
  if (*layout.text == *text) return;
  std::shared_ptr<const std::string> old_text = std::exchange(layout.text, std::move(text));
  Rescan same = rescan(layout.scan, *layout.text, edit);
  put(slash_names, source, layout.scan.slash_names, sources[source].module == kLibrary);
  put(header_version, source, layout.scan.tvm, sources[source].module == kLibrary);
  std::vector<DeclarationId> old_ids = std::exchange(layout.ids, {});
  take_pieces(source, same, *old_text, old_ids);
  set_metadata(source);
  follow_imports(source);
}

void Session::Impl::set_metadata(SourceId source) {
  const Layout& layout = layouts[source];
  Range range = layout.scan.metadata;
  std::string_view now = std::string_view(*layout.text).substr(range.begin, range.end - range.begin);
  if (metadata_text.peek(source) != now)
    put(metadata_text, source, std::string(now), sources[source].module == kLibrary);
  bool names_constants = now.empty() && layout.text->find("relay.Constant") != std::string::npos;
  if (names_constants && !constants_beside.peek(source))
    if (auto found = read_constants_beside(sources[source].folder, sources[source].path))
      put(constants_beside, source, found, false);
}

// Gives the pieces of the layout their declarations: those around the edit by what they look like, the others
// as they were.
void Session::Impl::take_pieces(SourceId source, const Rescan& same, std::string_view old_text,
                                const std::vector<DeclarationId>& old_ids) {
  Layout& layout = layouts[source];
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
    if (auto name = declared_name(about.module, about.kind, about.name)) list.emplace_back(*name, id);
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
    if (is_new)
      entry(added, layout.ids.back());
    else
      stays[pairs[i]] = true;
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
    if (pairs[i] == SIZE_MAX || before[pairs[i]].text != after[i].text)
      set_piece(layout.ids[begin + i], after[i].text);
  names.update(module, removed, added, [this](DeclarationId a, DeclarationId b) { return is_before(a, b); });
  for (DeclarationId id : gone) drop_declaration(id);
  if (any_new || !gone.empty()) put(pieces, module, pieces.peek(module) + 1, module == kLibrary);
  if (removed.empty() && added.empty()) return;
  layout.duplicates.clear();
  for (DeclarationId id : layout.ids)
    if (DeclarationId first = first_of_name(id); first != id) layout.duplicates.emplace(id, first);
}

void Session::Impl::set_piece(DeclarationId id, std::string_view text) {
  const DeclarationInfo& about = declarations[id];
  if (about.kind == PieceKind::Def && about.module != kLibrary)
    bodies.set(id, text);
  else
    put(piece_text, id, std::string(text), about.module == kLibrary);
}

DeclarationId Session::Impl::make_declaration(DeclarationInfo info) {
  declarations.push_back(std::move(info));
  index_of.push_back(0);
  return static_cast<DeclarationId>(declarations.size() - 1);
}

void Session::Impl::drop_declaration(DeclarationId id) {
  for (DeclarationId chunk : std::vector(bodies.chunks.peek(id))) drop_declaration(chunk);
  bodies.drop(id);
  piece_text.drop(id);
  kept.drop(id);
  parsed.drop(id);
  parses.drop(id);
  tree.drop(id);
  head.drop(id);
  references.drop(id);
  statement.drop(id);
  variable.drop(id);
  operator_check.drop(id);
  form.drop(id);
  declaration_diagnostics.drop(id);
  const DeclarationInfo& about = declarations[id];
  auto name = declared_name(about.module, about.kind, about.name);
  declarations[id].name = {};
  if (!name || !names.peek(*name).empty()) return;
  NameKey key{about.module, name->name};
  if (name->table == NameTable::Globals) {
    annotated.drop(key);
    group.drop(key);
    group_inferred.drop(key);
    scheme.drop(key);
    optimised.drop(key);
    program.drop(key);
  }
  if (name->table == NameTable::Types) {
    data_header.drop(key);
    data.drop(key);
  }
}

const Piece* Session::Impl::piece_of(DeclarationId id) const {
  if (id != 0 && declarations[id].part_of) id = declarations[id].part_of;
  if (id == 0 || index_of[id] == kGone) return nullptr;
  return &layouts[declarations[id].source].scan.pieces[index_of[id]];
}

DeclarationId Session::Impl::first_of_name(DeclarationId id) const {
  const DeclarationInfo& about = declarations[id];
  auto name = declared_name(about.module, about.kind, about.name);
  // Of statements, those that bind a graph variable (its name is a number): any other binding may be
  // shadowed.
  bool shadows =
      about.kind == PieceKind::Statement && !std::isdigit(static_cast<unsigned char>(about.name[0]));
  if (!name || shadows) return id;
  for (DeclarationId other : names.peek(*name))
    if (declarations[other].source == about.source && declarations[other].kind == about.kind) return other;
  return id;
}

bool Session::Impl::is_before(DeclarationId a, DeclarationId b) const {
  SourceId in_a = declarations[a].source, in_b = declarations[b].source;
  // A module's sources are added at its end alone.
  return in_a == in_b ? index_of[a] < index_of[b] : in_a < in_b;
}

std::vector<DeclarationId> Session::Impl::all_of(ModuleId module, PieceKind kind) const {
  std::vector<DeclarationId> list;
  for (SourceId source : modules[module])
    for (DeclarationId id : layouts[source].ids)
      if (declarations[id].kind == kind) list.push_back(id);
  return list;
}

}  // namespace quern
