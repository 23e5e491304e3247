#pragma once
// The tests that find the arm of a match, none of them twice (L. Maranget, Compiling pattern matching to good
// decision trees, 2008, with the columns from left to right).

#include <cstdint>
#include <memory>
#include <vector>

#include "ir/expr/expr.h"

namespace quern::vm {

/// A part of the value that is matched: field `index` of `parent`. Number 0 is the whole value.
struct Subject {
  uint32_t parent, index;
  Type type;
};

struct DecisionTree {
  enum class Kind : uint8_t { Switch, Leaf, Unmatched };
  struct Name {
    const Variable* variable;
    Type type;         ///< of what it is matched with
    uint32_t subject;  ///< what it names
  };
  Kind kind = Kind::Unmatched;
  // Switch
  uint32_t subject = 0;
  std::vector<std::unique_ptr<DecisionTree>> cases = {};  ///< by tag; null where `otherwise` counts
  std::unique_ptr<DecisionTree> otherwise = nullptr;      ///< null where every tag has its case
  // Leaf
  uint32_t arm = 0;
  std::vector<Name> names = {};
};

struct Decision {
  std::vector<Subject> subjects;
  std::unique_ptr<DecisionTree> tree;
  std::vector<uint32_t> leaves;  ///< per arm: in how many places the tree ends with it
};

Decision decide(const MatchExpr& match);

}  // namespace quern::vm
