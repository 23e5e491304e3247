#pragma once
// Walks over values and statements, derived from the tables of their fields.

#include <functional>

#include "jit/loops/fields.h"

namespace quern::loops {

using DimFunction = std::function<Dim(Dim)>;
using ValueFunction = std::function<ValuePtr(const Value&)>;
using DimVisitor = std::function<void(Dim)>;
using ValueVisitor = std::function<void(const Value&)>;

// --- values inside of values -----------------------------------------------------------------------

/// Calls `visit` on each operand of a value, or of a statement without its body.
void for_each_operand(const Value& value, const ValueVisitor& visit);
void for_each_operand(const Stmt& stmt, const ValueVisitor& visit);
/// The same for all values directly inside it: operands, computed offsets and checks, and the value if a
/// check fails.
void for_each_child(const Value& value, const ValueVisitor& visit);
void for_each_child(const Stmt& stmt, const ValueVisitor& visit);
/// A copy of the value with each value directly inside it replaced by its image.
ValuePtr map_children(const Value& value, const std::function<ValuePtr(const ValuePtr&)>& f);

/// Calls `visit` on the value and everything inside it; like all of these, does nothing for null.
void for_each_value(const ValuePtr& value, const ValueVisitor& visit);
/// Whether `holds` is true for the value or one inside it.
bool any_of(const ValuePtr& value, const std::function<bool(const Value&)>& holds);
/// The value with each value inside it replaced by its image under `f`, if `f` returns one.
ValuePtr map_values(const ValuePtr& value, const ValueFunction& f);

/// Calls `visit` on the values of one kind in anything that has a `for_each_value`.
template <class Node, class Tree, class F>
void for_each(const Tree& tree, const F& visit) {
  for_each_value(tree, [&](const Value& value) {
    if (auto* node = as<Node>(value)) visit(*node);
  });
}
/// Replaces those for which `f` returns another, in anything that has a `map_values`.
template <class Node, class Tree, class F>
auto replace(Tree&& tree, const F& f) {
  return map_values(std::forward<Tree>(tree), [&](const Value& value) -> ValuePtr {
    auto* node = as<Node>(value);
    return node ? f(*node) : nullptr;
  });
}

/// Calls `visit` with each dim that the value depends on; for a load this includes its offset, not the
/// indices it was built from.
void for_each_dim(const ValuePtr& value, const DimVisitor& visit);
void for_each_dim(const BoundsCheck& check, const DimVisitor& visit);

// --- statements inside of statements ---------------------------------------------------------------

/// Calls `visit` on each statement, before those in its body.
void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& visit);
/// The statements with `f` applied to a copy of each loop.
Block map_loops(const Block& block, const std::function<void(For&)>& f);

// --- fields ----------------------------------------------------------------------------------------

/// Deep-copies values and statements; `f(role, field)` modifies each field whose role it accepts.
template <class F>
class FieldMap {
 public:
  explicit FieldMap(F f) : f_(std::move(f)) {}

  ValuePtr operator()(const Value& value) const {
    return visit(value, [this](const auto& node) -> ValuePtr { return this->image(node); });
  }
  ValuePtr operator()(const ValuePtr& value) const { return value ? (*this)(*value) : nullptr; }
  StmtPtr operator()(const StmtPtr& stmt) const {
    return visit(*stmt, [this](const auto& node) -> StmtPtr { return this->image(node); });
  }
  BoundsCheck operator()(BoundsCheck check) const {
    change(role::Dims(), check.index);
    check.computed = (*this)(check.computed);
    change(role::Dims(), check.extent);
    return check;
  }
  Block operator()(Block block) const {
    for (StmtPtr& stmt : block) stmt = (*this)(stmt);
    return block;
  }

  // The fields of a copy.
  void operator()(role::Child, LoadPtr& load) const {
    load = std::static_pointer_cast<const LoadValue>((*this)(ValuePtr(load)));
  }
  void operator()(role::Child, ValuePtr& child) const { child = (*this)(child); }
  void operator()(role::Child, std::vector<ValuePtr>& children) const {
    for (ValuePtr& child : children) child = (*this)(child);
  }
  void operator()(role::Otherwise, ValuePtr& otherwise) const { otherwise = (*this)(otherwise); }
  void operator()(role::Checks, std::vector<BoundsCheck>& checks) const {
    for (BoundsCheck& check : checks) check = (*this)(check);
  }
  void operator()(role::Offsets, std::vector<ComputedOffset>& offsets) const {
    for (ComputedOffset& offset : offsets) {
      offset.index = (*this)(offset.index);
      change(role::Dims(), offset.stride);
    }
  }
  void operator()(role::Body, Block& body) const { body = (*this)(std::move(body)); }
  template <class Role, class T>
  void operator()(Role role, T& field) const {
    change(role, field);
  }

 private:
  template <class Node>
  std::shared_ptr<const Node> image(Node node) const {
    for_each_field(*this, node);
    return make(std::move(node));
  }
  template <class Role, class T>
  void change(Role role, T& field) const {
    if constexpr (std::is_invocable_v<const F&, Role, T&>) f_(role, field);
  }

  F f_;
};

/// The argument with `f` applied to every dim in it.
ValuePtr map_dims(const ValuePtr& value, const DimFunction& f);
BoundsCheck map_dims(const BoundsCheck& check, const DimFunction& f);
/// Except the variables that loops bind.
Block map_dims(const Block& block, const DimFunction& f);
/// The argument with dims replaced.
ValuePtr substitute(const ValuePtr& value, const DimMap& map);
BoundsCheck substitute(const BoundsCheck& check, const DimMap& map);
Block substitute(const Block& block, const DimMap& map);

}  // namespace quern::loops
