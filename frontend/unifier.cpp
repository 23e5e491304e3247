#include "frontend/unifier.h"

#include <functional>

namespace quern {

DType Unifier::fresh_dtype(DTypeClass dtype_class, bool wide) {
  dtypes_.push_back({dtype_class, wide});
  return DType::infer(static_cast<uint32_t>(dtypes_.size() - 1));
}

DType Unifier::resolve(DType dtype) const {
  while (dtype.is_infer() && dtypes_[dtype.id].bound) dtype = dtypes_[dtype.id].value;
  return dtype;
}

Type Unifier::resolve(Type type) {
  if (!type->has_infer) return type;
  switch (type->kind) {
    case TypeKind::Infer: {
      auto bound = bindings_.find(type);
      return bound == bindings_.end() ? type : resolve(bound->second);
    }
    case TypeKind::Tensor: {
      std::vector<Dim> dims;
      for (Dim d : type->dims) dims.push_back(resolve(d));
      return tensor_type(dims, resolve(type->dtype));
    }
    case TypeKind::Tuple:
    case TypeKind::Function:
    case TypeKind::Data:
    case TypeKind::Ref: {
      std::vector<Type> args;
      for (Type a : type->args) args.push_back(resolve(a));
      if (type->kind == TypeKind::Tuple) return tuple_type(args);
      if (type->kind == TypeKind::Data) return data_type(type->name, type->id, args);
      if (type->kind == TypeKind::Ref) return ref_type(args[0]);
      Type result = args.back();
      args.pop_back();
      return function_type(args, result);
    }
    case TypeKind::Var:
    case TypeKind::Error: return type;
  }
  return type;
}

bool Unifier::occurs(Type unknown, Type in) {
  in = resolve(in);
  if (in == unknown) return true;
  for (Type a : in->args)
    if (occurs(unknown, a)) return true;
  return false;
}

bool Unifier::bind(Type unknown, Type value) {
  infinite_ = occurs(unknown, value);
  if (infinite_) return false;
  bindings_[unknown] = value;
  ++progress_;
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
    // The narrower class wins: a float literal decides for an integer literal.
    DTypeUnknown& other = dtypes_[b.id];
    other.dtype_class = std::max(other.dtype_class, unknown.dtype_class);
    other.wide |= unknown.wide;
  } else {
    if (unknown.dtype_class == DTypeClass::Float && !b.is_float()) return false;
    if (unknown.dtype_class == DTypeClass::Number && !b.is_float() && !b.is_int() && !b.is_index())
      return false;
  }
  unknown.bound = true;
  unknown.value = b;
  ++progress_;
  return true;
}

bool Unifier::unify(Dim a, Dim b) {
  a = resolve(a);
  b = resolve(b);
  if (a == b || a->has_any || b->has_any) return true;
  Dim difference = dim_sub(a, b);
  if (as_const(difference)) return false;
  if (!difference->has_infer) return false;
  auto bind_dim = [&](Dim unknown, Dim value) {
    dims_.bind(unknown, value);
    ++progress_;
    return true;
  };
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
  // An unknown that stands once, with coefficient 1 or -1, is what the rest says.
  std::vector<Dim> terms(1, difference);
  if (difference->kind == DimKind::Sum) terms.assign(difference->args.begin(), difference->args.end());
  for (Dim term : terms) {
    bool negative = term->kind == DimKind::Product && term->value == -1 && term->args.size() == 1;
    Dim unknown = negative ? term->args[0] : term;
    if (unknown->kind != DimKind::Infer) continue;
    Dim rest = dim_sub(difference, term);
    if (mentions(rest, unknown)) continue;
    return bind_dim(unknown, negative ? rest : dim_sub(dim_const(0), rest));
  }
  deferred_.emplace_back(a, b);
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

bool Unifier::apply_defaults() {
  bool any = false;
  for (DTypeUnknown& unknown : dtypes_) {
    if (unknown.bound || unknown.dtype_class == DTypeClass::Any) continue;
    unknown.bound = true;
    unknown.value = unknown.dtype_class == DTypeClass::Float ? DType::float32()
                    : unknown.wide                           ? DType::int64()
                                                             : DType::int32();
    any = true;
  }
  if (any) ++progress_;
  return any;
}

std::vector<std::pair<Dim, Dim>> Unifier::unsettled() {
  std::vector<std::pair<Dim, Dim>> open;
  for (auto& [a, b] : deferred_)
    if (resolve(a) != resolve(b)) open.emplace_back(resolve(a), resolve(b));
  return open;
}

}  // namespace quern
