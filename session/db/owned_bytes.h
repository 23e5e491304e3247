#pragma once
// The memory that values of a session's tables own; an arena is counted once, at its first occurrence.

#include "frontend/infer/chunks.h"
#include "frontend/infer/infer.h"
#include "frontend/signature/resolve_type.h"
#include "frontend/static/metadata.h"
#include "frontend/syntax/syntax.h"
#include "ir/base/arena.h"
#include "ir/expr/dot_intrinsic.h"
#include "passes/pipeline.h"
#include "session/db/data_files.h"
#include "session/db/values.h"
#include "session/query/memory.h"
#include "session/texts/text_diagnostics.h"

namespace quern {

class Program;

/// A type whose values own no memory worth counting besides themselves.
template <class T>
struct OwnsNothing {
  static size_t of(const T&, MemoryCount&) { return 0; }
};

inline size_t arena_bytes(const std::shared_ptr<const Arena>& arena, MemoryCount& count) {
  return count.is_first(arena.get()) ? arena->bytes() : 0;
}

template <>
struct OwnedBytes<Diagnostics> {
  static size_t of(const Diagnostics& all, MemoryCount&) {
    size_t bytes = all.capacity() * sizeof(Diagnostic);
    for (const Diagnostic& d : all) bytes += d.message.capacity() + d.notes.capacity() * sizeof(Note);
    return bytes;
  }
};
template <>
struct OwnedBytes<ParseOutcome> {
  static size_t of(const ParseOutcome& parsed, MemoryCount& count) {
    return arena_bytes(parsed.tree.arena, count) + parsed.spans.capacity() * sizeof(Range);
  }
};
template <>
struct OwnedBytes<TextDiagnostics> {
  static size_t of(const TextDiagnostics& found, MemoryCount& count) {
    return owned_bytes(found.mistakes, count) + owned_bytes(found.unused, count);
  }
};
template <>
struct OwnedBytes<Declaration> {
  static size_t of(const Declaration& declaration, MemoryCount& count) {
    return arena_bytes(declaration.arena, count);
  }
};
template <>
struct OwnedBytes<Inferred> {
  static size_t of(const Inferred& inferred, MemoryCount& count) {
    return arena_bytes(inferred.definition.arena, count) + owned_bytes(inferred.diagnostics, count) +
           owned_bytes(inferred.types, count);
  }
};
template <>
struct OwnedBytes<BodyRun> {
  static size_t of(const BodyRun& run, MemoryCount& count) {
    return arena_bytes(run.arena, count) + owned_bytes(run.diagnostics, count) +
           run.bindings.capacity() * sizeof(Binding) + owned_bytes(run.types, count);
  }
};
template <>
struct OwnedBytes<BodyHead> {
  static size_t of(const BodyHead& head, MemoryCount& count) {
    return arena_bytes(head.arena, count) + owned_bytes(head.diagnostics, count);
  }
};
template <>
struct OwnedBytes<OpInstance> {
  static size_t of(const OpInstance& instance, MemoryCount& count) {
    return instance.key.capacity() + arena_bytes(instance.arena, count);
  }
};
template <>
struct OwnedBytes<InstanceRequest> {
  static size_t of(const InstanceRequest& request, MemoryCount& count) {
    // NOLINTNEXTLINE(bugprone-sizeof-expression): a type is a pointer; its own size is meant
    const size_t params = request.params ? request.params->capacity() * sizeof(Type) : 0;
    return owned_bytes(request.op, count) + owned_bytes(request.key, count) + params;
  }
};
template <>
struct OwnedBytes<LateInstance> : OwnedBytes<OpInstance> {};
template <>
struct OwnedBytes<InstanceResult> {
  static size_t of(const InstanceResult& result, MemoryCount& count) {
    return owned_bytes(result.instance, count) + owned_bytes(result.diagnostics, count);
  }
};
template <>
struct OwnedBytes<Optimised> {
  static size_t of(const Optimised& optimised, MemoryCount& count) {
    return arena_bytes(optimised.arena, count);
  }
};
template <>
struct OwnedBytes<Occurrence> : OwnsNothing<Occurrence> {};
template <>
struct OwnedBytes<Import> {
  static size_t of(const Import& import, MemoryCount& count) { return owned_bytes(import.tried, count); }
};
template <>
struct OwnedBytes<Metadata> : OwnsNothing<Metadata> {};  // its tensors belong to the program
template <>
struct OwnedBytes<DataHeader> : OwnsNothing<DataHeader> {};
template <>
struct OwnedBytes<TypeAlias> : OwnsNothing<TypeAlias> {};
template <>
struct OwnedBytes<DataDefinition> : OwnsNothing<DataDefinition> {};
template <>
struct OwnedBytes<Scheme> : OwnsNothing<Scheme> {};
template <>
struct OwnedBytes<Annotations> {
  static size_t of(const Annotations& annotations, MemoryCount& count) {
    return owned_bytes(annotations.diagnostics, count);
  }
};
template <>
struct OwnedBytes<TopLevelVariable> : OwnsNothing<TopLevelVariable> {};
template <>
struct OwnedBytes<std::shared_ptr<const Program>> : OwnsNothing<std::shared_ptr<const Program>> {};
template <>
struct OwnedBytes<DotIntrinsic> : OwnsNothing<DotIntrinsic> {};
template <>
struct OwnedBytes<DataFile> : OwnsNothing<DataFile> {};
template <>
struct OwnedBytes<StoredConstants> : OwnsNothing<StoredConstants> {};

}  // namespace quern
