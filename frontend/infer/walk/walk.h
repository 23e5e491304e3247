#pragma once
// What the parts of the walk over syntax receive: the parts of the inference that collect their results, and
// access to the walk.

#include "frontend/infer/finish/finisher.h"
#include "frontend/infer/general/copies.h"
#include "frontend/infer/general/specialisations.h"
#include "frontend/infer/heads/heads.h"
#include "frontend/infer/operators/operators.h"
#include "frontend/infer/operators/schedules.h"
#include "frontend/infer/relations/files.h"

namespace quern {

/// One inference without the walk; each part knows the preceding ones.
struct Parts {
  Parts(Scope& scope, uint32_t declaration) : context(scope, declaration) {}

  Context context;
  Names names{context};
  DimChecks checks{context};
  Assignments assignments{context, checks};
  Relations relations{context, checks};
  Files files{context, relations};
  Operators operators{context, names, checks, assignments, relations};
  Schedules schedules{context};
  Heads heads{context, names};
  General general{context, relations, operators};
  Copies copies{context, names, assignments, relations, operators, general};
  Specialisations specialisations{context, names, assignments, relations, operators, general};
  Finisher finisher{context, operators, schedules, copies};
};

class Walk {
 public:
  virtual ~Walk() = default;
  /// The draft of an expression. `wanted` is the type that the context expects, if known: a constructor takes
  /// its type parameters from it, so that elements with different dims fit one list. It is only a hint; the
  /// caller checks whether the value fits.
  virtual DraftPtr infer(SyntaxPtr syntax, Type wanted = nullptr) = 0;
  /// The body of a definition that is split into chunks.
  virtual DraftPtr infer_chunks(const Declaration& def, Type wanted) = 0;
};

/// A part of the walk.
class WalkPart : public Component {
 protected:
  WalkPart(Parts& parts, Walk& walk)
      : Component(parts.context),
        parts_(parts),
        walk_(walk),
        names_(parts.names),
        checks_(parts.checks),
        assignments_(parts.assignments),
        relations_(parts.relations) {}

  DraftPtr infer(SyntaxPtr syntax, Type wanted = nullptr) { return walk_.infer(syntax, wanted); }
  /// Runs `infer` in a separate region.
  DraftPtr infer_arm(SyntaxPtr s, uint32_t& region, Type wanted = nullptr) {
    uint32_t outer = checks_.enter_region();
    region = checks_.region();
    DraftPtr arm = infer(s, wanted);
    checks_.leave_region(outer);
    return arm;
  }

  Parts& parts_;
  Walk& walk_;
  Names& names_;
  DimChecks& checks_;
  Assignments& assignments_;
  Relations& relations_;
};

}  // namespace quern
