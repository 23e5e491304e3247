#pragma once
// Tables of node fields and their roles, from which walks over nodes are derived.

#include <cstddef>
#include <tuple>

namespace quern {

template <class Role, class Node, class T>
struct Field {
  T Node::*member;
};

namespace fields {

template <class Role>
struct MakeField {
  template <class Node, class T>
  constexpr Field<Role, Node, T> operator()(T Node::*member) const {
    return {member};
  }
};

/// Stands for a value of any type, to count the fields of a struct.
struct AnyValue {
  template <class T>
  operator T() const;
};
/// How many fields a struct has besides its base.
template <class Node, class Base, class... Values>
consteval size_t count(Values... values) {
  if constexpr (requires { Node{Base(), values..., AnyValue()}; })
    return count<Node, Base>(values..., AnyValue());
  else
    return sizeof...(Values);
}

/// Calls `f(role, field of node, same field of each other…)` for each field, in table order.
template <class Table, class F, class Node, class... Others>
void for_each(const Table& table, F&& f, Node& node, Others&... others) {
  auto call = [&]<class Role, class Owner, class T>(const Field<Role, Owner, T>& field) {
    f(Role(), node.*field.member, others.*field.member...);
  };
  std::apply([&](const auto&... field) { (call(field), ...); }, table);
}

}  // namespace fields

}  // namespace quern
