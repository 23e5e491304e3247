#pragma once
// Random index expressions over given tensors: what the generators of programs and of gradients share.

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "tests/random/build.h"

namespace quern::random_programs {

/// A tensor that an index expression may read.
struct Operand {
  std::string name;
  std::vector<Extent> dims;
  std::string dtype;
  Exactness exactness;
  /// Of integers that are indices: they are from 0 on and below this, unless `leaves` some are not. 0 for
  /// others.
  int64_t bound = 0;
  bool leaves = false;
};

enum class Numbers {
  Exact,           ///< float arithmetic that is exact within a budget
  Differentiated,  ///< the same, inside of a function that is differentiated
  Smooth,          ///< float64 and functions with derivatives
};

/// The type of an element inside of an index expression, and that of an index.
TypePtr element_type(const std::string& dtype);
TypePtr index_type();

class IndexTerms {
 public:
  using Fresh = std::function<std::string(const char*)>;
  IndexTerms(Random& random, Fresh fresh, std::vector<Operand> operands, Numbers numbers)
      : random_(random), fresh_(std::move(fresh)), operands_(std::move(operands)), numbers_(numbers) {}

  /// `([i < 3, …] => …)`; dims that are `?` have no extent that can be written.
  TermPtr comprehension(const TypePtr& want, Exactness budget, int depth);
  /// Whether what was made may fail when it runs.
  bool may_fail() const { return may_fail_; }

 private:
  struct Index {
    std::string name;
    Extent extent;           ///< a constant one may be larger than that of the loop
    int64_t most;            ///< it is smaller than this
    bool is_bounded = true;  ///< its extent is a number
  };
  struct Scalar {
    std::string name, dtype;
    Exactness exactness;
  };
  /// An index, and what it lies between, both included.
  struct Position {
    TermPtr term;
    int64_t low, high;
    bool is_proved = true;  ///< false where an extent that is a variable has its part in it
  };
  using Element = TermPtr (IndexTerms::*)(const std::string& dtype, Exactness budget, int depth);

  Index fresh_index(const Extent& extent);
  TermPtr element(const std::string& dtype, Exactness budget, int depth);
  TermPtr scatter(const TypePtr& want, const std::vector<Index>& outer, Exactness budget, int depth);
  std::vector<Element> forms(const std::string& dtype) const;
  TermPtr literal(const std::string& dtype, Exactness budget);
  TermPtr read(const std::string& dtype, Exactness budget, int depth);
  TermPtr read_or_else(const std::string& dtype, Exactness budget, int depth);
  TermPtr guarded_gather(const std::string& dtype, Exactness budget, int depth);
  TermPtr first(const std::string& dtype, Exactness budget, int depth);
  TermPtr converted_index(const std::string& dtype, Exactness budget, int depth);
  TermPtr arithmetic(const std::string& dtype, Exactness budget, int depth);
  TermPtr product(const std::string& dtype, Exactness budget, int depth);
  TermPtr smooth_function(const std::string& dtype, Exactness budget, int depth);
  TermPtr choice(const std::string& dtype, Exactness budget, int depth);
  TermPtr let(const std::string& dtype, Exactness budget, int depth);
  TermPtr reduction(const std::string& dtype, Exactness budget, int depth);
  TermPtr scan(const std::string& dtype, Exactness budget, int depth);
  TermPtr comparison(const std::string& dtype, Exactness budget, int depth);
  TermPtr connective(const std::string& dtype, Exactness budget, int depth);

  Position index(int depth);
  /// An index that is provably inside of an axis; null where there is none.
  TermPtr inside(const Extent& extent, int depth);
  TermPtr gathered(const Extent& extent, int depth, bool leaves);
  const Operand* operand(const std::string& dtype, Exactness budget);
  TermPtr read_at(const Operand& of, std::vector<TermPtr> at, const std::string& otherwise = "");

  Random& random_;
  Fresh fresh_;
  std::vector<Operand> operands_;
  Numbers numbers_;
  std::vector<Index> indices_;
  std::vector<Index> result_;  ///< indices of the result, where a scan may stand
  std::vector<Scalar> scalars_;
  std::set<std::string> names_;  ///< of all indices
  bool may_fail_ = false;
};

}  // namespace quern::random_programs
