// Bodies in chunks: the identity of chunks, and the queries of their inference.

#include <algorithm>

#include "frontend/parse/body_chunks.h"
#include "session/db/module_scope.h"

namespace quern {

namespace {

std::shared_ptr<const TopLevelVariable> holding(TopLevelVariable variable,
                                                std::shared_ptr<const void> owner) {
  struct Held {
    TopLevelVariable variable;
    std::shared_ptr<const void> owner;
  };
  auto held = std::make_shared<Held>(Held{std::move(variable), std::move(owner)});
  return {held, &held->variable};
}

}  // namespace

/// The chunks of a run, in order.
class RunSource final : public ChunkSource {
 public:
  RunSource(Database& db, DeclarationId start) : db_(db), following_(start) {}

  const Declaration* next() override {
    if (!following_) return nullptr;
    current_ = following_;
    following_ = db_.bodies.next.get(current_);
    return &db_.tree(current_);
  }
  bool at_end() override { return following_ == 0; }
  const Variable* known(uint32_t declaration, std::string_view name, Type type, bool graph) override {
    auto found = db_.bodies.variable.known({declaration, std::string(name)});
    if (!found || !*found) return nullptr;
    const Variable* variable = (*found)->variable;
    return variable->type == type && variable->graph == graph ? variable : nullptr;
  }

 private:
  Database& db_;
  DeclarationId current_ = 0, following_;
};

Tables& Bodies::tables() { return db_; }

std::vector<std::string> Bodies::names_of(DeclarationId chunk) { return bound_names(db_.tree(chunk).syntax); }

std::map<std::string, std::vector<DeclarationId>> Bodies::index_of(DeclarationId def) {
  std::map<std::string, std::vector<DeclarationId>> all;
  for (DeclarationId chunk : chunks.get(def)) {
    if (db_.engine.cancelled()) break;
    for (const std::string& name : names(chunk)) all[name].push_back(chunk);
  }
  return all;
}

std::vector<DeclarationId> Bodies::binders_of(const BodyName& key) {
  const auto& all = index(key.declaration);
  auto found = all.find(key.name);
  return found == all.end() ? std::vector<DeclarationId>() : found->second;
}

std::shared_ptr<const BodyHead> Bodies::head_of(DeclarationId def) {
  ModuleScope scope(db_, db_.declarations[def].module);
  return infer_body_head(db_.head(def), scope);
}

DeclarationId Bodies::start_of_run(DeclarationId chunk) {
  DeclarationId before = previous.get(chunk);
  if (!before) return chunk;
  DeclarationId start = run_start(before);
  const auto& in_run = run(start)->declarations;
  return std::ranges::find(in_run, chunk) != in_run.end() ? start : chunk;
}

std::shared_ptr<const BodyRun> Bodies::run_at(DeclarationId start) {
  const std::shared_ptr<const BodyHead>& of_body = head(db_.declarations[start].part_of);
  std::vector<std::shared_ptr<const TopLevelVariable>> uses;
  ModuleScope scope = ModuleScope::for_chunk(db_, start, uses);
  RunSource source(db_, start);
  auto result = std::make_shared<BodyRun>(infer_body_run(*of_body, source, scope));
  result->uses = std::move(uses);
  return result;
}

// An unchanged variable keeps its identity.
std::shared_ptr<const TopLevelVariable> Bodies::variable_of(const BodyName& key) {
  const std::shared_ptr<const BodyRun>& in = run(run_start(key.declaration));
  for (const ChunkVariable& v : in->variables) {
    if (v.declaration != key.declaration || v.variable->name != key.name) continue;
    auto before = variable.known(key);
    if (before && *before && (*before)->variable == v.variable) return *before;
    return holding({v.variable, {{v.declaration, binding_node(key.name)}, {}}}, in);
  }
  return nullptr;
}

DeclarationId Bodies::binder_before(DeclarationId chunk, const std::string& name) {
  const std::vector<DeclarationId>& all = binders({db_.declarations[chunk].part_of, name});
  auto after = std::partition_point(all.begin(), all.end(),
                                    [&](DeclarationId id) { return db_.index_of[id] < db_.index_of[chunk]; });
  return after == all.begin() ? 0 : *std::prev(after);
}

std::shared_ptr<const TopLevelVariable> Bodies::find(DeclarationId chunk, const std::string& name) {
  // A chunk that did not parse may bind fewer names than it seems to.
  for (DeclarationId at = binder_before(chunk, name); at; at = binder_before(at, name))
    if (auto found = variable({at, name})) return found;
  const std::shared_ptr<const BodyHead>& of_body = head(db_.declarations[chunk].part_of);
  for (size_t i = of_body->params.size(); i-- > 0;)
    if (of_body->params[i].variable->name == name) return {of_body, &of_body->params[i]};
  return nullptr;
}

std::vector<std::string> Bodies::names_before(DeclarationId chunk) {
  DeclarationId def = db_.declarations[chunk].part_of;
  std::vector<std::string> out;
  for (const TopLevelVariable& p : head(def)->params) out.emplace_back(p.variable->name);
  for (auto& [name, binders] : index(def))
    if (db_.index_of[binders.front()] < db_.index_of[chunk]) out.push_back(name);
  return out;
}

// Requests runs in source order, so that none is inferred within the inference of a later one.
std::optional<Inferred> Bodies::infer(DeclarationId def) {
  const std::vector<DeclarationId>& all = chunks.get(def);
  if (all.empty() || !head(def)) return std::nullopt;
  std::vector<std::shared_ptr<const BodyRun>> runs;
  for (DeclarationId chunk : all) {
    // Nothing is known of what was cancelled: each request begins anew.
    if (db_.engine.cancelled()) return std::nullopt;
    if (run_start(chunk) == chunk) runs.push_back(run(chunk));
  }
  // If the body's type is still open or it has no result, infer it as a whole.
  if (!runs.back()->closed || !runs.back()->result) return std::nullopt;
  return assemble_body(db_.head(def), *head(def), runs);
}

void Bodies::set(DeclarationId def, std::string_view text, std::optional<TextEdit> edit) {
  const auto known = in_text.find(def);
  BodyChunks cut =
      edit && known != in_text.end() ? body_chunks(text, known->second, *edit) : body_chunks(text);
  const std::vector<Range>& found = cut.ranges;
  std::vector<DeclarationId> old = chunks.peek(def);
  std::vector<PieceLook> before, after;
  for (DeclarationId id : old) before.push_back({PieceKind::Def, "", db_.piece_text.peek(id)});
  for (Range r : found) after.push_back({PieceKind::Def, "", text.substr(r.begin, r.end - r.begin)});
  std::vector<size_t> pairs = pair_pieces(before, after);
  std::vector<DeclarationId> ids;
  std::vector<bool> stays(old.size());
  for (size_t i = 0; i < after.size(); ++i) {
    if (pairs[i] == SIZE_MAX) {
      DeclarationInfo info = db_.declarations[def];
      info.part_of = def;
      ids.push_back(db_.make_declaration(std::move(info)));
    } else {
      ids.push_back(old[pairs[i]]);
      stays[pairs[i]] = true;
    }
    db_.index_of[ids.back()] = static_cast<uint32_t>(i);
  }
  for (size_t i = 0; i < after.size(); ++i)
    if (pairs[i] == SIZE_MAX || before[pairs[i]].text != after[i].text)
      db_.piece_text.set(ids[i], std::string(after[i].text));
  if (ids != old) {
    for (size_t i = 0; i < ids.size(); ++i) {
      next.set(ids[i], i + 1 < ids.size() ? ids[i + 1] : 0);
      previous.set(ids[i], i > 0 ? ids[i - 1] : 0);
    }
    chunks.set(def, ids);
  }
  std::string shell(found.empty() ? text : text.substr(0, found.front().begin));
  if (!found.empty()) shell += text.substr(found.back().end);
  db_.piece_text.set(def, std::move(shell));
  if (found.empty())
    in_text.erase(def);
  else
    in_text[def] = std::move(cut);
  for (size_t i = 0; i < old.size(); ++i)
    if (!stays[i]) db_.drop_declaration(old[i]);
}

void Bodies::drop_names(DeclarationId id) {
  if (auto bound = names.known(id))
    for (const std::string& name : *bound) variable.drop({id, name});
  if (!chunks.peek(id).empty()) binders.drop_if([&](const BodyName& key) { return key.declaration == id; });
  in_text.erase(id);
}

Range Bodies::in_whole(DeclarationId id, Range range) const {
  DeclarationId def = db_.declarations[id].part_of ? db_.declarations[id].part_of : id;
  auto found = in_text.find(def);
  if (found == in_text.end()) return range;
  const std::vector<Range>& ranges = found->second.ranges;
  uint32_t cut = ranges.front().begin, length = ranges.back().end - cut;
  if (def != id) {
    uint32_t begin = ranges[db_.index_of[id]].begin;
    return {begin + range.begin, begin + range.end};
  }
  bool after = range.begin >= cut;
  return {after ? range.begin + length : range.begin,
          after || range.end > cut ? range.end + length : range.end};
}

}  // namespace quern
