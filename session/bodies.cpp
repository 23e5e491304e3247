// Bodies in chunks: which chunk is which, and the queries of their inference.

#include <algorithm>

#include "frontend/parse/body_chunks.h"
#include "session/session_impl.h"

namespace quern {

namespace {

std::shared_ptr<const TopLevelVariable> holding(TopLevelVariable variable,
                                                std::shared_ptr<const void> owner) {
  struct Held {
    TopLevelVariable variable;
    std::shared_ptr<const void> owner;
  };
  auto held = std::make_shared<Held>(Held{variable, std::move(owner)});
  return {held, &held->variable};
}

}  // namespace

/// The chunks of a run, one after the other.
class RunSource final : public ChunkSource {
 public:
  RunSource(Session::Impl& impl, DeclarationId start) : impl_(impl), following_(start) {}

  const Declaration* next() override {
    if (!following_) return nullptr;
    current_ = following_;
    following_ = impl_.bodies.next.get(current_);
    return &impl_.tree(current_);
  }
  bool at_end() override { return following_ == 0; }
  const Variable* known(uint32_t declaration, std::string_view name, Type type, bool graph) override {
    auto found = impl_.bodies.known(declaration, std::string(name));
    if (!found) return nullptr;
    const Variable* variable = found->variable;
    return variable->type == type && variable->graph == graph ? variable : nullptr;
  }

 private:
  Session::Impl& impl_;
  DeclarationId current_ = 0, following_;
};

Session::Bodies::Bodies(Impl& impl, QueryEngine& engine)
    : chunks(engine),
      next(engine),
      previous(engine),
      names(
          engine, "chunk_names",
          [this](DeclarationId chunk) { return bound_names(impl_.tree(chunk).syntax); }, std::equal_to<>()),
      index(
          engine, "body_index",
          [this](DeclarationId def) {
            std::map<std::string, std::vector<DeclarationId>> all;
            for (DeclarationId chunk : chunks.get(def))
              for (const std::string& name : names(chunk)) all[name].push_back(chunk);
            return all;
          },
          std::equal_to<>()),
      binders(
          engine, "binders",
          [this](const BodyName& k) -> std::vector<DeclarationId> {
            const auto& all = index(k.declaration);
            auto found = all.find(k.name);
            return found == all.end() ? std::vector<DeclarationId>() : found->second;
          },
          std::equal_to<>()),
      head(engine, "body_head",
           [this](DeclarationId def) {
             ModuleScope scope(impl_, impl_.declarations[def].module);
             return infer_body_head(impl_.head(def), scope);
           }),
      run(engine, "infer_chunk", [this](DeclarationId start) { return compute_run(start); }),
      run_start(
          engine, "run_start",
          [this](DeclarationId chunk) -> DeclarationId {
            DeclarationId before = previous.get(chunk);
            if (!before) return chunk;
            DeclarationId start = run_start(before);
            const auto& in_run = run(start)->declarations;
            return std::find(in_run.begin(), in_run.end(), chunk) != in_run.end() ? start : chunk;
          },
          std::equal_to<>()),
      variable(
          engine, "chunk_variable", [this](const BodyName& k) { return compute_variable(k); },
          std::equal_to<>()),
      impl_(impl) {}

std::shared_ptr<const BodyRun> Session::Bodies::compute_run(DeclarationId start) {
  DeclarationId def = impl_.declarations[start].part_of;
  const std::shared_ptr<const BodyHead>& of_body = head(def);
  std::vector<std::shared_ptr<const TopLevelVariable>> uses;
  ModuleScope scope = ModuleScope::for_chunk(impl_, start, uses);
  RunSource source(impl_, start);
  auto result = std::make_shared<BodyRun>(infer_body_run(*of_body, source, scope));
  result->uses = std::move(uses);
  if (impl_.engine.latched()) return result;
  for (const ChunkVariable& v : result->variables) {
    auto& last = known_[v.declaration][std::string(v.variable->name)];
    if (last && last->variable == v.variable) continue;
    last = holding({v.variable, {{v.declaration, binding_node(v.variable->name)}, {}}}, result->arena);
  }
  return result;
}

std::shared_ptr<const TopLevelVariable> Session::Bodies::known(DeclarationId chunk,
                                                               const std::string& name) const {
  auto of_chunk = known_.find(chunk);
  if (of_chunk == known_.end()) return nullptr;
  auto found = of_chunk->second.find(name);
  return found == of_chunk->second.end() ? nullptr : found->second;
}

std::shared_ptr<const TopLevelVariable> Session::Bodies::compute_variable(const BodyName& key) {
  const std::shared_ptr<const BodyRun>& in = run(run_start(key.declaration));
  for (const ChunkVariable& v : in->variables) {
    if (v.declaration != key.declaration || v.variable->name != key.name) continue;
    auto found = known(key.declaration, key.name);
    if (found && found->variable == v.variable) return found;
    return holding({v.variable, {{v.declaration, binding_node(key.name)}, {}}}, in);
  }
  return nullptr;
}

std::shared_ptr<const TopLevelVariable> Session::Bodies::find(DeclarationId chunk, const std::string& name) {
  DeclarationId def = impl_.declarations[chunk].part_of;
  const std::vector<DeclarationId>& all = binders({def, name});
  auto after = std::partition_point(
      all.begin(), all.end(), [&](DeclarationId id) { return impl_.index_of[id] < impl_.index_of[chunk]; });
  // A chunk that did not parse may bind less than it seems to.
  while (after != all.begin())
    if (auto found = variable({*--after, name})) return found;
  const std::shared_ptr<const BodyHead>& of_body = head(def);
  for (size_t i = of_body->params.size(); i-- > 0;)
    if (of_body->params[i].variable->name == name) return {of_body, &of_body->params[i]};
  return nullptr;
}

std::vector<std::string> Session::Bodies::names_before(DeclarationId chunk) {
  DeclarationId def = impl_.declarations[chunk].part_of;
  std::vector<std::string> out;
  for (const TopLevelVariable& p : head(def)->params) out.emplace_back(p.variable->name);
  for (auto& [name, binders] : index(def))
    if (impl_.index_of[binders.front()] < impl_.index_of[chunk]) out.push_back(name);
  return out;
}

// Runs are asked for in the order of the text, so that none is inferred inside the inference of a later one.
std::optional<Inferred> Session::Bodies::infer(DeclarationId def) {
  const std::vector<DeclarationId>& all = chunks.get(def);
  if (all.empty() || !head(def)) return std::nullopt;
  std::vector<std::shared_ptr<const BodyRun>> runs;
  for (DeclarationId chunk : all)
    if (run_start(chunk) == chunk) runs.push_back(run(chunk));
  // A later chunk in the first run of a body: it is inferred as a whole anyway.
  if (!runs.back()->closed || !runs.back()->result) return std::nullopt;
  return assemble_body(impl_.head(def), *head(def), runs);
}

void Session::Bodies::set(DeclarationId def, std::string_view text) {
  std::vector<Range> found = body_chunks(text);
  std::vector<DeclarationId> old = chunks.peek(def);
  std::vector<PieceLook> before, after;
  for (DeclarationId id : old) before.push_back({PieceKind::Def, "", impl_.piece_text.peek(id)});
  for (Range r : found) after.push_back({PieceKind::Def, "", text.substr(r.begin, r.end - r.begin)});
  std::vector<size_t> pairs = pair_pieces(before, after);
  std::vector<DeclarationId> ids;
  std::vector<bool> stays(old.size());
  for (size_t i = 0; i < after.size(); ++i) {
    if (pairs[i] == SIZE_MAX) {
      DeclarationInfo info = impl_.declarations[def];
      info.part_of = def;
      ids.push_back(impl_.make_declaration(std::move(info)));
    } else {
      ids.push_back(old[pairs[i]]);
      stays[pairs[i]] = true;
    }
    impl_.index_of[ids.back()] = static_cast<uint32_t>(i);
  }
  for (size_t i = 0; i < after.size(); ++i)
    if (pairs[i] == SIZE_MAX || before[pairs[i]].text != after[i].text)
      impl_.piece_text.set(ids[i], std::string(after[i].text));
  if (ids != old) {
    for (size_t i = 0; i < ids.size(); ++i) {
      next.set(ids[i], i + 1 < ids.size() ? ids[i + 1] : 0);
      previous.set(ids[i], i > 0 ? ids[i - 1] : 0);
    }
    chunks.set(def, ids);
  }
  std::string shell(text);
  if (!found.empty()) shell.erase(found.front().begin, found.back().end - found.front().begin);
  impl_.piece_text.set(def, std::move(shell));
  if (found.empty())
    ranges.erase(def);
  else
    ranges[def] = std::move(found);
  for (size_t i = 0; i < old.size(); ++i)
    if (!stays[i]) impl_.drop_declaration(old[i]);
}

void Session::Bodies::drop(DeclarationId id) {
  impl_.index_of[id] = Session::Impl::kGone;
  for (auto& [name, _] : known_[id]) variable.drop({id, name});
  known_.erase(id);
  if (!chunks.peek(id).empty()) binders.drop_if([&](const BodyName& k) { return k.declaration == id; });
  chunks.drop(id);
  next.drop(id);
  previous.drop(id);
  names.drop(id);
  index.drop(id);
  head.drop(id);
  run.drop(id);
  run_start.drop(id);
  ranges.erase(id);
}

Range Session::Bodies::in_whole(DeclarationId id, Range range) const {
  DeclarationId def = impl_.declarations[id].part_of ? impl_.declarations[id].part_of : id;
  auto found = ranges.find(def);
  if (found == ranges.end()) return range;
  uint32_t cut = found->second.front().begin, length = found->second.back().end - cut;
  if (def != id) {
    uint32_t begin = found->second[impl_.index_of[id]].begin;
    return {begin + range.begin, begin + range.end};
  }
  bool after = range.begin >= cut;
  return {after ? range.begin + length : range.begin,
          after || range.end > cut ? range.end + length : range.end};
}

}  // namespace quern
