#pragma once
// The tests that select the arm of a match, without repetition (L. Maranget, Compiling pattern matching to
// good decision trees, 2008, with columns in left-to-right order).

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/expr/expr.h"

namespace quern::vm {

/// A part of the scrutinee: field `index` of `parent`. Number 0 is the whole value.
struct Subject {
  uint32_t parent, index;
  Type type;
};

struct DecisionTree {
  enum class Kind : uint8_t { Switch, Leaf, Unmatched };
  struct Name {
    const Variable* variable;
    Type type;         ///< of the matched value
    uint32_t subject;  ///< the part that it names
  };
  Kind kind = Kind::Unmatched;
  // Switch
  uint32_t subject = 0;
  std::vector<std::unique_ptr<DecisionTree>> cases = {};  ///< by tag; null if `otherwise` applies
  std::unique_ptr<DecisionTree> otherwise = nullptr;      ///< null if every tag has a case
  // Leaf
  uint32_t arm = 0;
  std::vector<Name> names = {};
};

struct Decision {
  std::vector<Subject> subjects;
  std::unique_ptr<DecisionTree> tree;
  std::vector<uint32_t> leaves;  ///< per arm: the number of leaves that select it
};

Decision decide(const MatchExpr& match);

}  // namespace quern::vm
