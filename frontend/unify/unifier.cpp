#include "frontend/unify/unifier.h"

#include <algorithm>
#include <functional>
#include <unordered_set>

namespace quern {

Type Unifier::fresh_type() {
  Type type = types_.fresh();
  level_of({Unknown::Kind::Type, type->id}) = level_;
  return type;
}

Dim Unifier::fresh_dim() {
  Dim dim = dims_.fresh();
  level_of({Unknown::Kind::Dim, static_cast<uint64_t>(dim->value)}) = level_;
  return dim;
}

DType Unifier::fresh_dtype(DTypeClass dtype_class, bool wide) {
  dtypes_.push_back({dtype_class, wide});
  uint64_t id = dtypes_.size() - 1;
  level_of({Unknown::Kind::DType, id}) = level_;
  return DType::infer(static_cast<uint32_t>(id));
}

DType Unifier::resolve(DType dtype) const {
  auto is_bound = [this](DType d) { return d.is_infer() && dtypes_[d.id].bound; };
  DType end = dtype;
  while (is_bound(end)) end = dtypes_[end.id].value;
  while (is_bound(dtype)) dtype = std::exchange(dtypes_[dtype.id].value, end);
  if (end.is_infer()) note({Unknown::Kind::DType, end.id});
  return end;
}

// The end of a chain of bound unknowns, with path compression.
Type Unifier::root(Type unknown) {
  auto next = [&](Type t) {
    return t->kind == TypeKind::Infer && t->id < bindings_.size() ? bindings_[t->id] : nullptr;
  };
  Type end = unknown;
  while (Type value = next(end)) end = value;
  while (Type value = next(unknown)) {
    bindings_[unknown->id] = end;
    unknown = value;
  }
  return end;
}

namespace {

/// Whether a part may be more than a tensor: such a part may occur twice, so that the expanded type doubles
/// with each level (`let %b = (%a, %a); let %c = (%b, %b); …`).
bool is_nested(Type type) {
  return std::ranges::any_of(
      type->args, [](Type arg) { return arg->has_infer && arg->dims.empty() && !arg->is_tensor(); });
}

/// Calls `visit` with each part of a type that has unknowns, in textual order; nested parts only once.
template <class F>
void for_each_open_part(Type type, std::unordered_set<Type>& seen, const F& visit) {
  if (!type->has_infer || (is_nested(type) && !seen.insert(type).second)) return;
  visit(type);
  for (Type arg : type->args) for_each_open_part(arg, seen, visit);
}
template <class F>
void for_each_open_part(Type type, const F& visit) {
  std::unordered_set<Type> seen;
  for_each_open_part(type, seen, visit);
}

}  // namespace

Type Unifier::resolve(Type type) {
  type = root(type);
  if (!type->has_infer) return type;
  std::unordered_map<Type, Type> known;
  return resolve(type, known);
}

Type Unifier::resolve(Type type, std::unordered_map<Type, Type>& known) {
  if (!type->has_infer) return type;
  if (type->kind == TypeKind::Infer) {
    Type end = root(type);
    if (end->kind != TypeKind::Infer) return resolve(end, known);
    note({Unknown::Kind::Type, end->id});
    return end;
  }
  if (type->is_tensor()) {
    std::vector<Dim> dims;
    dims.reserve(type->dims.size());
    for (Dim d : type->dims) dims.push_back(resolve(d));
    return tensor_type(dims, resolve(type->dtype));
  }
  if (type->kind == TypeKind::Dim) return dim_argument(resolve(type->dims[0]));
  const bool nested = is_nested(type);
  if (const auto found = nested ? known.find(type) : known.end(); found != known.end()) return found->second;
  std::vector<Type> args;
  for (Type a : type->args) args.push_back(resolve(a, known));
  const Type result = with_args(type, args);
  if (nested) known.emplace(type, result);
  return result;
}

// --- levels and watchers ---------------------------------------------------------------------------------

// Unknowns not made by the unifier (a `_` in a type) get the level at which they are first encountered.
uint32_t& Unifier::level_of(Unknown unknown) {
  auto& levels = levels_[static_cast<size_t>(unknown.kind)];
  if (levels.size() <= unknown.id) levels.resize(unknown.id + 1, level_);
  return levels[unknown.id];
}

void Unifier::meet(Type type) {
  for (Unknown unknown : unknowns(type)) level_of(unknown);
}

bool Unifier::is_inner(Unknown unknown) { return level_of(unknown) > level_; }

void Unifier::lower(Unknown unknown, uint32_t level) {
  uint32_t& own = level_of(unknown);
  own = std::min(own, level);
}

void Unifier::lower(Dim dim, uint32_t level) {
  if (!dim->has_infer) return;
  if (dim->kind == DimKind::Infer) lower({Unknown::Kind::Dim, static_cast<uint64_t>(dim->value)}, level);
  for (Dim arg : dim->args) lower(arg, level);
}

void Unifier::lower(Type type, uint32_t level) {
  for_each_open_part(type, [&](Type part) {
    if (part->kind == TypeKind::Infer) lower({Unknown::Kind::Type, part->id}, level);
    if (part->dtype.is_infer()) lower({Unknown::Kind::DType, part->dtype.id}, level);
    for (Dim dim : part->dims) lower(dim, level);
  });
}

void Unifier::wake(Unknown unknown) {
  auto found = watchers_.find(unknown);
  if (found == watchers_.end()) return;
  woken_.insert(woken_.end(), found->second.begin(), found->second.end());
  watchers_.erase(found);
}

std::vector<Unknown> Unifier::observed() {
  std::vector<Unknown> result = std::move(observed_.back());
  observed_.pop_back();
  return result;
}

std::vector<Unknown> Unifier::unknowns(Type type) {
  std::vector<Unknown> found;
  type = resolve(type);
  if (!type->has_infer) return found;
  auto add = [&](Unknown unknown) {
    if (std::find(found.begin(), found.end(), unknown) == found.end()) found.push_back(unknown);
  };
  std::function<void(Dim)> dims = [&](Dim d) {
    if (d->kind == DimKind::Infer) {
      add({Unknown::Kind::Dim, static_cast<uint64_t>(d->value)});
      dim_nodes_.emplace(static_cast<uint64_t>(d->value), d);
    }
    for (Dim a : d->args) dims(a);
  };
  for_each_open_part(type, [&](Type t) {
    if (t->kind == TypeKind::Infer) add({Unknown::Kind::Type, t->id});
    for (Dim d : t->dims) dims(d);
    if (t->dtype.is_infer()) add({Unknown::Kind::DType, t->dtype.id});
  });
  return found;
}

void Unifier::settle(Unknown unknown, Type value) {
  if (bindings_.size() <= unknown.id) bindings_.resize(unknown.id + 1, nullptr);
  bindings_[unknown.id] = value;
  wake(unknown);
}

void Unifier::settle(Unknown unknown, DType value) {
  dtypes_[unknown.id].bound = true;
  dtypes_[unknown.id].value = value;
  wake(unknown);
}

void Unifier::settle(Unknown unknown, Dim value) {
  dims_.bind(dim_of(unknown), value);
  wake(unknown);
}

// --- unification -----------------------------------------------------------------------------------------

bool Unifier::occurs(Type unknown, Type in) {
  bool found = false;
  for_each_open_part(resolve(in), [&](Type part) { found |= part == unknown; });
  return found;
}

bool Unifier::bind(Type unknown, Type value) {
  infinite_ = occurs(unknown, value);
  if (infinite_) return false;
  lower(value, level_of({Unknown::Kind::Type, unknown->id}));
  settle({Unknown::Kind::Type, unknown->id}, value);
  return true;
}

bool Unifier::unify(Type a, Type b) {
  a = resolve(a);
  b = resolve(b);
  infinite_ = false;
  if (a == b) return true;
  if (a->kind == TypeKind::Infer) return bind(a, b);
  if (b->kind == TypeKind::Infer) return bind(b, a);
  if (a->is_error() || b->is_error()) return true;
  if (a->kind != b->kind || a->args.size() != b->args.size()) return false;
  if (a->kind == TypeKind::Tensor) {
    if (a->dims.size() != b->dims.size() || !unify(a->dtype, b->dtype)) return false;
    for (size_t i = 0; i < a->dims.size(); ++i)
      if (!unify(a->dims[i], b->dims[i])) return false;
    return true;
  }
  if (a->kind == TypeKind::Dim) return unify(a->dims[0], b->dims[0]);
  if (a->kind == TypeKind::Var) return false;
  if (a->kind == TypeKind::Data && (a->id != b->id || a->name != b->name)) return false;
  for (size_t i = 0; i < a->args.size(); ++i)
    if (!unify(a->args[i], b->args[i])) return false;
  return true;
}

bool Unifier::unify(DType a, DType b) {
  a = resolve(a);
  b = resolve(b);
  if (a == b) return true;
  if (!a.is_infer()) std::swap(a, b);
  if (!a.is_infer()) return false;
  DTypeUnknown& unknown = dtypes_[a.id];
  if (b.is_infer()) {
    // The narrower class wins: a float literal determines an integer literal's dtype.
    DTypeUnknown& other = dtypes_[b.id];
    other.dtype_class = std::max(other.dtype_class, unknown.dtype_class);
    other.wide |= unknown.wide;
    lower(Unknown{Unknown::Kind::DType, b.id}, level_of({Unknown::Kind::DType, a.id}));
  } else {
    // The class of a rigid variable is unknown here; each use of the definition is checked.
    if (unknown.dtype_class == DTypeClass::Float && !b.is_float() && !b.is_var()) return false;
    if (unknown.dtype_class == DTypeClass::Number && !b.is_float() && !b.is_int() && !b.is_index() &&
        !b.is_var())
      return false;
  }
  unknown.bound = true;
  unknown.value = b;
  wake({Unknown::Kind::DType, a.id});
  return true;
}

bool Unifier::unify(Dim a, Dim b) {
  a = resolve(a);
  b = resolve(b);
  if (a == b) return true;
  // NOLINTNEXTLINE(bugprone-easily-swappable-parameters)
  auto bind_dim = [&](Dim unknown, Dim value) {
    lower(value, level_of({Unknown::Kind::Dim, static_cast<uint64_t>(unknown->value)}));
    dims_.bind(unknown, value);
    wake({Unknown::Kind::Dim, static_cast<uint64_t>(unknown->value)});
    return true;
  };
  if (a->has_any || b->has_any) {
    if (exactly && a->kind == DimKind::Infer) return bind_dim(a, b);
    if (exactly && b->kind == DimKind::Infer) return bind_dim(b, a);
    return !exactly;
  }
  Dim difference = dim_sub(a, b);
  if (as_const(difference)) return false;
  if (!difference->has_infer) return equate && equate(a, b);
  auto mentions = [](Dim d, Dim unknown) {
    std::function<bool(Dim)> walk = [&](Dim x) {
      if (x == unknown) return true;
      for (Dim arg : x->args)
        if (walk(arg)) return true;
      return false;
    };
    return walk(d);
  };
  if (a->kind == DimKind::Infer && !mentions(b, a)) return bind_dim(a, b);
  if (b->kind == DimKind::Infer && !mentions(a, b)) return bind_dim(b, a);
  // An unknown that occurs once, with a coefficient that divides the rest, is determined by the rest.
  std::vector<Dim> terms(1, difference);
  if (difference->kind == DimKind::Sum) terms.assign(difference->args.begin(), difference->args.end());
  for (Dim term : terms) {
    bool scaled = term->kind == DimKind::Product && term->args.size() == 1;
    Dim unknown = scaled ? term->args[0] : term, coefficient = dim_const(scaled ? term->value : 1);
    if (unknown->kind != DimKind::Infer) continue;
    Dim rest = dim_sub(difference, term);
    if (mentions(rest, unknown)) continue;
    Dim value = dim_floordiv(dim_sub(dim_const(0), rest), coefficient);
    if (dim_add(dim_mul(value, coefficient), rest) == dim_const(0)) return bind_dim(unknown, value);
    if (as_const(rest)) return false;
  }
  deferred_.emplace_back(a, b);
  if (put_off) put_off();
  return true;
}

std::string Unifier::describe(DType dtype) const {
  dtype = resolve(dtype);
  if (!dtype.is_infer()) return to_string(dtype);
  switch (dtypes_[dtype.id].dtype_class) {
    case DTypeClass::Number: return "an integer literal";
    case DTypeClass::Float: return "a floating-point literal";
    case DTypeClass::Any: break;
  }
  return "of an unknown dtype";
}

std::string Unifier::describe(Type type) {
  type = resolve(type);
  if (type->is_scalar()) return describe(type->dtype);
  if (type->is_tensor() && type->dtype.is_infer()) {
    bool integer = dtypes_[type->dtype.id].dtype_class == DTypeClass::Number;
    return to_string(tensor_type(type->dims, integer ? DType::int32() : DType::float32()));
  }
  if (type->kind == TypeKind::Tuple) {
    std::vector<Type> fields;
    for (Type field : type->args) {
      field = resolve(field);
      bool literal = field->is_tensor() && field->dtype.is_infer();
      bool integer = literal && dtypes_[field->dtype.id].dtype_class == DTypeClass::Number;
      fields.push_back(literal ? tensor_type(field->dims, integer ? DType::int32() : DType::float32())
                               : field);
    }
    return to_string(tuple_type(fields));
  }
  return to_string(type);
}

bool Unifier::apply_defaults(size_t first, const std::function<bool(Unknown)>& applies) {
  bool any = false;
  // Float defaults first: relations waiting for them may give integer literals the float's dtype.
  for (DTypeClass literals : {DTypeClass::Float, DTypeClass::Number}) {
    for (size_t id = first; id < dtypes_.size(); ++id) {
      Unknown unknown{Unknown::Kind::DType, id};
      if (dtypes_[id].bound || dtypes_[id].dtype_class != literals || !applies(unknown)) continue;
      settle(unknown, literals == DTypeClass::Float ? DType::float32()
                      : dtypes_[id].wide            ? DType::int64()
                                                    : DType::int32());
      any = true;
    }
    if (any) break;
  }
  return any;
}

bool Unifier::apply_defaults(const std::set<Unknown>& kept) {
  return apply_defaults(0, [&](Unknown u) { return !kept.contains(u); });
}

bool Unifier::apply_inner_defaults(size_t first, const std::set<Unknown>& kept) {
  return apply_defaults(first, [&](Unknown u) { return is_inner(u) && !kept.contains(u); });
}

bool Unifier::settle_broadcasts(bool inner) {
  auto settles = [&](Dim broadcast, Dim whole) {
    if (broadcast->kind != DimKind::Broadcast ||
        std::ranges::find(broadcast->args, whole) == broadcast->args.end())
      return false;
    for (Dim part : broadcast->args) {
      if (part == whole || part->kind != DimKind::Infer) continue;
      if (!inner || is_inner({Unknown::Kind::Dim, static_cast<uint64_t>(part->value)}))
        return unify(part, whole);
    }
    return false;
  };
  for (const Unsettled& open : unsettled()) {
    Dim a = resolve(open.a), b = resolve(open.b);
    if (settles(a, b) || settles(b, a)) return true;
  }
  return false;
}

std::vector<Unifier::Unsettled> Unifier::unsettled() {
  std::vector<Unsettled> open;
  for (size_t i = 0; i < deferred_.size(); ++i) {
    auto [a, b] = deferred_[i];
    if (resolve(a) != resolve(b)) open.push_back({a, b, i});
  }
  return open;
}

}  // namespace quern
