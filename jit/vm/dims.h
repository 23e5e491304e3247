#pragma once
// Dims at run time: each frame has a slot of 64 bits per dim variable, and dims are evaluated from these
// slots. Slots are filled by matching the shapes of values against their types (BindPlan), as `bind_dims` of
// ir/interpret/evaluation.h does, but with everything that is known before the program runs left out.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/expr/expr.h"
#include "ir/type/type.h"
#include "ir/value/value.h"

namespace quern::vm {

/// What a slot holds before its variable is bound.
constexpr int64_t kUnbound = INT64_MIN;

/// The slot of a dim variable in the function that is being compiled.
using SlotOf = std::function<uint32_t(Dim var)>;

/// A dim whose variables are slots.
struct DimCode {
  DimKind kind = DimKind::Const;
  uint32_t slot = 0;  ///< Var
  int64_t value = 0;  ///< Const: the constant; Product: the coefficient
  std::vector<DimCode> args = {};
  Dim dim = nullptr;  ///< for messages
};
DimCode compile_dim(Dim dim, const SlotOf& slot_of);

/// Nothing where a slot is not bound, on overflow, on division by zero, and where extents do not broadcast.
std::optional<int64_t> evaluate(const DimCode& code, const int64_t* slots);
/// Why `evaluate` gives nothing.
std::string why_no_value(const DimCode& code, const int64_t* slots);

/// A variable that a compound extent is linear in: extent = coefficient * variable + rest.
struct Solution {
  uint32_t slot;
  DimCode coefficient, rest;
};
struct ExtentBinding {
  size_t axis;
  DimCode code;                          ///< a variable is bound or compared, a constant compared
  std::vector<Solution> solutions = {};  ///< of a compound extent
};
/// The tensor at `path` (fields of tuples) of value number `value`.
struct TensorBinding {
  uint32_t value;
  std::vector<uint32_t> path;
  Type type;
  const Variable* parameter;  ///< for messages, or null
  std::vector<ExtentBinding> simple;
  std::vector<ExtentBinding>
      compound;  ///< done when all simple ones are, in rounds: each may give another its variables
};
struct BindPlan {
  std::vector<TensorBinding> tensors;
  bool has_compound = false;
  bool empty() const { return tensors.empty(); }
};

/// Which extents of a value need a look.
enum class Trust : uint8_t {
  Nothing,    ///< all: the value comes from outside
  Constants,  ///< those with variables: a parameter, whose constants were proved by inference or tested by
              ///< the caller
  Given,   ///< those that the type of the expression does not promise, and those with variables not bound yet
  Callee,  ///< the constants that the type of the argument leaves open: the rest is the callee's
};

class BindPlanner {
 public:
  /// `known`: variables that are surely bound when the plan runs.
  BindPlanner(const SlotOf& slot_of, const std::unordered_set<Dim>& known)
      : slot_of_(slot_of), known_(known) {}

  /// `given`: the type of the expression that makes the value, or null.
  void add(uint32_t value, Type type, Type given, Trust trust, const Variable* parameter);
  /// Adds to `known` what the plan surely binds.
  BindPlan finish(std::unordered_set<Dim>& known);

 private:
  void add(TensorBinding& at, Type type, Type given, Trust trust);
  void add_tensor(TensorBinding binding, Type type, Type given, Trust trust);
  bool wanted(Dim dim, Dim given, Trust trust) const;
  bool all_known(Dim dim, const std::unordered_set<Dim>& known) const;
  bool learn_from(Dim dim, std::unordered_set<Dim>& known) const;
  ExtentBinding compound(size_t axis, Dim dim) const;

  const SlotOf& slot_of_;
  const std::unordered_set<Dim>& known_;
  BindPlan plan_;
};

/// Runs a plan on its values. Gives the text of the first disagreement, or "".
std::string bind(const BindPlan& plan, const Value* values, int64_t* slots);

}  // namespace quern::vm
