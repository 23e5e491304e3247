#include "passes/gradient/lifting/structures.h"

#include <utility>

namespace quern::lifting {

ExprPtr Structures::lift(ExprPtr value) { return along(Way::Lift, value->type, {value}); }

ExprPtr Structures::dual(ExprPtr value, ExprPtr tangent) {
  Type type = value->type;
  if (is_constant(type)) return value;
  // Outside of data types `()` stands for what has no tangent.
  if (type->kind != TypeKind::Tuple) return along(Way::Dual, type, {value, tangent});
  std::vector<ExprPtr> fields;
  for (uint32_t i = 0; i < type->args.size(); ++i)
    fields.push_back(dual(build_.field(value, i), build_.field(tangent, i)));
  return build_.tuple(fields);
}

ExprPtr Structures::received(Type type, ExprPtr lifted) {
  if (type->kind == TypeKind::Data) return along(Way::Received, type, {lifted});
  if (type->kind != TypeKind::Tuple) return build_.received(type, lifted);
  std::vector<ExprPtr> fields;
  for (uint32_t i = 0; i < type->args.size(); ++i)
    fields.push_back(received(type->args[i], build_.field(lifted, i)));
  return build_.tuple(fields);
}

ExprPtr Structures::along(Way way, Type type, const std::vector<ExprPtr>& of) {
  switch (type->kind) {
    case TypeKind::Tensor:
      if (way == Way::Lift) return build_.lift(of[0]);
      if (way == Way::Dual) return is_constant(type) ? of[0] : build_.dual(of[0], of[1]);
      return is_constant(type) ? build_.zeros_like(of[0]) : build_.received(type, of[0]);
    case TypeKind::Tuple: {
      std::vector<ExprPtr> fields;
      for (uint32_t i = 0; i < type->args.size(); ++i) {
        std::vector<ExprPtr> parts;
        parts.reserve(of.size());
        for (ExprPtr value : of) parts.push_back(build_.field(value, i));
        fields.push_back(along(way, type->args[i], parts));
      }
      return build_.tuple(fields);
    }
    case TypeKind::Data: return build_.call(build_.read(function_of({type, way})), of);
    // A reference, or a function, would have to be another one.
    default: problem = "a value of type " + to_string(type); return of[0];
  }
}

const Variable* Structures::function_of(Key key) {
  if (auto found = known_.find(key); found != known_.end()) return found->second;
  const Type lifted = build_.lifted(key.type);
  std::vector<Type> from{key.way == Way::Received ? lifted : key.type};
  if (key.way == Way::Dual) from.push_back(key.type);
  const Type to = key.way == Way::Received ? key.type : lifted;
  std::vector<const Variable*> params;
  params.reserve(from.size());
  for (Type type : from) params.push_back(build_.variable(params.empty() ? "value" : "tangent", type));
  constexpr std::string_view kNames[] = {"lift", "dual", "received"};
  const Variable* function = build_.variable(kNames[static_cast<size_t>(key.way)], function_type(from, to));
  // Those that it needs are bound inside of it: they may call it.
  known_.emplace(key, function);
  const std::map<Key, const Variable*> outer = known_;
  std::vector<Binding> others = std::exchange(functions, {});
  ExprPtr body = body_of(key, params);
  body = build_.block(std::exchange(functions, std::move(others)), body);
  known_ = outer;
  functions.push_back({function, build_.fn(params, {}, body)});
  return function;
}

ExprPtr Structures::body_of(Key key, const std::vector<const Variable*>& params) {
  const std::vector<TypedConstructor> all = functions_.constructors(user_, key.type);
  if (all.empty()) {
    problem = "a value of type " + to_string(key.type);
    return build_.read(params[0]);
  }
  std::vector<MatchArm> arms;
  for (const TypedConstructor& constructor : all) {
    std::vector<const Variable*> parts = parts_of(key, constructor);
    arms.push_back({pattern_of(key, constructor, parts), arm_of(key, constructor, params, parts)});
  }
  return build_.match(build_.read(params[0]), arms);
}

// The parts of one value, as variables.
std::vector<const Variable*> Structures::parts_of(Key key, const TypedConstructor& constructor) {
  std::vector<const Variable*> parts;
  for (Type field : constructor.fields)
    parts.push_back(build_.variable("part", key.way == Way::Received ? build_.lifted(field) : field));
  return parts;
}

PatternPtr Structures::pattern_of(Key key, const TypedConstructor& constructor,
                                  const std::vector<const Variable*>& parts) {
  if (key.way != Way::Received) return build_.pattern(*constructor.constructor, key.type, parts);
  return build_.pattern(*build_.lifted(constructor.constructor, key.type), build_.lifted(key.type), parts);
}

// The other value, made from the parts of what was matched.
ExprPtr Structures::arm_of(Key key, const TypedConstructor& constructor,
                           const std::vector<const Variable*>& params,
                           const std::vector<const Variable*>& parts) {
  const auto& [plain, fields] = constructor;
  std::vector<const Variable*> tangents;
  if (key.way == Way::Dual) tangents = parts_of(key, constructor);
  std::vector<ExprPtr> made;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::vector<ExprPtr> of{build_.read(parts[i])};
    if (key.way == Way::Dual) of.push_back(build_.read(tangents[i]));
    made.push_back(along(key.way, fields[i], of));
  }
  if (key.way == Way::Received) return build_.construct(*plain, key.type, made);
  ExprPtr lifted = build_.construct(*build_.lifted(plain, key.type), build_.lifted(key.type), made);
  if (key.way == Way::Lift) return lifted;
  return build_.match(build_.read(params[1]), {{pattern_of(key, constructor, tangents), lifted}},
                      plain->siblings.size() > 1);
}

}  // namespace quern::lifting
