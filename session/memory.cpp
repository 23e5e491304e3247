// What a session keeps, and the bounds of it.

#include <unordered_set>

#include "ir/base/interned.h"
#include "session/session_impl.h"

namespace quern {

namespace {

/// Instances of operators: of the library mostly, which no edit makes stale.
constexpr size_t kMostInstances = 8192, kInstancesKept = 6144;

/// Counts each arena once.
class Arenas {
 public:
  size_t add(const std::shared_ptr<const Arena>& arena) {
    return arena && seen_.insert(arena.get()).second ? arena->bytes() : 0;
  }

 private:
  std::unordered_set<const Arena*> seen_;
};

size_t bytes_of(const Diagnostics& diagnostics) {
  size_t bytes = diagnostics.capacity() * sizeof(Diagnostic);
  for (const Diagnostic& d : diagnostics) bytes += d.message.capacity() + d.notes.capacity() * sizeof(Note);
  return bytes;
}

}  // namespace

void Session::Impl::bound_caches() {
  if (engine.idle()) instance.shrink(kMostInstances, kInstancesKept);
}

std::vector<MemoryUse> Session::memory_report() const {
  const Impl& impl = *impl_;
  Arenas arenas;
  MemoryUse texts{"texts"}, trees{"syntax trees"}, types{"types of nodes"}, ir{"typed definitions"},
      instances{"instances"},
      declarations{"declarations", impl.declarations.size(),
                   impl.declarations.size() * sizeof(DeclarationInfo)};
  for (const Layout& layout : impl.layouts) {
    ++texts.count;
    texts.bytes += layout.text->capacity() + layout.scan.pieces.capacity() * sizeof(Piece);
  }
  impl.piece_text.for_each([&](DeclarationId, const std::string& text) { texts.bytes += text.capacity(); });
  impl.parsed.for_each([&](DeclarationId, const Parsed& p) {
    ++trees.count;
    trees.bytes += arenas.add(p.outcome.tree.arena) + p.outcome.spans.capacity() * sizeof(Range);
  });
  auto add = [&](const Inferred& inferred) {
    ++ir.count;
    ir.bytes += arenas.add(inferred.definition.arena) + bytes_of(inferred.diagnostics);
    types.bytes += inferred.types.capacity() * sizeof(Type);
  };
  impl.group_inferred.for_each([&](const NameKey&, const std::vector<Inferred>& all) {
    for (const Inferred& inferred : all) add(inferred);
  });
  impl.statement.for_each([&](DeclarationId, const Inferred& inferred) { add(inferred); });
  impl.bodies.run.for_each([&](DeclarationId, const std::shared_ptr<const BodyRun>& run) {
    if (!run) return;
    ir.bytes +=
        arenas.add(run->arena) + bytes_of(run->diagnostics) + run->bindings.capacity() * sizeof(Binding);
    for (auto& of_chunk : run->types) types.bytes += of_chunk->capacity() * sizeof(Type);
  });
  impl.instance.for_each([&](const InstanceKey& key, const InstanceResult& result) {
    ++instances.count;
    instances.bytes += key.request.key.capacity() + bytes_of(result.diagnostics);
    if (result.instance) instances.bytes += sizeof(OpInstance) + arenas.add(result.instance->arena);
  });
  MemoryUse memos{"memos"};
  auto count = [&](const auto&... queries) {
    ((memos.count += queries.size(), memos.bytes += queries.bytes()), ...);
  };
  count(impl.parsed, impl.tree, impl.head, impl.references, impl.constructor, impl.data_header, impl.data,
        impl.annotated, impl.group, impl.group_inferred, impl.scheme, impl.statement, impl.variable,
        impl.instance, impl.operator_check, impl.form, impl.declaration_diagnostics, impl.optimised,
        impl.program, impl.bodies.names, impl.bodies.index, impl.bodies.binders, impl.bodies.run,
        impl.bodies.run_start, impl.bodies.variable);
  MemoryUse edges{"dependencies", 0, impl.engine.bookkeeping_bytes()};
  Interned dims = interned_dims(), all_types = interned_types();
  return {texts,
          trees,
          types,
          ir,
          instances,
          declarations,
          memos,
          edges,
          {"interned dims", dims.count, dims.bytes},
          {"interned types", all_types.count, all_types.bytes},
          {"parser states", parser_states(), 0}};
}

}  // namespace quern
