#pragma once
// The fields of each kind of expression: one table per kind, from which its walks are derived (children, free
// variables, substitution, equality, canonical text, the end of inference, verification of scopes).
//
// A table names the fields of a node with their roles, in the order in which scopes open: bindings of a field
// are in scope for the fields after it, to the end of the node. Children are in evaluation order. An omission
// does not compile: a kind without a table, a table without a field, a walk over all roles without one of
// them.

#include <tuple>
#include <type_traits>

#include "ir/base/fields.h"
#include "ir/expr/expr.h"

namespace quern {

namespace role {
struct Child {};       ///< ExprPtr (may be null), or a span of them
struct Bindings {};    ///< span of Binding: each value is a child, each variable bound after it
struct Arms {};        ///< span of MatchArm: each body is a child, in the scope of its pattern
struct Use {};         ///< the variable that is read
struct Parameters {};  ///< span of variables that are bound
struct FnDims {};      ///< span of bound dims; whoever instantiates the function supplies them
struct IndexVars {};   ///< span of bound dims, each with an extent
struct OpenedDims {};  ///< span of dims bound to the end of the enclosing function
struct Dims {};        ///< Dim, or a span of them, over dims in scope
struct Types {};       ///< span of Type, likewise
struct Conditions {};  ///< span of DimCondition, likewise
struct Name {};        ///< string_view or a span of them: text that is part of the node's meaning
struct Spelling {};    ///< string_view or span of FnAttribute: text kept for display only
struct Checks {};      ///< span of bool, one per index: whether it is tested at run time
struct Clause {};      ///< a ScheduleClause, or null
struct Datum {};       ///< a value that copies of the node share
struct Home {};        ///< the module where a name was written
}  // namespace role

namespace fields {
inline constexpr MakeField<role::Child> child;
inline constexpr MakeField<role::Bindings> bindings;
inline constexpr MakeField<role::Arms> arms;
inline constexpr MakeField<role::Use> use;
inline constexpr MakeField<role::Parameters> parameters;
inline constexpr MakeField<role::FnDims> fn_dims;
inline constexpr MakeField<role::IndexVars> index_vars;
inline constexpr MakeField<role::OpenedDims> opened_dims;
inline constexpr MakeField<role::Dims> dims;
inline constexpr MakeField<role::Types> types;
inline constexpr MakeField<role::Conditions> conditions;
inline constexpr MakeField<role::Name> name;
inline constexpr MakeField<role::Spelling> spelling;
inline constexpr MakeField<role::Checks> checks;
inline constexpr MakeField<role::Clause> clause;
inline constexpr MakeField<role::Datum> datum;
inline constexpr MakeField<role::Home> home;

/// The table of a kind.
template <class Node>
struct Of;

#define QUERN_FIELDS(Kind, ...)                             \
  template <>                                               \
  struct Of<Kind##Expr> {                                   \
    using E = Kind##Expr;                                   \
    static constexpr auto kTable = std::tuple(__VA_ARGS__); \
  };                                                        \
  static_assert(count<Kind##Expr, Expr>() == std::tuple_size_v<decltype(Of<Kind##Expr>::kTable)>)
QUERN_FIELDS(Const, datum(&E::value));
QUERN_FIELDS(Var, use(&E::variable));
QUERN_FIELDS(Global, name(&E::name), dims(&E::dims), types(&E::types), home(&E::module));
// Its arguments may open dims.
QUERN_FIELDS(OpCall, datum(&E::instance), child(&E::args), dims(&E::dims), clause(&E::schedule));
QUERN_FIELDS(Call, child(&E::callee), child(&E::args));
QUERN_FIELDS(Fn, datum(&E::primitive), fn_dims(&E::dim_vars), parameters(&E::params), child(&E::body),
             spelling(&E::attributes));
QUERN_FIELDS(Block, bindings(&E::bindings), child(&E::result));
QUERN_FIELDS(If, child(&E::condition), child(&E::then_arm), child(&E::else_arm));
QUERN_FIELDS(Match, datum(&E::partial), child(&E::scrutinee), arms(&E::arms));
QUERN_FIELDS(Tuple, child(&E::fields));
QUERN_FIELDS(Field, datum(&E::index), name(&E::name), child(&E::tuple));
QUERN_FIELDS(Construct, datum(&E::constructor), spelling(&E::name), child(&E::fields));
QUERN_FIELDS(Ref, child(&E::content));
QUERN_FIELDS(RefRead, child(&E::reference));
QUERN_FIELDS(RefWrite, child(&E::reference), child(&E::content));
QUERN_FIELDS(Intrinsic, datum(&E::intrinsic), child(&E::args), name(&E::texts));
QUERN_FIELDS(CheckDims, child(&E::value), opened_dims(&E::opened), conditions(&E::conditions));
QUERN_FIELDS(Extern, name(&E::kernel), datum(&E::attributes), child(&E::args));
// The tensors that the schedule names depend on no index variable, so it does not matter that they are in
// their scope.
QUERN_FIELDS(Comprehension, dims(&E::extents), index_vars(&E::vars), child(&E::body), clause(&E::schedule),
             child(&E::scheduled));
QUERN_FIELDS(View, child(&E::tensor));
QUERN_FIELDS(DimValue, dims(&E::dim));
QUERN_FIELDS(Scalar, datum(&E::op), datum(&E::is_cast), child(&E::args));
QUERN_FIELDS(Reduce, datum(&E::reduce), dims(&E::extents), index_vars(&E::vars), child(&E::body));
QUERN_FIELDS(Scan, datum(&E::reduce), dims(&E::extents), index_vars(&E::vars), child(&E::body));
QUERN_FIELDS(Scatter, datum(&E::scatter), child(&E::init), dims(&E::extents), index_vars(&E::vars),
             checks(&E::checked), child(&E::indices), child(&E::value));
QUERN_FIELDS(Read, child(&E::tensor), checks(&E::checked), child(&E::indices), child(&E::otherwise));
QUERN_FIELDS(Error);
#undef QUERN_FIELDS
}  // namespace fields

/// Replaces the items by their images under `f`, copied to the arena, if one of them changes; returns whether
/// one did.
template <class Item, class F>
bool map_items(Arena& arena, std::span<const Item>& items, const F& f) {
  std::vector<Item> images;  // from the first that changes on
  for (size_t i = 0; i < items.size(); ++i) {
    Item image = f(items[i]);
    if (images.empty() && image == items[i]) continue;
    if (images.empty()) {
      images.reserve(items.size());
      images.assign(items.begin(), items.begin() + static_cast<ptrdiff_t>(i));
    }
    images.push_back(std::move(image));
  }
  if (images.empty()) return false;
  items = arena.copy(images);
  return true;
}

/// Calls `f(role, field of node, same field of each other…)` for each field, in the order of the table.
template <class F, class Node, class... Others>
void for_each_field(F&& f, Node& node, Others&... others) {
  fields::for_each(fields::Of<std::remove_const_t<Node>>::kTable, f, node, others...);
}

/// Whether nodes of its kind bind index variables or opened dims.
inline bool binds_dims(ExprPtr expr) {
  bool binds = false;
  visit(expr, [&](const auto& node) {
    for_each_field(
        [&]<class Role>(Role, const auto&) {
          binds = binds || std::is_same_v<Role, role::IndexVars> || std::is_same_v<Role, role::OpenedDims>;
        },
        node);
  });
  return binds;
}

}  // namespace quern
