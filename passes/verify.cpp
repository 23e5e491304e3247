#include "passes/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "ir/expr/fields.h"
#include "ir/interpret/evaluation.h"
#include "passes/verify_types.h"

namespace quern {

namespace {

/// Counts the current bindings of each name: a node may occur at several places.
template <class T>
class Bound {
 public:
  void enter(T thing) { ++counts_[thing]; }
  void leave(T thing) {
    auto found = counts_.find(thing);
    if (--found->second == 0) counts_.erase(found);
  }
  bool contains(T thing) const { return counts_.contains(thing); }

 private:
  std::unordered_map<T, int> counts_;
};

/// Walks an expression, tracking the names in scope at each node.
class ScopeWalk {
 public:
  virtual ~ScopeWalk() = default;

  void walk(ExprPtr expr) {
    visit(expr, [this](const auto& node) { fields(node); });
    // From here on, dims opened by its parts are bound, and their checks are known.
    at_type(*expr, expr->type);
    at_node(expr);
  }

 protected:
  virtual void at_node(ExprPtr) {}
  virtual void free_variable(const Expr& at, const Variable* variable) = 0;
  virtual void free_dim(const Expr& at, Dim dim) = 0;
  virtual bool is_over() const { return false; }
  /// Whether this is inside a primitive.
  bool is_closed() const { return is_closed_; }
  /// The dims so far that are known or compared only at run time.
  const std::unordered_set<Dim>& checked() const { return checked_; }

 private:
  /// The fields of a node; their bindings are in scope for the following fields.
  class Fields {
   public:
    Fields(ScopeWalk& walk, const Expr& at) : walk_(walk), at_(at) {}
    Fields(const Fields&) = delete;
    Fields& operator=(const Fields&) = delete;
    ~Fields() {
      for (const Variable* variable : variables_) walk_.variables_.leave(variable);
      for (Dim dim : dims_) walk_.dims_.leave(dim);
    }

    void operator()(role::Child, ExprPtr child) {
      if (child && !walk_.is_over()) walk_.walk(child);
    }
    void operator()(role::Child, std::span<const ExprPtr> children) {
      for (ExprPtr child : children) (*this)(role::Child(), child);
    }
    void operator()(role::Bindings, std::span<const Binding> bindings) {
      for (const Binding& binding : bindings) {
        // A function literal sees its own name.
        const bool sees_itself = binding.variable && binding.value->kind == ExprKind::Fn;
        if (sees_itself) enter(binding.variable);
        (*this)(role::Child(), binding.value);
        if (binding.variable && !sees_itself) enter(binding.variable);
      }
    }
    void operator()(role::Arms, std::span<const MatchArm> arms) {
      for (const MatchArm& arm : arms) {
        for_each_variable(arm.pattern, [&](const Variable* v) { walk_.variables_.enter(v); });
        (*this)(role::Child(), arm.body);
        for_each_variable(arm.pattern, [&](const Variable* v) { walk_.variables_.leave(v); });
      }
    }
    void operator()(role::Use, const Variable* variable) {
      if (!walk_.variables_.contains(variable)) walk_.free_variable(at_, variable);
    }
    void operator()(role::Parameters, std::span<const Variable* const> params) {
      for (const Variable* param : params) {
        enter(param);
        walk_.at_type(at_, param->type);
      }
    }
    void operator()(role::FnDims, std::span<const Dim> vars) { enter(vars); }
    void operator()(role::IndexVars, std::span<const Dim> vars) { enter(vars); }
    void operator()(role::OpenedDims, std::span<const Dim> opened) {
      for (Dim dim : opened) walk_.open(dim);
    }
    void operator()(role::Dims, Dim dim) { walk_.at_dim(at_, dim); }
    void operator()(role::Dims, std::span<const Dim> dims) {
      // Its operands are evaluated before, and may open them; its type has the same dims.
      if (at_.kind == ExprKind::Comprehension) return;
      for (Dim dim : dims) walk_.at_dim(at_, dim);
    }
    void operator()(role::Types, std::span<const Type> types) {
      for (Type type : types) walk_.at_type(at_, type);
    }
    void operator()(role::Conditions, std::span<const DimCondition> conditions) {
      for (const DimCondition& c : conditions)
        for (Dim side : {c.left, c.right}) {
          walk_.at_dim(at_, side);
          for_each_var(side, [&](Dim var) { walk_.checked_.insert(var); });
        }
    }
    /// Other roles contain no names.
    template <class Role, class T>
    void operator()(Role, const T&) {}

   private:
    void enter(const Variable* variable) {
      walk_.variables_.enter(variable);
      variables_.push_back(variable);
    }
    void enter(std::span<const Dim> vars) {
      for (Dim var : vars) {
        walk_.dims_.enter(var);
        dims_.push_back(var);
      }
    }

    ScopeWalk& walk_;
    const Expr& at_;
    std::vector<const Variable*> variables_;
    std::vector<Dim> dims_;
  };

  template <class Node>
  void fields(const Node& node) {
    Fields all(*this, node);
    for_each_field(all, node);
  }
  /// What a function hides of what is around it, until its end: also one by a check that fails.
  class Inside {
   public:
    Inside(ScopeWalk& walk, bool is_primitive)
        : walk_(walk), was_closed_(walk.is_closed_), is_primitive_(is_primitive) {
      // A primitive is a kernel: only its arguments and dims of the frame reach it.
      if (is_primitive_) std::swap(around_, walk_.variables_);
      walk_.is_closed_ = was_closed_ || is_primitive_;
      std::swap(opened_around_, walk_.opened_);
    }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;
    ~Inside() {
      for (Dim dim : walk_.opened_) walk_.dims_.leave(dim);
      std::swap(opened_around_, walk_.opened_);
      if (is_primitive_) std::swap(around_, walk_.variables_);
      walk_.is_closed_ = was_closed_;
    }

   private:
    ScopeWalk& walk_;
    const bool was_closed_, is_primitive_;
    Bound<const Variable*> around_;
    std::vector<Dim> opened_around_;
  };
  void fields(const FnExpr& e) {
    const Inside inside(*this, e.primitive);
    fields<FnExpr>(e);
  }
  /// Its result's shape is known only at run time and binds the dims of its type.
  void fields(const ExternExpr& e) {
    fields<ExternExpr>(e);
    for (Dim var : scoped_dims(e.type))
      if (!dims_.contains(var)) open(var);
  }

  void at_dim(const Expr& at, Dim dim) {
    if (!dim) return;
    for_each_var(dim, [&](Dim var) {
      if (!dims_.contains(var)) free_dim(at, var);
    });
  }
  void at_type(const Expr& at, Type type) {
    if (!type) return;
    auto [known, added] = vars_of_.try_emplace(type);
    if (added) known->second = scoped_dims(type);
    for (Dim var : known->second)
      if (!dims_.contains(var)) free_dim(at, var);
  }

  /// Binds the dim to the end of the function.
  void open(Dim dim) {
    dims_.enter(dim);
    opened_.push_back(dim);
    checked_.insert(dim);
  }

  Bound<const Variable*> variables_;
  Bound<Dim> dims_;
  std::vector<Dim> opened_;  ///< in the enclosing function
  std::unordered_set<Dim> checked_;
  bool is_closed_ = false;
  std::unordered_map<Type, std::vector<Dim>> vars_of_;
};

class Collector final : public ScopeWalk {
 public:
  FreeNames found;

 private:
  void free_variable(const Expr&, const Variable* variable) override { found.variables.insert(variable); }
  void free_dim(const Expr&, Dim dim) override { found.dims.insert(dim); }
};

class Verifier final : public ScopeWalk {
 public:
  explicit Verifier(const FreeNames& given) : given_(given) {}
  std::optional<Breach> breach;

 private:
  void at_node(ExprPtr expr) override {
    if (breach) return;
    auto* check = as<CheckDimsExpr>(expr);
    fails_before_ = fails_before_ || (check && std::ranges::any_of(check->conditions, is_false));
    if (fails_before_) return;
    if (std::string wrong = misfit(expr, checked()); !wrong.empty()) report(*expr, std::move(wrong));
  }
  void free_variable(const Expr& at, const Variable* variable) override {
    if (is_closed() || !given_.variables.contains(variable))
      report(at, fmt::format("%{} is used where it is not bound", variable->name));
  }
  void free_dim(const Expr& at, Dim dim) override {
    if (!given_.dims.contains(dim))
      report(at, fmt::format("{} is used where it is not bound", to_string(dim)));
  }
  void report(const Expr& at, std::string reason) {
    if (!breach) breach = Breach{&at, std::move(reason)};
  }
  bool is_over() const override { return breach.has_value(); }

  static bool is_false(const DimCondition& condition) {
    auto left = as_const(condition.left), right = as_const(condition.right);
    return left && right && !holds(condition.relation, *left, *right);
  }

  const FreeNames& given_;
  /// A check that cannot hold precedes: the code after it is never evaluated, and its types belong to another
  /// shape.
  bool fails_before_ = false;
};

}  // namespace

bool is_verifying() {
  static const bool wanted = [] {
    const char* value = std::getenv("QUERN_VERIFY");
    return value && std::string_view(value) == "1";
  }();
  return wanted;
}

FreeNames free_names(ExprPtr expr) {
  Collector collector;
  collector.walk(expr);
  return std::move(collector.found);
}

std::optional<Breach> verify(ExprPtr expr, const FreeNames& given) {
  Verifier verifier(given);
  verifier.walk(expr);
  return std::move(verifier.breach);
}

}  // namespace quern
