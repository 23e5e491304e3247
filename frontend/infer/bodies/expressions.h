#pragma once
// The walk over expressions: dispatches each kind of syntax to the part of the walk that makes its draft.

#include <string>

#include "frontend/infer/bodies/blocks.h"
#include "frontend/infer/calls/calls.h"
#include "frontend/infer/values/values.h"

namespace quern {

class Expressions final : public Walk, public WalkPart {
 public:
  explicit Expressions(Parts& parts)
      : WalkPart(parts, *this),
        values(parts, *this),
        functions(parts, *this),
        blocks(parts, *this, functions, values.patterns),
        calls_(parts, *this, values) {}

  DraftPtr infer(SyntaxPtr syntax, Type wanted = nullptr) override;
  DraftPtr infer_chunks(const Declaration& def, Type wanted) override {
    return blocks.in_chunks(def, wanted);
  }

  Values values;
  Functions functions;
  Blocks blocks;

 private:
  DraftPtr walk(SyntaxPtr s, Type wanted);
  DraftPtr if_else(SyntaxPtr s, Type wanted);
  DraftPtr conditional(SyntaxPtr s, bool is_and);
  DraftPtr infix(SyntaxPtr s);
  /// The operator of a symbol; "" for none.
  std::string infix_name(SyntaxPtr s);
  DraftPtr scheduled(SyntaxPtr s, Type wanted);
  void report_misplaced(SyntaxPtr s);

  Calls calls_;
};

}  // namespace quern
