#include "ir/expr/expr.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "ir/base/internal_failure.h"
#include "ir/expr/fields.h"

namespace quern {

namespace {

ExprPtr child_of(ExprPtr expr) { return expr; }
ExprPtr child_of(const Binding& binding) { return binding.value; }
ExprPtr child_of(const MatchArm& arm) { return arm.body; }

/// Replaces the children in a field by their images. A child that is null (no `else`, a label of print) stays
/// so.
class FieldMapper {
 public:
  FieldMapper(Arena& arena, const std::function<ExprPtr(ExprPtr)>& f) : arena_(arena), f_(f) {}

  void operator()(role::Child, ExprPtr& child) {
    ExprPtr image_of_child = image(child);
    changed_ |= image_of_child != child;
    child = image_of_child;
  }
  void operator()(role::Child, std::span<const ExprPtr>& children) {
    changed_ |= map_items(arena_, children, [this](ExprPtr child) { return image(child); });
  }
  void operator()(role::Bindings, std::span<const Binding>& bindings) {
    changed_ |= map_items(arena_, bindings, [this](const Binding& b) {
      return Binding{b.variable, image(b.value)};
    });
  }
  void operator()(role::Arms, std::span<const MatchArm>& arms) {
    changed_ |= map_items(arena_, arms, [this](const MatchArm& a) {
      return MatchArm{a.pattern, image(a.body)};
    });
  }
  template <class Role, class T>
  void operator()(Role, const T&) {}

  bool changed() const { return changed_; }

 private:
  ExprPtr image(ExprPtr child) const { return child ? f_(child) : nullptr; }

  Arena& arena_;
  const std::function<ExprPtr(ExprPtr)>& f_;
  bool changed_ = false;
};

}  // namespace

std::string_view to_string(IntrinsicKind kind) {
  switch (kind) {
    case IntrinsicKind::Print: return "print";
    case IntrinsicKind::Load: return "load";
    case IntrinsicKind::Save: return "save";
    case IntrinsicKind::Assert: return "assert_close";
    case IntrinsicKind::Clock: return "clock";
    case IntrinsicKind::Restore: return "restore";
    case IntrinsicKind::NextKey: return "next_key";
    case IntrinsicKind::ToDevice: return "to_device";
    case IntrinsicKind::Progress: return "progress";
    case IntrinsicKind::Gradient: return "grad";
    case IntrinsicKind::ValueAndGradient: return "value_and_grad";
    case IntrinsicKind::VectorJacobian: return "vjp";
    case IntrinsicKind::JacobianVector: return "jvp";
    case IntrinsicKind::ScanOver: return "scan_over";
    case IntrinsicKind::Vmap: return "vmap";
    case IntrinsicKind::Checkpoint: return "checkpoint";
    case IntrinsicKind::Specialize: return "specialize";
    case IntrinsicKind::StopGradient: return "stop_gradient";
    case IntrinsicKind::WithGradient: return "with_gradient";
  }
  return "";
}

std::string_view to_string(ExprKind kind) {
  switch (kind) {
#define QUERN_NODE(kind, ...) \
  case ExprKind::kind:        \
    return #kind;
#include "ir/expr/nodes.def"
#undef QUERN_NODE
  }
  return "";
}

namespace {

struct ScatterRow {
  std::string_view symbol;
  std::optional<ScalarOp> op;
};
constexpr ScatterRow kScatters[] = {{"=", std::nullopt},
                                    {"+=", ScalarOp::Add},
                                    {"*=", ScalarOp::Mul},
                                    {"max=", ScalarOp::Max},
                                    {"min=", ScalarOp::Min}};

}  // namespace

std::string_view to_string(ScatterKind kind) { return kScatters[static_cast<size_t>(kind)].symbol; }

std::optional<ScatterKind> find_scatter_kind(std::string_view symbol) {
  for (size_t i = 0; i < std::size(kScatters); ++i)
    if (kScatters[i].symbol == symbol) return static_cast<ScatterKind>(i);
  return std::nullopt;
}

std::optional<ScalarOp> scatter_op(ScatterKind kind) { return kScatters[static_cast<size_t>(kind)].op; }

void for_each_child(ExprPtr expr, const std::function<void(ExprPtr)>& f) {
  check_stack();
  auto each = [&](const auto& items) {
    for (const auto& item : items)
      if (ExprPtr child = child_of(item)) f(child);
  };
  auto field =
      overloaded{[&](role::Child, ExprPtr child) { each(std::span(&child, 1)); },
                 [&](role::Child, std::span<const ExprPtr> children) { each(children); },
                 [&](role::Bindings, std::span<const Binding> bindings) { each(bindings); },
                 [&](role::Arms, std::span<const MatchArm> arms) { each(arms); }, [](auto, const auto&) {}};
  visit(expr, [&](const auto& node) { for_each_field(field, node); });
}

ExprPtr map_children(Arena& arena, ExprPtr expr, const std::function<ExprPtr(ExprPtr)>& f) {
  check_stack();
  return visit(expr, [&](const auto& node) -> ExprPtr {
    using T = std::remove_cvref_t<decltype(node)>;
    FieldMapper mapper(arena, f);
    T copy = node;
    for_each_field(mapper, copy);
    return mapper.changed() ? arena.make<T>(std::move(copy)) : expr;
  });
}

void for_each_variable(PatternPtr pattern, const std::function<void(const Variable*)>& f) {
  if (pattern->variable) f(pattern->variable);
  for (PatternPtr part : pattern->parts) for_each_variable(part, f);
}

PatternPtr map_pattern(Arena& arena, PatternPtr pattern,
                       const std::function<const Variable*(const Variable*)>& variable,
                       const std::function<Type(Type)>& type) {
  Pattern copy = *pattern;
  copy.type = type(pattern->type);
  copy.name = arena.copy(pattern->name);
  if (pattern->variable) copy.variable = variable(pattern->variable);
  std::vector<PatternPtr> parts;
  for (PatternPtr part : pattern->parts) parts.push_back(map_pattern(arena, part, variable, type));
  copy.parts = arena.copy(parts);
  return arena.make<Pattern>(copy);
}

namespace {

/// All inlined calls of the process, each once: recompiling a definition gives the same numbers. They are never
/// forgotten, as values of any lifetime name them, and are as many as the calls of all texts that there ever were: so
/// they are found by a table of their numbers, without nodes.
class InlinedCalls {
 public:
  uint32_t number_of(const Origin& call) {
    std::lock_guard lock(mutex_);
    if (2 * calls_.size() > slots_.size()) grow();
    uint32_t& slot = slot_of(call);
    if (slot == 0) {
      slot = static_cast<uint32_t>(calls_.size());
      calls_.push_back(call);
    }
    return slot;
  }
  Origin call(uint32_t number) {
    std::lock_guard lock(mutex_);
    return calls_[number];
  }

 private:
  uint32_t& slot_of(const Origin& call) {
    uint64_t hash =
        (uint64_t{call.declaration} * 0x9E3779B97F4A7C15U + call.node) * 0x9E3779B97F4A7C15U + call.inlined;
    hash *= 0x9E3779B97F4A7C15U;
    for (size_t at = hash >> 32;; ++at) {
      uint32_t& slot = slots_[at & (slots_.size() - 1)];
      if (slot == 0 || calls_[slot] == call) return slot;
    }
  }
  void grow() {
    slots_.assign(2 * slots_.size(), 0);
    for (uint32_t number = 1; number < calls_.size(); ++number) slot_of(calls_[number]) = number;
  }

  std::mutex mutex_;
  std::deque<Origin> calls_{Origin{}};
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(64);  ///< 0 for none
};
InlinedCalls& inlined_calls() {
  static auto* const instance = new InlinedCalls;
  return *instance;
}

}  // namespace

uint32_t inlined_call(const Origin& call) { return inlined_calls().number_of(call); }

Origin origin_of_inlined(uint32_t number) { return inlined_calls().call(number); }

Origin inlined_at(Origin origin, const Origin& call) {
  // The outermost of the calls that already contain it becomes nested in this one.
  std::vector<Origin> chain{origin};
  while (chain.back().inlined) chain.push_back(origin_of_inlined(chain.back().inlined));
  uint32_t outer = inlined_call(call);
  for (size_t i = chain.size(); i-- > 0;) {
    chain[i].inlined = outer;
    outer = i > 0 ? inlined_call(chain[i]) : outer;
  }
  return chain.front();
}

uint32_t next_variable_id() {
  static std::atomic<uint32_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

const Variable* make_variable(Arena& arena, std::string_view name, Type type, bool graph, bool fresh) {
  return arena.make<Variable>(arena.copy(name), type, next_variable_id(), graph, fresh);
}

namespace {

/// Iterative, without recursion however deep an expression is.
class FreeVariables {
 public:
  std::vector<const Variable*> of(ExprPtr expr) {
    visit_later(expr);
    while (!steps_.empty()) {
      Step step = steps_.back();
      steps_.pop_back();
      size_t others = steps_.size();
      if (step.expr)
        visit_expr(step.expr);
      else if (step.binds)
        bound_.insert(step.variable);
      else
        bound_.erase(step.variable);
      std::reverse(steps_.begin() + static_cast<ptrdiff_t>(others), steps_.end());
    }
    return std::move(found_);
  }

  // --- the fields of a node
  void operator()(role::Use, const Variable* variable) {
    if (bound_.contains(variable)) return;
    if (seen_.insert(variable).second) found_.push_back(variable);
  }
  void operator()(role::Child, ExprPtr child) {
    if (child) visit_later(child);
  }
  void operator()(role::Child, std::span<const ExprPtr> children) {
    for (ExprPtr child : children) (*this)(role::Child(), child);
  }
  void operator()(role::Parameters, std::span<const Variable* const> params) {
    for (const Variable* param : params) bind_later(param);
  }
  void operator()(role::Bindings, std::span<const Binding> bindings) {
    for (const Binding& binding : bindings) {
      bool own_name = binding.value->kind == ExprKind::Fn;
      if (!own_name) visit_later(binding.value);
      if (binding.variable) bind_later(binding.variable);
      if (own_name) visit_later(binding.value);
    }
  }
  void operator()(role::Arms, std::span<const MatchArm> arms) {
    for (const MatchArm& arm : arms) {
      for_each_variable(arm.pattern, [&](const Variable* variable) { bind_later(variable); });
      visit_later(arm.body);
      for_each_variable(arm.pattern, [&](const Variable* variable) { unbind_later(variable); });
    }
  }
  template <class Role, class T>
  void operator()(Role, const T&) {}

 private:
  struct Step {
    ExprPtr expr;
    const Variable* variable;
    bool binds;
  };
  void visit_later(ExprPtr expr) { steps_.push_back({expr, nullptr, false}); }
  void bind_later(const Variable* variable) {
    steps_.push_back({nullptr, variable, true});
    of_node_.push_back(variable);
  }
  void unbind_later(const Variable* variable) { steps_.push_back({nullptr, variable, false}); }

  void visit_expr(ExprPtr expr) {
    visit(expr, [this](const auto& node) { for_each_field(*this, node); });
    for (const Variable* variable : of_node_) unbind_later(variable);
    of_node_.clear();
  }

  // A variable has one binder, so a set suffices: leaving a scope removes its bindings.
  std::unordered_set<const Variable*> bound_, seen_;
  std::vector<Step> steps_;
  std::vector<const Variable*> of_node_;  ///< bound by the fields so far
  std::vector<const Variable*> found_;
};

}  // namespace

std::vector<const Variable*> free_variables(ExprPtr expr) { return FreeVariables().of(expr); }

}  // namespace quern
