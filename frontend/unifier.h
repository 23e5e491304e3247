#pragma once
// Unknown types, dims and dtypes of one inference, and their unification.

#include <unordered_map>
#include <vector>

#include "frontend/signature.h"
#include "ir/type.h"

namespace quern {

/// What an unknown dtype may become.
enum class DTypeClass : uint8_t {
  Any,
  Number,  ///< of an integer literal: any numeric dtype; int32 where nothing decides
  Float,   ///< of a float literal; float32 where nothing decides
};

class Unifier {
 public:
  Type fresh_type() { return types_.fresh(); }
  Dim fresh_dim() { return dims_.fresh(); }
  DType fresh_dtype(DTypeClass dtype_class, bool wide = false);

  Type resolve(Type type);
  Dim resolve(Dim dim) { return dim->has_infer ? dims_.resolve(dim) : dim; }
  DType resolve(DType dtype) const;

  bool unify(Type a, Type b);
  bool unify(Dim a, Dim b);
  bool unify(DType a, DType b);

  /// Literals that nothing decides take their defaults. True when there was one.
  bool apply_defaults();
  /// Equalities of dims that were put off and do not hold.
  std::vector<std::pair<Dim, Dim>> unsettled();
  /// For messages: "an integer literal" where nothing has decided its dtype yet.
  std::string describe(DType dtype) const;
  std::string describe(Type type);
  /// Whether the last failed unification would have made a type contain itself.
  bool infinite() const { return infinite_; }
  /// Grows with every binding: relations are worth another try when it moved.
  uint64_t progress() const { return progress_; }

 private:
  struct DTypeUnknown {
    DTypeClass dtype_class;
    bool wide;  ///< an integer literal past 32 bits defaults to int64
    bool bound = false;
    DType value{};
  };
  bool bind(Type unknown, Type value);
  bool occurs(Type unknown, Type in);

  DimScratch dims_;
  TypeScratch types_;
  std::unordered_map<Type, Type> bindings_;
  std::vector<DTypeUnknown> dtypes_;
  std::vector<std::pair<Dim, Dim>> deferred_;
  uint64_t progress_ = 0;
  bool infinite_ = false;
};

}  // namespace quern
