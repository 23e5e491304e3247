#pragma once
// The parts of the walk for values other than calls.

#include "frontend/infer/indices/index_expressions.h"
#include "frontend/infer/indices/slices.h"
#include "frontend/infer/values/derivatives.h"
#include "frontend/infer/values/fields.h"
#include "frontend/infer/values/leaves.h"
#include "frontend/infer/values/lists.h"
#include "frontend/infer/values/literals.h"
#include "frontend/infer/values/matches.h"
#include "frontend/infer/values/partial_application.h"
#include "frontend/infer/values/patterns.h"
#include "frontend/infer/values/references.h"
#include "frontend/infer/values/rows.h"
#include "frontend/infer/values/tuples.h"

namespace quern {

struct Values {
  Values(Parts& parts, Walk& walk)
      : literals(parts.context),
        fields(parts, walk),
        index_expressions(parts, walk),
        slices(parts, walk),
        tuples(parts, walk),
        lists(parts, walk, literals, tuples),
        patterns(parts, walk),
        matches(parts, walk, patterns),
        references(parts, walk),
        derivatives(parts, walk),
        leaves(parts, walk),
        rows(parts, walk),
        partial_application(parts, walk) {}

  Literals literals;
  Fields fields;
  IndexExpressions index_expressions;
  Slices slices;
  Tuples tuples;
  Lists lists;
  Patterns patterns;
  Matches matches;
  References references;
  Derivatives derivatives;
  Leaves leaves;
  OverRows rows;
  PartialApplication partial_application;
};

}  // namespace quern
