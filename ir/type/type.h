#pragma once
// Types, interned: equal types are one pointer (types with inference unknowns belong to the running inference
// and are equal only after `resolve`). Text form: `Tensor[(n, 64), float32]`, `float32` (rank 0), `(t, t)`,
// `fn (t) -> t`, `Net`, `List[t]`, `Block[n, 64]`, `Ref[t]`.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/type/dtype.h"

namespace quern {

enum class TypeKind : uint8_t {
  Tensor,    ///< dims, dtype
  Tuple,     ///< args
  Function,  ///< args: parameters, then the result
  Data,      ///< name, id (of the declaration's content), args
  Dim,       ///< dims[0]: an argument of a data type that is over dims; no value has such a type
  Ref,       ///< args[0]
  Var,       ///< name, id: a rigid type variable
  Infer,     ///< id: an unknown of the running inference
  Error,     ///< of an expression with a diagnostic; compatible with everything, reports nothing further
};

struct TypeNode;
using Type = const TypeNode*;

struct TypeNode {
  TypeKind kind;
  bool has_infer = false;
  DType dtype = {};
  uint64_t id = 0;
  std::string_view name = {};
  std::span<const Dim> dims = {};
  std::span<const Type> args = {};

  bool is_tensor() const { return kind == TypeKind::Tensor; }
  bool is_scalar() const { return kind == TypeKind::Tensor && dims.empty(); }
  bool is_error() const { return kind == TypeKind::Error; }
  bool is_unit() const { return kind == TypeKind::Tuple && args.empty(); }
  std::span<const Type> params() const { return args.first(args.size() - 1); }
  Type result() const { return args.back(); }
};

Type tensor_type(std::span<const Dim> dims, DType dtype);
Type scalar_type(DType dtype);
Type tuple_type(std::span<const Type> fields);
Type unit_type();
Type function_type(std::span<const Type> params, Type result);
Type data_type(std::string_view name, uint64_t id, std::span<const Type> args);
Type ref_type(Type content);
/// A dim as the argument of a data type.
Type dim_argument(Dim dim);
/// A tuple, function, data or reference type with its parts replaced.
Type with_args(Type type, std::span<const Type> args);
/// A new rigid variable; the name is for display.
Type type_var(std::string_view name);
Type error_type();

std::string to_string(Type type);

/// Replacements for variables.
struct Substitution {
  DimMap dims;
  std::unordered_map<Type, Type> types;
  std::unordered_map<DType, DType> dtypes;
  bool empty() const { return dims.empty() && types.empty() && dtypes.empty(); }
};
Type substitute(Type type, const Substitution& substitution);
/// Replaces a parameter of a data type or of an alias by its argument of the same kind. A parameter is a rigid
/// variable, a dim variable (a `dim_argument`), or a dtype variable (the type of its scalars).
void bind_parameter(Substitution& substitution, Type parameter, Type argument);
/// Whether a type is, or has in its shape or dtype, the parameter; its arguments aside.
bool has_parameter(Type type, Type parameter);
void for_each_dim_var(Type type, const std::function<void(Dim)>& visit);
bool contains_error(Type type);

/// A constructor of a data type, interned with its type: equal declarations have one pointer.
struct Constructor {
  std::string_view name;
  std::string_view type;                     ///< its type's name
  uint32_t tag;                              ///< its number among its type's constructors, from 0
  std::span<const std::string_view> fields;  ///< field names, "" if unnamed
  /// Per field: bit k is set if its type depends on the data type's parameter k.
  std::span<const uint64_t> parameters;
  std::span<const Constructor> siblings;  ///< all constructors of its type, by tag
};
struct ConstructorSpec {
  std::string name;
  std::vector<std::string> fields;
  std::vector<uint64_t> parameters = {};
};
/// The constructors of the data type named `type`, whose declaration is identified by `id`.
std::span<const Constructor> data_constructors(std::string_view type, uint64_t id,
                                               const std::vector<ConstructorSpec>& specs);

/// Owns the type nodes with unknowns of the inference on this thread, as DimScratch does for dims.
class TypeScratch {
 public:
  TypeScratch();
  ~TypeScratch();
  TypeScratch(const TypeScratch&) = delete;
  TypeScratch& operator=(const TypeScratch&) = delete;
  static TypeScratch* current();

  Type fresh();
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
  TypeScratch* previous_;
};

}  // namespace quern
