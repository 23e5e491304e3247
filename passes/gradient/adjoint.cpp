#include "passes/gradient/adjoint.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/dim/range.h"
#include "passes/gradient/preimage.h"
#include "passes/pass.h"

namespace quern {

namespace {

constexpr int64_t kMostClasses = 16;

ReadSite site_of(const Contribution& c) {
  ReadSite site{c.vars, c.extents, c.zero, c.nonnegative, {}};
  for (ExprPtr index : c.read->indices) site.indices.push_back(static_cast<const DimValueExpr*>(index)->dim);
  return site;
}

bool is_computed(const Contribution& c) {
  return std::ranges::any_of(c.read->indices, [](ExprPtr i) { return i->kind != ExprKind::DimValue; });
}

// The gradient of one tensor from the contributions of its reads.
class Gatherer {
 public:
  Gatherer(const ScalarBuilder& build, const Variable* of, Adjoint& out) : build_(build), of_(of), out_(out) {
    for (Dim extent : shape()) {
      targets_.push_back(dim_var("u"));
      facts_.add_index(targets_.back(), extent);
    }
  }

  ExprPtr run(const std::vector<Contribution>& all) {
    Gathered gathered;
    Part whole{targets_, {shape().begin(), shape().end()}, targets_, {}};
    std::vector<const Contribution*> scattered;
    for (const Contribution& c : all) {
      auto points = points_of(c);
      (points ? gathered : scattered).push_back(&c);
      if (points) whole.points.push_back(std::move(*points));
    }
    ExprPtr tensor = gather(gathered, whole);
    for (const Contribution* c : scattered) tensor = scatter(*c, tensor);
    return tensor;
  }

 private:
  using Gathered = std::vector<const Contribution*>;

  std::span<const Dim> shape() const { return of_->type->dims; }
  ExprPtr zero() const { return build_.constant(0, of_->type->dtype); }

  // The points that read each element; nothing if they are known only at run time.
  std::optional<std::vector<Preimage>> points_of(const Contribution& c) {
    if (is_computed(c)) return std::nullopt;
    auto result = preimage(site_of(c), targets_, facts_);
    if (auto* points = std::get_if<std::vector<Preimage>>(&result)) return std::move(*points);
    out_.fallbacks.push_back({c.read->origin, std::get<Unsolvable>(result).reason});
    return std::nullopt;
  }

  // --- sums over the points that read an element

  // The elements `at`, one per point of `vars`, and for each contribution the points that read them.
  struct Part {
    std::vector<Dim> vars, extents, at;
    std::vector<std::vector<Preimage>> points;
  };

  ExprPtr gather(const Gathered& all, const Part& whole) {
    std::vector<int64_t> moduli = classes(all);
    std::vector<Part> parts;
    std::vector<int64_t> residues(moduli.size(), 0);
    do {
      auto part = part_of(all, moduli, residues);
      // If one class cannot be solved alone, solve all together.
      if (!part) return gather_whole(all, whole);
      parts.push_back(std::move(*part));
    } while (next(residues, moduli));
    return parts.size() == 1 ? gather_whole(all, whole) : interleaved(all, moduli, parts);
  }

  ExprPtr gather_whole(const Gathered& all, const Part& whole) {
    return bound(build_.comprehension(whole.vars, whole.extents, sum(all, whole)));
  }

  std::vector<int64_t> classes(const Gathered& all) {
    std::vector<int64_t> moduli(targets_.size(), 1);
    for (const Contribution* c : all) {
      std::vector<int64_t> here = residue_moduli(site_of(*c), targets_, facts_);
      for (size_t k = 0; k < moduli.size(); ++k) moduli[k] = std::lcm(moduli[k], here[k]);
    }
    int64_t count = 1;
    for (int64_t m : moduli) count = std::min(count * m, kMostClasses + 1);
    if (count > kMostClasses) std::ranges::fill(moduli, 1);
    return moduli;
  }

  static bool next(std::vector<int64_t>& residues, const std::vector<int64_t>& moduli) {
    for (size_t k = residues.size(); k-- > 0;) {
      if (++residues[k] < moduli[k]) return true;
      residues[k] = 0;
    }
    return false;
  }

  // The elements whose positions have these residues; nothing if a contribution cannot be solved there.
  std::optional<Part> part_of(const Gathered& all, const std::vector<int64_t>& moduli,
                              const std::vector<int64_t>& residues) {
    Facts facts;
    Part part;
    for (size_t k = 0; k < moduli.size(); ++k) {
      Dim m = dim_const(moduli[k]), rest = dim_sub(shape()[k], dim_const(residues[k]));
      Dim var = moduli[k] == 1 ? targets_[k] : dim_var(targets_[k]->name);
      part.vars.push_back(var);
      part.extents.push_back(dim_floordiv(dim_add(rest, dim_sub(m, dim_const(1))), m));
      part.at.push_back(dim_add(dim_mul(m, var), dim_const(residues[k])));
      facts.add_index(var, part.extents[k]);
      if (moduli[k] > 1) facts.add_nonnegative(dim_sub(dim_sub(shape()[k], dim_const(1)), part.at[k]));
    }
    for (const Contribution* c : all) {
      auto result = preimage(site_of(*c), part.at, facts);
      auto* points = std::get_if<std::vector<Preimage>>(&result);
      if (!points) return std::nullopt;
      part.points.push_back(std::move(*points));
    }
    return part;
  }

  // One dense tensor per class of positions modulo `moduli`, interleaved.
  ExprPtr interleaved(const Gathered& all, const std::vector<int64_t>& moduli,
                      const std::vector<Part>& parts) {
    ExprPtr whole = nullptr;
    std::vector<int64_t> residues(moduli.size(), 0);
    for (const Part& part : parts) {
      ExprPtr tensor = bound(build_.comprehension(part.vars, part.extents, sum(all, part)));
      std::vector<Dim> at;
      ExprPtr here = nullptr;
      for (size_t k = 0; k < moduli.size(); ++k) {
        Dim m = dim_const(moduli[k]);
        at.push_back(dim_floordiv(targets_[k], m));
        if (moduli[k] > 1)
          here = build_.both(here,
                             build_.is_zero(dim_sub(dim_floormod(targets_[k], m), dim_const(residues[k]))));
      }
      ExprPtr element = build_.read(tensor, at);
      whole = whole ? build_.choose(here, element, whole) : element;
      next(residues, moduli);
    }
    return bound(build_.comprehension(targets_, shape(), whole));
  }

  ExprPtr sum(const Gathered& all, const Part& part) {
    ExprPtr total = nullptr;
    for (size_t i = 0; i < all.size(); ++i)
      for (const Preimage& points : part.points[i]) {
        ExprPtr one = term(*all[i], points);
        total = total ? build_.add(total, one) : one;
      }
    return total ? total : zero();
  }

  ExprPtr term(const Contribution& c, const Preimage& part) {
    ExprPtr guard = nullptr;
    for (Dim d : part.zero) guard = build_.both(guard, build_.is_zero(d));
    for (Dim d : part.nonnegative) guard = build_.both(guard, build_.is_nonnegative(d));
    // Sums of 16-bit floats are accumulated before rounding.
    const DType dtype = c.value->type->dtype;
    const auto* cast = as<ScalarExpr>(c.value);
    const bool is_rounded = cast && cast->is_cast && !part.vars.empty() &&
                            dtype != accumulator_dtype(dtype) &&
                            cast->args[0]->type->dtype == accumulator_dtype(dtype);
    ExprPtr value = build_.where(guard, build_.copy(is_rounded ? cast->args[0] : c.value, part.values));
    // One reduction for all variables whose extents do not depend on each other.
    for (size_t end = part.vars.size(); end > 0;) {
      size_t begin = end - 1;
      auto open = [&](size_t from) {
        for (size_t k = from; k < end; ++k)
          for (size_t j = from; j < k; ++j)
            if (contains_var(part.extents[k], part.vars[j])) return true;
        return false;
      };
      while (begin > 0 && !open(begin - 1)) --begin;
      value = build_.reduce(ReduceKind::Sum, std::span(part.vars).subspan(begin, end - begin),
                            std::span(part.extents).subspan(begin, end - begin), value);
      end = begin;
    }
    return is_rounded ? build_.cast(value, dtype) : value;
  }

  // --- scatters

  ExprPtr scatter(const Contribution& c, ExprPtr before) {
    Arena& arena = build_.arena();
    std::vector<Dim> extents;
    ExprPtr counts = nullptr;
    Facts outer;
    for (size_t k = 0; k < c.vars.size(); ++k) {
      // An extent that depends on other variables is replaced by its maximum, and points beyond it do not
      // count.
      Dim most = range_of(c.extents[k], outer).greatest;
      if (most != c.extents[k])
        counts = build_.both(counts,
                             build_.is_nonnegative(dim_sub(dim_sub(c.extents[k], dim_const(1)), c.vars[k])));
      extents.push_back(most == c.extents[k] ? most : dim_max(most, dim_const(0)));
      outer.add_index(c.vars[k], c.extents[k]);
    }
    for (Dim d : c.zero) counts = build_.both(counts, build_.is_zero(d));
    for (Dim d : c.nonnegative) counts = build_.both(counts, build_.is_nonnegative(d));
    if (c.condition) counts = build_.both(counts, build_.copy(c.condition));
    if (c.read->otherwise) counts = build_.both(counts, is_inside(build_, *c.read));
    std::vector<ExprPtr> indices;
    for (ExprPtr index : c.read->indices) {
      ExprPtr at = build_.copy(index);
      indices.push_back(counts ? build_.choose(counts, at, build_.dim(dim_const(0))) : at);
    }
    // Without elements there is no place for excluded points.
    if (counts && !extents.empty())
      extents[0] = dim_min(extents[0], dim_mul(extents[0], dim_product(shape())));
    std::vector<Dim> u;
    for (Dim target : targets_) u.push_back(dim_var(target->name));
    ExprPtr init = build_.read(before, u);
    ExprPtr value = build_.where(counts, c.value);
    ExprPtr body = arena.make<ScatterExpr>(
        Expr{ExprKind::Scatter, init->type, build_.origin()}, ScatterKind::Add, arena.copy(c.vars),
        arena.copy(extents), init, arena.copy(indices), arena.copy(std::vector<bool>(indices.size())), value);
    return bound(build_.comprehension(u, shape(), body));
  }

  ExprPtr bound(ExprPtr tensor) {
    Arena& arena = build_.arena();
    ExprPtr own = build_.copy(tensor);
    const Variable* variable = make_variable(arena, arena.copy("d_" + std::string(of_->name)), own->type);
    out_.bindings.push_back({variable, own});
    return read_of(arena, variable, build_.origin());
  }

  const ScalarBuilder& build_;
  const Variable* of_;
  Adjoint& out_;
  std::vector<Dim> targets_;
  Facts facts_;
};

}  // namespace

Adjoint adjoint(Arena& arena, const ComprehensionExpr& comprehension, ExprPtr cotangent) {
  ScalarBuilder build(arena, comprehension.origin);
  Contributions passed = contributions(build, comprehension, cotangent);
  Adjoint out;
  for (const Binding& helper : passed.helpers)
    out.bindings.push_back({helper.variable, build.copy(helper.value)});
  for (const auto& [variable, all] : passed.of)
    out.gradients.emplace_back(variable, Gatherer(build, variable, out).run(all));
  return out;
}

std::optional<std::string> scatter_reason(const Contribution& contribution, std::span<const Dim> shape) {
  if (is_computed(contribution)) return std::nullopt;
  std::vector<Dim> targets;
  Facts facts;
  for (Dim extent : shape) {
    targets.push_back(dim_var("u"));
    facts.add_index(targets.back(), extent);
  }
  auto result = preimage(site_of(contribution), targets, facts);
  auto* unsolvable = std::get_if<Unsolvable>(&result);
  return unsolvable ? std::optional(unsolvable->reason) : std::nullopt;
}

}  // namespace quern
