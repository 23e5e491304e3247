#include "frontend/unify/gradual.h"

#include <algorithm>
#include <functional>
#include <tuple>

namespace quern {

namespace {

constexpr int kMaxSteps = 64;  ///< for a chain of equalities

/// The opened variable that a difference of 0 determines: linear with coefficient 1 or -1.
struct Solved {
  Dim variable, image;
};
std::optional<Solved> solve(Dim a, Dim b) {
  std::optional<Solved> best;
  Dim difference = dim_sub(a, b);
  for_each_var(difference, [&](Dim var) {
    if (!var->opened) return;
    auto linear = linear_in(difference, var);
    auto sign = linear ? as_const(linear->coefficient) : std::nullopt;
    if (!sign || (*sign != 1 && *sign != -1)) return;
    Dim image = *sign == 1 ? dim_sub(dim_const(0), linear->rest) : linear->rest;
    // Prefers a known value, then a named dim; of two opened dims the older one stays.
    auto rank = [](const Solved& s) {
      return std::tuple(contains_opened(s.image), s.image->args.size(), -int64_t{s.variable->order});
    };
    Solved found{var, image};
    if (!best || rank(found) < rank(*best)) best = found;
  });
  return best;
}

}  // namespace

uint32_t DimFacts::enter() {
  uint32_t outer = region_;
  region_ = static_cast<uint32_t>(parents_.size());
  parents_.push_back(outer);
  return outer;
}

bool DimFacts::is_inside(uint32_t region, uint32_t outer) const {
  while (region > outer) region = parents_[region];
  return region == outer;
}

bool DimFacts::holds_at(ProgramPoint fact, ProgramPoint at) const {
  return fact.sequence <= at.sequence && is_inside(at.region, fact.region);
}

Dim DimFacts::open(std::string_view name, uint32_t region) {
  Dim dim = dim_opened(name);
  born_.emplace(dim, region);
  return dim;
}

bool DimFacts::is_local(Dim var, uint32_t region) const {
  auto born = born_.find(var);
  return born != born_.end() && is_inside(born->second, region);
}

// --- equalities ------------------------------------------------------------------------------------------

Dim DimFacts::normalise(Dim dim, ProgramPoint at) const {
  return equal_.empty() ? dim : normalise(dim, at, kMaxSteps);
}

Dim DimFacts::normalise(Dim dim, ProgramPoint at, int depth) const {
  DimMap images;
  for_each_var(dim, [&](Dim var) {
    auto facts = equal_.find(var);
    if (facts == equal_.end() || images.contains(var)) return;
    for (const Fact& fact : facts->second)
      if (holds_at(fact.at, at)) {
        images.emplace(var, fact.image);
        return;
      }
  });
  if (images.empty() || depth == 0) return dim;
  return normalise(substitute(dim, images), at, depth - 1);
}

Type DimFacts::normalise(Type type, ProgramPoint at) const {
  if (equal_.empty()) return type;
  return map_value_dims(type, [&](Dim dim, size_t) { return normalise(dim, at); });
}

std::optional<bool> DimFacts::decide(DimRelation relation, Dim a, Dim b, ProgramPoint at) const {
  a = normalise(a, at);
  b = normalise(b, at);
  Facts facts;
  for (const Fact& fact : nonnegative_)
    if (holds_at(fact.at, at)) facts.add_nonnegative(fact.image);
  auto equal = [&](Dim x, Dim y) -> std::optional<bool> {
    if (x == y) return true;
    if (as_const(dim_sub(x, y)) || prove_different(x, y, facts)) return false;
    if (!nonnegative_.empty() && prove_equal(x, y, facts)) return true;
    return std::nullopt;
  };
  switch (relation) {
    case DimRelation::Equal: return equal(a, b);
    case DimRelation::NotEqual: {
      auto same = equal(a, b);
      return same ? std::optional(!*same) : std::nullopt;
    }
    case DimRelation::LessEqual:
      if (prove_less_equal(a, b, facts)) return true;
      if (prove_less(b, a, facts)) return false;
      return std::nullopt;
    case DimRelation::Broadcast: {
      auto same = equal(a, b), one = equal(a, dim_const(1)), other = equal(b, dim_const(1));
      if (same == true || one == true || other == true) return true;
      if (same == false && one == false && other == false) return false;
      return std::nullopt;
    }
  }
  return std::nullopt;
}

void DimFacts::assume(DimRelation relation, Dim a, Dim b, ProgramPoint at) {
  a = normalise(a, at);
  b = normalise(b, at);
  Dim difference = dim_sub(b, a);
  if (relation == DimRelation::LessEqual) nonnegative_.push_back({at, difference});
  if (relation != DimRelation::Equal) return;
  if (auto solved = solve(a, b)) {
    equal_[solved->variable].push_back({at, solved->image});
    return;
  }
  nonnegative_.push_back({at, difference});
  nonnegative_.push_back({at, dim_sub(a, b)});
}

// --- types -----------------------------------------------------------------------------------------------

void for_each_value_dim(Type type, const std::function<void(Dim)>& f) {
  for (Dim dim : type->dims) f(dim);
  if (type->kind == TypeKind::Tuple)
    for (Type field : type->args) for_each_value_dim(field, f);
}

Type map_value_dims(Type type, const std::function<Dim(Dim, size_t axis)>& f) {
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    for (size_t i = 0; i < type->dims.size(); ++i) dims.push_back(f(type->dims[i], i));
    return std::ranges::equal(dims, type->dims) ? type : tensor_type(dims, type->dtype);
  }
  if (type->kind != TypeKind::Tuple) return type;
  std::vector<Type> fields;
  for (Type field : type->args) fields.push_back(map_value_dims(field, f));
  return std::ranges::equal(fields, type->args) ? type : tuple_type(fields);
}

Type without_opened(Type type, std::span<const Dim> keep) {
  Substitution open;
  for_each_dim_var(type, [&](Dim var) {
    if (var->opened && std::ranges::find(keep, var) == keep.end()) open.dims.emplace(var, dim_any());
  });
  return open.empty() ? type : substitute(type, open);
}

Type join_types(Type a, Type b, const std::function<bool(Type, Type)>& unify) {
  if (a == b) return a;
  if (a->is_tensor() && b->is_tensor() && a->dims.size() == b->dims.size()) {
    if (!unify(tensor_type({}, a->dtype), tensor_type({}, b->dtype))) return nullptr;
    std::vector<Dim> dims;
    for (size_t i = 0; i < a->dims.size(); ++i) {
      Dim x = a->dims[i], y = b->dims[i];
      bool open = x->has_infer || y->has_infer;
      if (open && !unify(tensor_type({{x}}, a->dtype), tensor_type({{y}}, a->dtype))) return nullptr;
      dims.push_back(open || x == y ? x : dim_any());
    }
    return tensor_type(dims, a->dtype);
  }
  if (a->kind == TypeKind::Dim && b->kind == TypeKind::Dim && !a->has_infer && !b->has_infer)
    return dim_argument(dim_any());
  if (a->kind == TypeKind::Tuple && b->kind == TypeKind::Tuple && a->args.size() == b->args.size()) {
    std::vector<Type> fields;
    for (size_t i = 0; i < a->args.size(); ++i) {
      fields.push_back(join_types(a->args[i], b->args[i], unify));
      if (!fields.back()) return nullptr;
    }
    return tuple_type(fields);
  }
  bool data = a->kind == TypeKind::Data && b->kind == TypeKind::Data && a->id == b->id && a->name == b->name;
  if (data && a->args.size() == b->args.size()) {
    std::vector<Type> args;
    for (size_t i = 0; i < a->args.size(); ++i) {
      args.push_back(join_types(a->args[i], b->args[i], unify));
      if (!args.back()) return nullptr;
    }
    return data_type(a->name, a->id, args);
  }
  return unify(a, b) ? a : nullptr;
}

}  // namespace quern
