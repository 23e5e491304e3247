#pragma once
// Finishing the fields of nodes (ir/expr/fields.h).

#include <span>
#include <utility>
#include <vector>

#include "frontend/infer/finish/finisher.h"
#include "ir/expr/fields.h"

namespace quern {

/// Finishes the fields of a node except its children.
class FieldFinisher {
 public:
  FieldFinisher(Finisher& finisher, Arena& out) : finisher_(finisher), out_(out) {}

  void operator()(role::Use, const Variable*& variable) { variable = finisher_.finish(variable); }
  void operator()(role::Parameters, std::span<const Variable* const>& params) {
    params = mapped(params, [this](const Variable* param) { return finisher_.finish(param); });
  }
  void operator()(role::FnDims, std::span<const Dim>& vars) { (*this)(role::Dims(), vars); }
  void operator()(role::IndexVars, std::span<const Dim>& vars) { vars = out_.copy(vars); }
  void operator()(role::OpenedDims, std::span<const Dim>& opened) { opened = out_.copy(opened); }
  void operator()(role::Dims, Dim& dim) { dim = finisher_.finish(dim); }
  void operator()(role::Dims, std::span<const Dim>& dims) {
    dims = mapped(dims, [this](Dim dim) { return finisher_.finish(dim); });
  }
  void operator()(role::Types, std::span<const Type>& types) {
    types = mapped(types, [this](Type type) { return finisher_.finish(type); });
  }
  void operator()(role::Conditions, std::span<const DimCondition>& conditions) {
    std::vector<DimCondition> images(conditions.begin(), conditions.end());
    for (DimCondition& condition : images) {
      (*this)(role::Dims(), condition.left);
      (*this)(role::Dims(), condition.right);
      (*this)(role::Name(), condition.message);
    }
    conditions = out_.copy(images);
  }
  void operator()(role::Name, std::string_view& name) { name = out_.copy(name); }
  void operator()(role::Name, std::span<const std::string_view>& names) {
    names = mapped(names, [this](std::string_view name) { return out_.copy(name); });
  }
  void operator()(role::Spelling, std::string_view& name) { name = out_.copy(name); }
  void operator()(role::Spelling, std::span<const FnAttribute>& attributes) {
    attributes = mapped(attributes, [this](const FnAttribute& a) {
      return FnAttribute{out_.copy(a.name), out_.copy(a.value)};
    });
  }
  void operator()(role::Checks, std::span<const bool>& checks) { checks = out_.copy(checks); }
  void operator()(role::Clause, const ScheduleClause*) {}
  template <class T>
  void operator()(role::Datum, const T&) {}
  void operator()(role::Home, uint32_t) {}

 protected:
  PatternPtr finish_pattern(PatternPtr pattern) {
    return map_pattern(
        out_, pattern, [this](const Variable* variable) { return finisher_.finish(variable); },
        [this](Type type) { return finisher_.finish(type); });
  }
  template <class T, class F>
  std::span<const T> mapped(std::span<const T> items, const F& image) {
    std::vector<T> images;
    images.reserve(items.size());
    for (const T& item : items) images.push_back(image(item));
    return out_.copy(images);
  }

  Finisher& finisher_;
  Arena& out_;
};

/// The children of a form are drafts, in the order of the node's table.
class FormFinisher : public FieldFinisher {
 public:
  FormFinisher(Finisher& finisher, Arena& out, DraftSpan children)
      : FieldFinisher(finisher, out), left_(children) {}
  using FieldFinisher::operator();

  void operator()(role::Child, ExprPtr& child) { child = finisher_.finish(next()); }
  /// No kind has other children after a list of them.
  void operator()(role::Child, std::span<const ExprPtr>& children) {
    children = out_.copy(finisher_.finish(std::exchange(left_, {})));
  }
  void operator()(role::Bindings, std::span<const Binding>& bindings) {
    std::vector<Binding> images;
    for (const Binding& binding : bindings) finisher_.finish({binding.variable, next()}, images);
    bindings = out_.copy(images);
  }
  void operator()(role::Arms, std::span<const MatchArm>& arms) {
    arms = mapped(arms, [this](const MatchArm& arm) {
      PatternPtr pattern = finish_pattern(arm.pattern);
      return MatchArm{pattern, finisher_.finish(next())};
    });
  }

 private:
  DraftPtr next() {
    DraftPtr draft = left_.front();
    left_ = left_.subspan(1);
    return draft;
  }

  DraftSpan left_;
};

/// The parts of an index expression are typed IR, except for its operands, which are drafts.
class IndexFinisher : public FieldFinisher {
 public:
  IndexFinisher(Finisher& finisher, Arena& out, std::span<const IndexOperand> operands)
      : FieldFinisher(finisher, out), operands_(operands) {}
  using FieldFinisher::operator();

  ExprPtr apply(ExprPtr expr) {
    if (!expr) return nullptr;
    if (auto* read = as<VarExpr>(expr))
      for (const IndexOperand& operand : operands_)
        if (operand.read && operand.read->variable == read->variable) return finisher_.finish(operand.tensor);
    return visit(expr, [this](const auto& node) -> ExprPtr {
      auto copy = node;
      copy.type = finisher_.finish(copy.type);
      for_each_field(*this, copy);
      return out_.make<std::remove_cvref_t<decltype(node)>>(std::move(copy));
    });
  }

  void operator()(role::Child, ExprPtr& child) { child = apply(child); }
  void operator()(role::Child, std::span<const ExprPtr>& children) {
    children = mapped(children, [this](ExprPtr child) { return apply(child); });
  }
  void operator()(role::Bindings, std::span<const Binding>& bindings) {
    bindings = mapped(bindings, [this](const Binding& b) {
      return Binding{b.variable ? finisher_.finish(b.variable) : nullptr, apply(b.value)};
    });
  }
  void operator()(role::Arms, std::span<const MatchArm>& arms) {
    arms = mapped(arms, [this](const MatchArm& arm) {
      return MatchArm{finish_pattern(arm.pattern), apply(arm.body)};
    });
  }

 private:
  std::span<const IndexOperand> operands_;
};

}  // namespace quern
