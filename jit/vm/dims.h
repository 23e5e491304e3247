#pragma once
// Dims at run time: each frame has a slot of 64 bits per dim variable, and dims are evaluated from these
// slots. Slots are filled by matching the shapes of values against their types (BindPlan), as `bind_dims` of
// ir/interpret/evaluation.h does, but without anything known before the program runs.

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

/// The content of a slot before its variable is bound.
constexpr int64_t kUnbound = INT64_MIN;

/// The slot of a dim variable in the function being compiled.
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

/// Nothing if a slot is unbound, on overflow, on division by zero, and if extents do not broadcast.
std::optional<int64_t> evaluate(const DimCode& code, const int64_t* slots);
/// Why `evaluate` returns nothing.
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
/// The tensor at `path` (tuple fields) in value number `value`.
struct TensorBinding {
  uint32_t value;
  std::vector<uint32_t> path;
  Type type;
  const Variable* parameter;  ///< for messages, or null
  std::vector<ExtentBinding> simple;
  std::vector<ExtentBinding>
      compound;  ///< done after all simple ones, in rounds: each may bind variables of another
};
struct BindPlan {
  std::vector<TensorBinding> tensors;
  bool has_compound = false;
  bool empty() const { return tensors.empty(); }
};

/// Which extents of a value must be checked.
enum class Trust : uint8_t {
  Nothing,    ///< all: the value is external
  Constants,  ///< those with variables: a parameter, whose constants inference proved or the caller checked
  Given,      ///< those that the expression's type does not guarantee, and those with unbound variables
  Callee,     ///< the constants that the argument's type leaves open; the callee checks the rest
};

class BindPlanner {
 public:
  /// `known`: variables that are definitely bound when the plan runs.
  BindPlanner(const SlotOf& slot_of, const std::unordered_set<Dim>& known)
      : slot_of_(slot_of), known_(known) {}

  /// `given`: the type of the value's expression, or null.
  void add(uint32_t value, Type type, Type given, Trust trust, const Variable* parameter);
  /// Adds the variables that the plan definitely binds to `known`.
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

/// Runs a plan on its values. Returns the text of the first disagreement, or "".
std::string bind(const BindPlan& plan, const Value* values, int64_t* slots);

}  // namespace quern::vm
