#pragma once
// Inference of a long body chunk by chunk (frontend/parse/body_chunks.h).
//
// A chunk sees the definition's parameters and the variables that chunks before it bind, with their finished
// types, and is inferred alone. Where something is still undetermined at its end (an unknown type, a literal
// that nothing has decided, a relation that waits), the next chunk is inferred with it, and so on until all
// is closed: a run. So the types are those that inference of the whole body finds, wherever the chunks end.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "frontend/infer/infer.h"
#include "frontend/signature/resolve_type.h"

namespace quern {

/// What the chunks of a definition see of its head.
struct BodyHead {
  std::vector<TopLevelVariable> params;
  Type result = nullptr;  ///< null where it is not annotated
  TypeEnv env;
  std::vector<Dim> dim_vars;
  std::vector<Type> type_vars;
  Diagnostics diagnostics;
  std::shared_ptr<const Arena> arena;
};
/// Null where a parameter's type is not known without the body: such a definition is inferred as a whole.
std::shared_ptr<const BodyHead> infer_body_head(const Declaration& head, Scope& scope);

/// The node that stands for "the last binding of %name in this chunk" in a Place. The places of what later
/// chunks see are of this kind: an edit that changes no type changes nothing for them.
uint32_t binding_node(std::string_view name);
/// The chunk's node that it means; null where there is none, or where `node` is an ordinary one.
SyntaxPtr find_binding(SyntaxPtr chunk, uint32_t node);

/// Names that a chunk binds for later ones, each once.
std::vector<std::string> bound_names(SyntaxPtr chunk);

struct ChunkVariable {
  uint32_t declaration;  ///< of the chunk
  const Variable* variable;
};

/// The chunks from one on that are inferred together.
struct BodyRun {
  std::vector<Binding> bindings;
  ExprPtr result = nullptr;                                     ///< of the body's last chunk
  std::vector<std::shared_ptr<const std::vector<Type>>> types;  ///< of each chunk, by node id
  std::vector<ChunkVariable> variables;                         ///< the last one of each name in each chunk
  Diagnostics diagnostics;
  std::vector<LateCall> late_calls;
  std::vector<Specialisation> needs;
  bool has_errors = false;
  bool closed = true;                  ///< false where the body ends with its type undetermined
  std::vector<uint32_t> declarations;  ///< its chunks
  std::shared_ptr<const Arena> arena;
  std::vector<std::shared_ptr<const TopLevelVariable>>
      uses;  ///< of earlier chunks, which this one's nodes point to
};

class ChunkSource {
 public:
  virtual ~ChunkSource() = default;
  /// The next chunk of the body; null behind the last.
  virtual const Declaration* next() = 0;
  /// Whether the chunk that `next` gave is the last one.
  virtual bool at_end() = 0;
  /// The variable that stood for this one when the chunk was inferred before, or null: a variable whose name
  /// and type are the same stays the same.
  virtual const Variable* known(uint32_t declaration, std::string_view name, Type type, bool graph) = 0;
};
BodyRun infer_body_run(const BodyHead& head, ChunkSource& chunks, Scope& scope);

/// The definition that the runs of its body make.
Inferred assemble_body(const Declaration& def, const BodyHead& head,
                       const std::vector<std::shared_ptr<const BodyRun>>& runs);

}  // namespace quern
