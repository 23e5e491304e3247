#include "passes/scatter_onto.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "ir/expr/effects.h"
#include "ir/expr/reads.h"
#include "passes/scalar_builder.h"
#include "passes/uses.h"

namespace quern {

namespace {

/// Each term is rounded to the digits of the number that it is added to. More terms that are small beside it are to be
/// summed first.
constexpr int64_t kMostTerms = 64;

std::optional<double> finite_constant(ExprPtr expr) {
  auto* constant = as<ConstExpr>(expr);
  if (!constant || !expr->type->is_scalar() || !expr->type->dtype.is_float() || expr->type->dtype.is_vector())
    return std::nullopt;
  const double value = element_as_double(*constant->value, 0);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// An element `rest + factor * tensor[own place]`.
struct Linear {
  ExprPtr rest = nullptr;  ///< null for 0
  double factor = 1;
};

class LinearReader {
 public:
  LinearReader(const ScalarBuilder& build, const ComprehensionExpr& reader, const Variable* tensor)
      : build_(build), reader_(reader), tensor_(tensor) {}

  std::optional<Linear> linear(ExprPtr expr) const {
    if (auto* read = as<ReadExpr>(expr))
      return is_read_at(*read, tensor_, reader_.vars) ? std::optional(Linear{}) : std::nullopt;
    auto* scalar = as<ScalarExpr>(expr);
    if (!scalar || scalar->is_cast || !expr->type->dtype.is_float() || expr->type->dtype.bits < 32)
      return std::nullopt;
    if (scalar->op == ScalarOp::Neg) return scaled(linear(scalar->args[0]), -1);
    if (scalar->args.size() != 2) return std::nullopt;
    const bool in_first = mentions(scalar->args[0], tensor_);
    if (in_first == mentions(scalar->args[1], tensor_)) return std::nullopt;
    const std::optional<Linear> part = linear(scalar->args[in_first ? 0 : 1]);
    const ExprPtr other = scalar->args[in_first ? 1 : 0];
    if (!part) return std::nullopt;
    switch (scalar->op) {
      case ScalarOp::Add: return Linear{part->rest ? build_.add(part->rest, other) : other, part->factor};
      case ScalarOp::Sub:
        if (in_first) return Linear{sum(part->rest, build_.negate(other)), part->factor};
        return Linear{part->rest ? build_.sub(other, part->rest) : other, -part->factor};
      case ScalarOp::Mul: {
        const std::optional<double> factor = finite_constant(other);
        return factor ? scaled(part, *factor) : std::nullopt;
      }
      default: return std::nullopt;
    }
  }

 private:
  ExprPtr sum(ExprPtr a, ExprPtr b) const { return a ? build_.add(a, b) : b; }

  std::optional<Linear> scaled(std::optional<Linear> part, double factor) const {
    if (!part) return part;
    part->factor *= factor;
    if (part->rest) part->rest = build_.mul(build_.constant_like(factor, part->rest), part->rest);
    return part;
  }

  const ScalarBuilder& build_;
  const ComprehensionExpr& reader_;
  const Variable* tensor_;
};

/// How many terms an element gets at the most: those of the variables that are no index of the result. Nothing if unknown.
std::optional<int64_t> most_terms(const ScatterExpr& scatter) {
  int64_t terms = 1;
  for (size_t k = 0; k < scatter.vars.size(); ++k) {
    const auto is_index = [&](ExprPtr index) {
      auto* dim = as<DimValueExpr>(index);
      return dim && dim->dim == scatter.vars[k];
    };
    if (std::ranges::any_of(scatter.indices, is_index)) continue;
    const std::optional<int64_t> extent = as_const(scatter.extents[k]);
    if (!extent || *extent > kMostTerms) return std::nullopt;
    terms = std::min(terms * std::max<int64_t>(1, *extent), kMostTerms + 1);
  }
  return terms;
}

class Rewriter {
 public:
  Rewriter(Arena& arena, EffectAnalysis& effects, const Uses& uses)
      : arena_(arena), effects_(effects), uses_(uses) {}

  ExprPtr run(ExprPtr expr) {
    if (auto* reader = as<ComprehensionExpr>(expr)) return onto(*reader);
    auto* block = as<BlockExpr>(expr);
    if (!block) return map_children(arena_, expr, [&](ExprPtr child) { return child ? run(child) : child; });
    return map_block(
        arena_, *block, [&](ExprPtr value) { return run(value); },
        [&](const Variable* variable, ExprPtr value) { note(variable, value); });
  }

 private:
  /// Keeps what adds to zeros, and has one reader.
  void note(const Variable* variable, ExprPtr value) {
    auto* kernel = as<ComprehensionExpr>(value);
    auto* scatter = kernel ? as<ScatterExpr>(kernel->body) : nullptr;
    if (!variable || !scatter || kernel->schedule || scatter->scatter != ScatterKind::Add) return;
    const auto used = uses_.find(variable);
    if (used == uses_.end() || used->second != 1 || finite_constant(scatter->init) != 0.0) return;
    if (most_terms(*scatter).value_or(kMostTerms + 1) > kMostTerms) return;
    if (effects_.of(value).removable()) scatters_.emplace(variable, kernel);
  }

  ExprPtr onto(const ComprehensionExpr& reader) {
    if (reader.schedule) return &reader;
    for (const Variable* variable : free_variables(&reader)) {
      const auto found = scatters_.find(variable);
      if (found == scatters_.end()) continue;
      const ComprehensionExpr& added = *found->second;
      const ScalarBuilder build(arena_, reader.origin);
      const std::optional<Linear> linear = LinearReader(build, reader, variable).linear(reader.body);
      if (!linear || !linear->rest || !std::ranges::equal(added.extents, reader.extents)) continue;
      const auto& scatter = *as<ScatterExpr>(added.body);
      const ExprPtr value = build.mul(build.constant_like(linear->factor, scatter.value), scatter.value);
      const ExprPtr body = arena_.make<ScatterExpr>(
          Expr{ExprKind::Scatter, reader.body->type, scatter.origin}, ScatterKind::Add, scatter.vars,
          scatter.extents, linear->rest, scatter.indices, scatter.checked, value);
      return build.comprehension(reader.vars, reader.extents, body);
    }
    return &reader;
  }

  Arena& arena_;
  EffectAnalysis& effects_;
  const Uses& uses_;
  std::unordered_map<const Variable*, const ComprehensionExpr*> scatters_;
};

}  // namespace

ExprPtr scatter_onto(const PassContext& context, ExprPtr expr) {
  Uses uses;
  count_uses(expr, uses);
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return Rewriter(context.arena, effects, uses).run(expr);
}

}  // namespace quern
