#pragma once
// The fields of each kind of value and statement: one table per kind, as for expressions (ir/expr/fields.h),
// from which walks over kernels are derived (jit/loops/walk.h). A kind without a table, or a table without a
// field, does not compile.

#include "ir/base/fields.h"
#include "jit/loops/stmt.h"

namespace quern::loops {

namespace role {
struct Child {};      ///< ValuePtr (null only in statements), LoadPtr, or a list of them
struct Otherwise {};  ///< ValuePtr or null: evaluated if a check fails
struct Checks {};     ///< list of BoundsCheck
struct Offsets {};    ///< list of ComputedOffset
struct Dims {};       ///< Dim (may be null), over the kernel's dims and enclosing loops
struct Indices {};    ///< list of Dim, likewise: a place in a tile, or along the axes of a buffer
struct Var {};        ///< Dim: the variable that a loop binds
struct Local {};      ///< int: the local that is read or modified, -1 for none
struct NewLocal {};   ///< int: the local that is declared
struct Buffer {};     ///< int: the kernel's buffer that is read or written
struct Trap {};       ///< int: the kernel's return value if a check fails, 0 to continue
struct Steps {};      ///< Execution
struct Body {};       ///< Block
struct Datum {};      ///< independent of the node's context
}  // namespace role

namespace fields {
using quern::fields::MakeField;
inline constexpr MakeField<role::Child> child;
inline constexpr MakeField<role::Otherwise> otherwise;
inline constexpr MakeField<role::Checks> checks;
inline constexpr MakeField<role::Offsets> offsets;
inline constexpr MakeField<role::Dims> dims;
inline constexpr MakeField<role::Indices> indices;
inline constexpr MakeField<role::Var> var;
inline constexpr MakeField<role::Local> local;
inline constexpr MakeField<role::NewLocal> new_local;
inline constexpr MakeField<role::Buffer> buffer;
inline constexpr MakeField<role::Trap> trap;
inline constexpr MakeField<role::Steps> steps;
inline constexpr MakeField<role::Body> body;
inline constexpr MakeField<role::Datum> datum;

/// The table of a kind.
template <class Node>
struct Of;

/// The number of fields in a table: the node's own, and those of a CheckedValue.
template <class Node>
consteval size_t count_of() {
  if constexpr (std::is_base_of_v<Stmt, Node>) {
    return quern::fields::count<Node, typename Node::StmtOf>();
  } else {
    constexpr size_t kOfChecked = std::is_base_of_v<CheckedValue, Node> ? 2 : 0;
    return quern::fields::count<Node, typename Node::ValueOf>() + kOfChecked;
  }
}

#define QUERN_FIELDS(Kind, ...)                             \
  template <>                                               \
  struct Of<Kind> {                                         \
    using N = Kind;                                         \
    static constexpr auto kTable = std::tuple(__VA_ARGS__); \
  };                                                        \
  static_assert(count_of<Kind>() == std::tuple_size_v<decltype(Of<Kind>::kTable)>)
QUERN_FIELDS(ConstValue, datum(&N::constant));
QUERN_FIELDS(IndexValue, dims(&N::dim), checks(&N::checks), trap(&N::trap));
QUERN_FIELDS(LoadValue, buffer(&N::buffer), dims(&N::offset), indices(&N::indices), offsets(&N::computed),
             checks(&N::checks), otherwise(&N::otherwise), trap(&N::trap), datum(&N::unseen));
QUERN_FIELDS(ApplyValue, datum(&N::op), child(&N::args), checks(&N::checks), trap(&N::trap));
QUERN_FIELDS(CastValue, child(&N::value));
QUERN_FIELDS(SelectValue, child(&N::condition), child(&N::then_arm), child(&N::else_arm));
QUERN_FIELDS(LocalValue, local(&N::local), indices(&N::indices), checks(&N::checks), trap(&N::trap));
QUERN_FIELDS(DotValue, datum(&N::dot), child(&N::a), child(&N::b), datum(&N::terms), dims(&N::stride));
QUERN_FIELDS(For, dims(&N::extent), steps(&N::execution), var(&N::var), body(&N::body));
QUERN_FIELDS(If, checks(&N::checks), body(&N::body));
QUERN_FIELDS(IfApart, buffer(&N::from), buffer(&N::to), body(&N::body));
QUERN_FIELDS(Declare, child(&N::value), new_local(&N::local), datum(&N::dtype), datum(&N::shape),
             datum(&N::width), datum(&N::matrices), datum(&N::terms));
QUERN_FIELDS(Assign, local(&N::local), indices(&N::indices), child(&N::value));
QUERN_FIELDS(Settle, local(&N::local));
QUERN_FIELDS(Transpose, local(&N::local), datum(&N::width), datum(&N::rows));
QUERN_FIELDS(Reduce, local(&N::local), indices(&N::indices), datum(&N::reduce), checks(&N::checks),
             child(&N::value), local(&N::index_local), child(&N::index_value));
QUERN_FIELDS(Store, buffer(&N::buffer), dims(&N::offset), child(&N::value));
QUERN_FIELDS(Prefetch, buffer(&N::buffer), dims(&N::offset));
QUERN_FIELDS(Update, buffer(&N::buffer), dims(&N::offset), offsets(&N::computed), checks(&N::checks),
             trap(&N::trap), datum(&N::op), child(&N::value));
#undef QUERN_FIELDS
}  // namespace fields

/// Calls `f(role, field of node)` for each field, in table order: bindings of a field are in scope for the
/// fields after it.
template <class F, class Node>
void for_each_field(F&& f, Node& node) {
  quern::fields::for_each(fields::Of<std::remove_const_t<Node>>::kTable, f, node);
}

}  // namespace quern::loops
