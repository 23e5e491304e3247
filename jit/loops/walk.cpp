#include "jit/loops/walk.h"

#include "ir/base/result.h"

namespace quern::loops {

namespace {

/// Calls `f` on each pointer to an operand of a node.
template <class F>
class Operands {
 public:
  explicit Operands(const F& f) : f_(f) {}

  template <class Pointer>
  void operator()(role::Child, Pointer& child) const {
    if (child) f_(child);
  }
  void operator()(role::Child, const std::vector<ValuePtr>& children) const { each(children); }
  void operator()(role::Child, std::vector<ValuePtr>& children) const { each(children); }
  template <class Role, class T>
  void operator()(Role, T&) const {}

 protected:
  template <class List>
  void each(List& children) const {
    for (auto& child : children) f_(child);
  }

  const F& f_;
};

/// The same for each pointer to a value directly inside it.
template <class F>
class Children : public Operands<F> {
 public:
  using Operands<F>::Operands;
  using Operands<F>::operator();

  template <class Pointer>
  void operator()(role::Otherwise, Pointer& otherwise) const {
    if (otherwise) this->f_(otherwise);
  }
  template <class List>
  void operator()(role::Offsets, List& offsets) const {
    for (auto& offset : offsets) this->f_(offset.index);
  }
  template <class List>
  void operator()(role::Checks, List& checks) const {
    for (auto& check : checks)
      if (check.computed) this->f_(check.computed);
  }
};
template <class F>
Children(const F&) -> Children<F>;

/// `Walk`: one of these.
template <template <class> class Walk, class Node>
void walk(const Node& node, const ValueVisitor& visitor) {
  const auto on_value = [&](const auto& child) { visitor(*child); };
  visit(node, [&](const auto& own) { for_each_field(Walk(on_value), own); });
}

}  // namespace

void for_each_operand(const Value& value, const ValueVisitor& visit) { walk<Operands>(value, visit); }
void for_each_operand(const Stmt& stmt, const ValueVisitor& visit) { walk<Operands>(stmt, visit); }
void for_each_child(const Value& value, const ValueVisitor& visit) { walk<Children>(value, visit); }
void for_each_child(const Stmt& stmt, const ValueVisitor& visit) { walk<Children>(stmt, visit); }

ValuePtr map_children(const Value& value, const std::function<ValuePtr(const ValuePtr&)>& f) {
  return visit(value, [&](auto node) -> ValuePtr {
    const auto replace = [&]<class T>(std::shared_ptr<const T>& child) {
      const ValuePtr image = f(child);
      QUERN_CHECK(as_shared<T>(image));
      child = as_shared<T>(image);
    };
    for_each_field(Children(replace), node);
    return make(std::move(node));
  });
}

void for_each_value(const ValuePtr& value, const ValueVisitor& visit) {
  if (!value) return;
  visit(*value);
  const ValueVisitor inside = [&](const Value& child) {
    visit(child);
    for_each_child(child, inside);
  };
  for_each_child(*value, inside);
}

bool any_of(const ValuePtr& value, const std::function<bool(const Value&)>& holds) {
  bool any = false;
  for_each_value(value, [&](const Value& v) { any = any || holds(v); });
  return any;
}

ValuePtr map_values(const ValuePtr& value, const ValueFunction& f) {
  if (!value) return nullptr;
  if (ValuePtr other = f(*value)) return other;
  return map_children(*value, [&](const ValuePtr& child) { return map_values(child, f); });
}

namespace {

/// The dims of the node itself.
struct OwnDims {
  const DimVisitor& visit;

  void operator()(role::Dims, Dim dim) const {
    if (dim) visit(dim);
  }
  void operator()(role::Offsets, const std::vector<ComputedOffset>& offsets) const {
    for (const ComputedOffset& offset : offsets) visit(offset.stride);
  }
  void operator()(role::Checks, const std::vector<BoundsCheck>& checks) const {
    for (const BoundsCheck& check : checks) {
      if (check.index) visit(check.index);
      visit(check.extent);
    }
  }
  template <class Role, class T>
  void operator()(Role, const T&) const {}
};

}  // namespace

void for_each_dim(const ValuePtr& value, const DimVisitor& visitor) {
  for_each_value(value, [&](const Value& v) {
    visit(v, [&](const auto& node) { for_each_field(OwnDims{visitor}, node); });
  });
}

void for_each_dim(const BoundsCheck& check, const DimVisitor& visit) {
  if (check.index) visit(check.index);
  for_each_dim(check.computed, visit);
  visit(check.extent);
}

namespace {

struct BodyOf {
  const std::function<void(const Stmt&)>& visit;

  void operator()(role::Body, const Block& body) const { for_each_stmt(body, visit); }
  template <class Role, class T>
  void operator()(Role, const T&) const {}
};

}  // namespace

void for_each_stmt(const Block& block, const std::function<void(const Stmt&)>& visitor) {
  for (const StmtPtr& stmt : block) {
    visitor(*stmt);
    visit(*stmt, [&](const auto& node) { for_each_field(BodyOf{visitor}, node); });
  }
}

namespace {

struct LoopsOf {
  const std::function<void(For&)>& f;

  void operator()(role::Body, Block& body) const { body = map_loops(body, f); }
  template <class Role, class T>
  void operator()(Role, const T&) const {}
};

}  // namespace

Block map_loops(const Block& block, const std::function<void(For&)>& f) {
  Block result;
  for (const StmtPtr& stmt : block)
    result.push_back(visit(*stmt, [&](auto node) -> StmtPtr {
      if constexpr (std::is_same_v<decltype(node), For>) f(node);
      for_each_field(LoopsOf{f}, node);
      return make(std::move(node));
    }));
  return result;
}

namespace {

struct EachDim {
  const DimFunction& f;

  void operator()(role::Dims, Dim& dim) const {
    if (dim) dim = f(dim);
  }
  void operator()(role::Indices, std::vector<Dim>& indices) const {
    for (Dim& index : indices) index = f(index);
  }
  void operator()(role::Steps, Execution& execution) const {
    if (auto* serial = std::get_if<Serial>(&execution)) (*this)(role::Dims(), serial->before);
  }
};

DimFunction substitution(const DimMap& map) {
  return [&map](Dim d) { return quern::substitute(d, map); };
}

}  // namespace

ValuePtr map_dims(const ValuePtr& value, const DimFunction& f) { return FieldMap(EachDim{f})(value); }
BoundsCheck map_dims(const BoundsCheck& check, const DimFunction& f) { return FieldMap(EachDim{f})(check); }
Block map_dims(const Block& block, const DimFunction& f) { return FieldMap(EachDim{f})(block); }

ValuePtr substitute(const ValuePtr& value, const DimMap& map) { return map_dims(value, substitution(map)); }
BoundsCheck substitute(const BoundsCheck& check, const DimMap& map) {
  return map_dims(check, substitution(map));
}
Block substitute(const Block& block, const DimMap& map) { return map_dims(block, substitution(map)); }

}  // namespace quern::loops
