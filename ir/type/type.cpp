#include "ir/type/type.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <unordered_set>

#include "ir/base/arena.h"
#include "ir/base/interned.h"
#include "ir/base/result.h"
#include "ir/base/series.h"

namespace quern {

namespace {

size_t combine(size_t seed, size_t value) {
  return seed ^ (value + 0x9e3779b97f4a7c15ull + (seed << 6) + (seed >> 2));
}

struct ContentHash {
  size_t operator()(Type type) const {
    size_t hash = combine(static_cast<size_t>(type->kind), hash_value(type->dtype));
    hash = combine(hash, type->id);
    if (!type->name.empty()) hash = combine(hash, std::hash<std::string_view>()(type->name));
    for (Dim dim : type->dims) hash = combine(hash, std::hash<Dim>()(dim));
    for (Type arg : type->args) hash = combine(hash, std::hash<Type>()(arg));
    return hash;
  }
};

struct ContentEqual {
  bool operator()(Type a, Type b) const {
    return a->kind == b->kind && a->dtype == b->dtype && a->id == b->id && a->name == b->name &&
           std::ranges::equal(a->dims, b->dims) && std::ranges::equal(a->args, b->args);
  }
};

/// A copy of `node` whose name and spans live in the arena too.
Type copy_into(Arena& arena, const TypeNode& node) {
  return arena.make<TypeNode>(node.kind, node.has_infer, node.dtype, node.id, arena.copy(node.name),
                              arena.copy(node.dims), arena.copy(node.args));
}

/// The types of the process. Never destroyed: results of any lifetime point into it.
class Interner {
 public:
  Type intern(const TypeNode& node) {
    std::lock_guard lock(mutex_);
    if (auto found = types_.find(&node); found != types_.end()) return *found;
    return *types_.insert(copy_into(arena_, node)).first;
  }
  Interned size() {
    std::lock_guard lock(mutex_);
    return {types_.size(),
            arena_.bytes() + types_.bucket_count() * sizeof(void*) + types_.size() * 3 * sizeof(void*)};
  }

 private:
  std::mutex mutex_;
  Arena arena_;
  std::unordered_set<Type, ContentHash, ContentEqual> types_;
};

Interner& interner() {
  static Interner* const instance = new Interner;
  return *instance;
}

thread_local TypeScratch* current_scratch = nullptr;

}  // namespace

struct TypeScratch::Impl {
  Arena arena;
  uint64_t next_id = 0;
};

TypeScratch::TypeScratch() : impl_(std::make_unique<Impl>()), previous_(current_scratch) {
  current_scratch = this;
}

TypeScratch::~TypeScratch() { current_scratch = previous_; }

TypeScratch* TypeScratch::current() { return current_scratch; }

Type TypeScratch::fresh() {
  return copy_into(impl_->arena, {.kind = TypeKind::Infer, .has_infer = true, .id = impl_->next_id++});
}

Interned interned_types() { return interner().size(); }

// --- construction ------------------------------------------------------------------------------------------

namespace {

/// The node with this content: the process's, or one of the running inference if it has unknowns.
Type node_of(TypeNode content) {
  auto has_infer = [](auto* part) { return part->has_infer; };
  content.has_infer = content.dtype.is_infer() || std::ranges::any_of(content.dims, has_infer) ||
                      std::ranges::any_of(content.args, has_infer);
  QUERN_CHECK(std::ranges::none_of(content.dims, [](Dim dim) { return dim->in_arena; }));
  if (!content.has_infer) return interner().intern(content);
  QUERN_CHECK(current_scratch != nullptr);
  return copy_into(current_scratch->impl().arena, content);
}

}  // namespace

Type tensor_type(std::span<const Dim> dims, DType dtype) {
  return node_of({.kind = TypeKind::Tensor, .dtype = dtype, .dims = dims});
}

Type scalar_type(DType dtype) { return tensor_type({}, dtype); }

Type tuple_type(std::span<const Type> fields) { return node_of({.kind = TypeKind::Tuple, .args = fields}); }

Type unit_type() {
  static const Type type = tuple_type({});
  return type;
}

Type function_type(std::span<const Type> params, Type result) {
  std::vector<Type> args;
  args.reserve(params.size() + 1);
  args.assign(params.begin(), params.end());
  args.push_back(result);
  return node_of({.kind = TypeKind::Function, .args = args});
}

Type data_type(std::string_view name, uint64_t id, std::span<const Type> args) {
  return node_of({.kind = TypeKind::Data, .id = id, .name = name, .args = args});
}

Type ref_type(Type content) {
  return node_of({.kind = TypeKind::Ref, .args = std::span<const Type>(&content, 1)});
}

Type dim_argument(Dim dim) { return node_of({.kind = TypeKind::Dim, .dims = std::span<const Dim>(&dim, 1)}); }

Type with_args(Type type, std::span<const Type> args) {
  TypeNode content = *type;
  content.args = args;
  return node_of(content);
}

Type type_var(std::string_view name) {
  static std::atomic<uint64_t> next_id = 0;
  return Series::next(Series::Kind::Type, name, [&] {
    return node_of({.kind = TypeKind::Var, .id = next_id.fetch_add(1), .name = name});
  });
}

std::span<const Constructor> data_constructors(std::string_view type, uint64_t id,
                                               const std::vector<ConstructorSpec>& specs) {
  struct Table {
    std::mutex mutex;
    Arena arena;
    std::map<std::pair<std::string, uint64_t>, std::span<const Constructor>> types;
  };
  // Never destroyed: values of any lifetime point into it.
  static Table& table = *new Table;
  std::lock_guard lock(table.mutex);
  auto [entry, added] = table.types.try_emplace({std::string(type), id});
  if (!added) return entry->second;
  std::vector<Constructor> made;
  for (const ConstructorSpec& spec : specs) {
    std::vector<std::string_view> fields;
    for (const std::string& field : spec.fields) fields.push_back(table.arena.copy(field));
    auto tag = static_cast<uint32_t>(made.size());
    made.push_back({table.arena.copy(spec.name),
                    entry->first.first,
                    tag,
                    table.arena.copy(fields),
                    table.arena.copy(spec.parameters),
                    {}});
  }
  std::span<const Constructor> all = table.arena.copy(made);
  for (const Constructor& constructor : all) const_cast<Constructor&>(constructor).siblings = all;
  return entry->second = all;
}

Type error_type() {
  static const Type type = node_of({.kind = TypeKind::Error});
  return type;
}

// --- text --------------------------------------------------------------------------------------------------

namespace {

void write(std::string& out, Type type);

void write_list(std::string& out, std::span<const Type> types) {
  for (size_t i = 0; i < types.size(); ++i) {
    if (i > 0) out += ", ";
    write(out, types[i]);
  }
}

void write(std::string& out, Type type) {
  switch (type->kind) {
    case TypeKind::Tensor:
      if (type->dims.empty())
        out += to_string(type->dtype);
      else
        out += "Tensor[" + shape_to_string(type->dims) + ", " + to_string(type->dtype) + "]";
      return;
    case TypeKind::Tuple:
      out += "(";
      write_list(out, type->args);
      out += type->args.size() == 1 ? ",)" : ")";
      return;
    case TypeKind::Function:
      out += "fn (";
      write_list(out, type->params());
      out += ") -> ";
      write(out, type->result());
      return;
    case TypeKind::Data:
      out += type->name;
      if (type->args.empty()) return;
      out += "[";
      write_list(out, type->args);
      out += "]";
      return;
    case TypeKind::Dim: out += to_string(type->dims[0]); return;
    case TypeKind::Ref:
      out += "Ref[";
      write(out, type->args[0]);
      out += "]";
      return;
    case TypeKind::Var: out += type->name; return;
    case TypeKind::Infer: out += "_"; return;
    case TypeKind::Error: out += "<error>"; return;
  }
}

}  // namespace

std::string to_string(Type type) {
  std::string out;
  write(out, type);
  return out;
}

// --- traversal ---------------------------------------------------------------------------------------------

namespace {

/// Substitution into a type. Types share their parts (the type of `(%x, %x)` has one field type twice), so
/// each part is processed once: a chain of such pairs has exponential text, but takes linear work here.
class TypeSubstituter {
 public:
  explicit TypeSubstituter(const Substitution& substitution) : substitution_(substitution) {}

  Type apply(Type type) {
    switch (type->kind) {
      case TypeKind::Tensor: return apply_tensor(type);
      case TypeKind::Dim: return dim_argument(substitute(type->dims[0], substitution_.dims));
      case TypeKind::Var: {
        auto found = substitution_.types.find(type);
        return found == substitution_.types.end() ? type : found->second;
      }
      case TypeKind::Tuple:
      case TypeKind::Function:
      case TypeKind::Data:
      case TypeKind::Ref: break;
      case TypeKind::Infer:
      case TypeKind::Error: return type;
    }
    if (type->args.empty()) return type;
    if (auto found = done_.find(type); found != done_.end()) return found->second;
    std::vector<Type> args;
    for (Type arg : type->args) args.push_back(apply(arg));
    return done_[type] = std::ranges::equal(args, type->args) ? type : with_args(type, args);
  }

 private:
  Type apply_tensor(Type type) {
    if (substitution_.dims.empty() && !type->dtype.is_var()) return type;
    std::vector<Dim> dims;
    for (Dim dim : type->dims) dims.push_back(substitute(dim, substitution_.dims));
    auto dtype = substitution_.dtypes.find(type->dtype);
    if (dtype != substitution_.dtypes.end()) return tensor_type(dims, dtype->second);
    return std::ranges::equal(dims, type->dims) ? type : tensor_type(dims, type->dtype);
  }

  const Substitution& substitution_;
  std::unordered_map<Type, Type> done_;
};

/// Calls `visit` on the type and each distinct type inside, outermost first.
template <class F>
void for_each_part(Type type, std::unordered_set<Type>& seen, const F& visit) {
  visit(type);
  for (Type arg : type->args)
    if (seen.insert(arg).second) for_each_part(arg, seen, visit);
}

}  // namespace

Type substitute(Type type, const Substitution& substitution) {
  return substitution.empty() ? type : TypeSubstituter(substitution).apply(type);
}

void bind_parameter(Substitution& substitution, Type parameter, Type argument) {
  if (argument->is_error()) return;
  if (parameter->kind == TypeKind::Dim)
    substitution.dims.emplace(parameter->dims[0], argument->dims[0]);
  else if (parameter->is_tensor())
    substitution.dtypes.emplace(parameter->dtype, argument->dtype);
  else
    substitution.types.emplace(parameter, argument);
}

bool has_parameter(Type type, Type parameter) {
  if (type == parameter) return true;
  if (parameter->is_tensor()) return type->is_tensor() && type->dtype == parameter->dtype;
  bool found = false;
  if (parameter->kind == TypeKind::Dim)
    for (Dim dim : type->dims)
      for_each_var(dim, [&](Dim var) { found = found || var == parameter->dims[0]; });
  return found;
}

void for_each_dim_var(Type type, const std::function<void(Dim)>& visit) {
  std::unordered_set<Type> seen;
  for_each_part(type, seen, [&](Type part) {
    for (Dim dim : part->dims) for_each_var(dim, visit);
  });
}

namespace {

bool contains_error(Type type, std::unordered_set<Type>& seen) {
  if (type->args.empty()) return type->is_error();
  // Parts that have parts are looked at once.
  return type->is_error() || std::ranges::any_of(type->args, [&](Type arg) {
           return arg->args.empty() ? arg->is_error() : seen.insert(arg).second && contains_error(arg, seen);
         });
}

}  // namespace

bool contains_error(Type type) {
  std::unordered_set<Type> seen;
  return contains_error(type, seen);
}

}  // namespace quern
