#pragma once
// Blocks: bindings in order, each visible to the following ones, then the result.

#include <string_view>
#include <vector>

#include "frontend/infer/bodies/functions.h"
#include "frontend/infer/values/patterns.h"

namespace quern {

/// The bindings of a block so far.
struct BlockSoFar {
  std::vector<DraftBinding> bindings;
  std::vector<std::string_view> graph_names;
};

class Blocks : public WalkPart {
 public:
  Blocks(Parts& parts, Walk& walk, Functions& functions, Patterns& patterns)
      : WalkPart(parts, walk), functions_(functions), patterns_(patterns) {}

  DraftPtr block(SyntaxPtr s, Type wanted);
  /// The statements of one chunk of a body. Returns the result at the end of the body, otherwise null.
  DraftPtr chunk(const Declaration& chunk, bool at_end, BlockSoFar& block, Type wanted);
  /// The body of a definition that is split into chunks.
  DraftPtr in_chunks(const Declaration& def, Type wanted);

 private:
  void add(SyntaxPtr s, BlockSoFar& block);
  void add_graph(SyntaxPtr s, BlockSoFar& block);
  /// The value of a `let` with the type of its annotation (`declared` is null without one).
  DraftPtr annotated(SyntaxPtr value, SyntaxPtr annotation, std::string_view name, Type& declared);
  void add_let(SyntaxPtr s, BlockSoFar& block);
  void add_pattern(SyntaxPtr s, BlockSoFar& block);
  void add_function(SyntaxPtr s, BlockSoFar& block);

  Functions& functions_;
  Patterns& patterns_;
};

}  // namespace quern
