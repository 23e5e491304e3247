#pragma once
// Inference of a long body chunk by chunk (frontend/parse/body_chunks.h).
//
// A chunk sees the definition's parameters and the variables bound by earlier chunks, with their final types,
// and is inferred alone. If something is still undetermined at its end (an unknown type, an undecided
// literal, a waiting relation), the next chunk is inferred with it, and so on until everything is closed: a
// run. So the types are those of inferring the whole body, wherever the chunks end.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/infer/infer.h"
#include "frontend/signature/resolve_type.h"

namespace quern {

/// The part of a definition's head that its chunks see.
struct BodyHead {
  std::vector<TopLevelVariable> params;
  Type result = nullptr;  ///< null if not annotated
  TypeEnv env;
  std::vector<Dim> dim_vars;
  std::vector<Type> type_vars;
  Diagnostics diagnostics;
  std::shared_ptr<const Arena> arena;
};
/// Null if a parameter's type depends on the body: such a definition is inferred as a whole.
std::shared_ptr<const BodyHead> infer_body_head(const Declaration& head, Scope& scope);

/// The node number that means "the last binding of %name in this chunk" in a Place. Later chunks see only
/// such places, so an edit that changes no type changes nothing for them.
uint32_t binding_node(std::string_view name);
/// The chunk's node that it denotes; null if there is none, or if `node` is an ordinary number.
SyntaxPtr find_binding(SyntaxPtr chunk, uint32_t node);

/// The names that a chunk binds for later ones, each once.
std::vector<std::string> bound_names(SyntaxPtr chunk);

struct ChunkVariable {
  uint32_t declaration;  ///< of the chunk
  const Variable* variable;
};

/// Consecutive chunks that are inferred together.
struct BodyRun {
  std::vector<Binding> bindings;
  ExprPtr result = nullptr;                                     ///< of the body's last chunk
  std::vector<std::shared_ptr<const std::vector<Type>>> types;  ///< of each chunk, by node id
  std::vector<ChunkVariable> variables;                         ///< the last one per name and chunk
  Diagnostics diagnostics;
  std::vector<LateCall> late_calls;
  std::vector<Specialisation> needs;
  bool has_errors = false;
  bool closed = true;                  ///< false if the body ends with its type undetermined
  std::vector<uint32_t> declarations;  ///< its chunks
  std::shared_ptr<const Arena> arena;
  std::vector<std::shared_ptr<const TopLevelVariable>>
      uses;  ///< of earlier chunks, referenced by this run's nodes
};

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  /// The next chunk of the body; null after the last.
  virtual const Declaration* next() = 0;
  /// Whether the last result of `next` is the last chunk.
  virtual bool at_end() = 0;
  /// The counterpart of this variable when the chunk was last inferred, or null: a variable keeps its
  /// identity if its name and type are unchanged.
  virtual const Variable* known(uint32_t declaration, std::string_view name, Type type, bool graph) = 0;
};
BodyRun infer_body_run(const BodyHead& head, ChunkSource& chunks, Scope& scope);

/// Assembles a definition from the runs of its body.
Inferred assemble_body(const Declaration& def, const BodyHead& head,
                       const std::vector<std::shared_ptr<const BodyRun>>& runs);

}  // namespace quern
