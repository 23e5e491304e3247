#include "passes/gradient/tape/structures.h"

#include <utility>

namespace quern::tape {

ExprPtr Structures::lift(ExprPtr value) { return along(Way::Lift, value->type, value); }

ExprPtr Structures::received(Type type, ExprPtr lifted) {
  // Outside of data types `()` stands for what has no gradient.
  if (type->kind == TypeKind::Data) return along(Way::Received, type, lifted);
  if (type->kind != TypeKind::Tuple) return build_.received(type, lifted);
  std::vector<ExprPtr> fields;
  for (uint32_t i = 0; i < type->args.size(); ++i)
    fields.push_back(received(type->args[i], build_.field(lifted, i)));
  return build_.tuple(fields);
}

ExprPtr Structures::along(Way way, Type type, ExprPtr value) {
  switch (type->kind) {
    case TypeKind::Tensor:
      if (way == Way::Lift) return build_.lift(value);
      return is_constant(type) ? build_.zeros_like(value) : build_.received(type, value);
    case TypeKind::Tuple: {
      std::vector<ExprPtr> fields;
      for (uint32_t i = 0; i < type->args.size(); ++i)
        fields.push_back(along(way, type->args[i], build_.field(value, i)));
      return build_.tuple(fields);
    }
    case TypeKind::Data: return build_.call(build_.read(function_of({type, way})), {value});
    // A reference, or a function, would have to be another one.
    default: problem = "a value of type " + to_string(type); return value;
  }
}

const Variable* Structures::function_of(Key key) {
  if (auto found = known_.find(key); found != known_.end()) return found->second;
  const Type from = key.way == Way::Lift ? key.type : lifted(key.type);
  const Type to = key.way == Way::Lift ? lifted(key.type) : key.type;
  const Variable* param = build_.variable("value", from);
  const Variable* function =
      build_.variable(key.way == Way::Lift ? "lift" : "received", function_type(std::vector<Type>{from}, to));
  // Those that it needs are bound inside of it: they may call it.
  known_.emplace(key, function);
  const std::map<Key, const Variable*> outer = known_;
  std::vector<Binding> others = std::exchange(functions, {});
  ExprPtr body = body_of(key, param);
  body = build_.block(std::exchange(functions, std::move(others)), body);
  known_ = outer;
  functions.push_back({function, build_.fn({param}, {}, body)});
  return function;
}

ExprPtr Structures::body_of(Key key, const Variable* param) {
  const std::vector<TypedConstructor> all = functions_.constructors(user_, key.type);
  if (all.empty()) {
    problem = "a value of type " + to_string(key.type);
    return build_.read(param);
  }
  const bool lifts = key.way == Way::Lift;
  const Type from = lifts ? key.type : lifted(key.type), to = lifts ? lifted(key.type) : key.type;
  std::vector<MatchArm> arms;
  for (const auto& [plain, fields] : all) {
    const Constructor* other = lifted(plain, key.type);
    std::vector<const Variable*> parts;
    parts.reserve(fields.size());
    for (Type field : fields) parts.push_back(build_.variable("part", lifts ? field : lifted(field)));
    std::vector<ExprPtr> made;
    for (size_t i = 0; i < parts.size(); ++i)
      made.push_back(along(key.way, fields[i], build_.read(parts[i])));
    arms.push_back({build_.pattern(lifts ? *plain : *other, from, parts),
                    build_.construct(lifts ? *other : *plain, to, made)});
  }
  return build_.match(build_.read(param), arms);
}

}  // namespace quern::tape
