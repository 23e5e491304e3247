#include "passes/gradient/lifting/lifted.h"

#include <algorithm>

#include "frontend/infer/context/gradient_types.h"
#include "passes/pass.h"

namespace quern::lifting {

namespace {

// Ids of declarations are hashes of their texts.
constexpr uint64_t kCotangent = 0x636f74616e67656e, kTape = 0x7461706574617065;

std::span<const Constructor> cotangent_constructors() {
  static const auto kAll = data_constructors("Cotangent", kCotangent, {{"Zero", {}}, {"Of", {""}, {1}}});
  return kAll;
}
std::span<const Constructor> tape_constructors() {
  static const auto kAll = data_constructors("Tape", kTape, {{"End", {}}, {"Then", {"", ""}, {0, 0}}});
  return kAll;
}

Type cotangent_of(Type tensor) { return data_type("Cotangent", kCotangent, {&tensor, 1}); }
Type tape_type() { return data_type("Tape", kTape, {}); }
bool is_active(Type type) { return type->is_tensor() && type->dtype.is_float(); }

// No program can write such a name.
char mark(Carrier carrier) { return carrier == Carrier::Cotangent ? '\'' : '~'; }

}  // namespace

Type lifted(Type type, Carrier carrier) {
  if (is_active(type))
    return tuple_type(
        std::vector<Type>{type, carrier == Carrier::Cotangent ? ref_type(cotangent_of(type)) : type});
  if (type->args.empty() && type->kind != TypeKind::Data) return type;
  std::vector<Type> args;
  for (Type arg : type->args) args.push_back(lifted(arg, carrier));
  if (type->kind != TypeKind::Data) return with_args(type, args);
  return data_type(std::string(type->name) + mark(carrier), type->id, args);
}

bool is_scaffold(Type type) {
  if (type->kind != TypeKind::Data) return false;
  const char last = type->name.back();
  return type == tape_type() || last == mark(Carrier::Cotangent) || last == mark(Carrier::Tangent);
}

bool is_of_tensors(Type type) {
  return type->is_tensor() ||
         (type->kind == TypeKind::Tuple && std::ranges::all_of(type->args, is_of_tensors));
}

const Constructor* Build::lifted(const Constructor* constructor, Type type) const {
  std::vector<ConstructorSpec> specs;
  for (const Constructor& c : constructor->siblings)
    specs.push_back({std::string(c.name),
                     {c.fields.begin(), c.fields.end()},
                     {c.parameters.begin(), c.parameters.end()}});
  return &data_constructors(std::string(type->name) + mark(carrier_), type->id, specs)[constructor->tag];
}

ExprPtr Build::read(const Variable* v) const { return read_of(arena(), v, scalars.origin()); }

const Variable* Build::variable(std::string_view name, Type type) const {
  return make_variable(arena(), arena().copy(name), type);
}

ExprPtr Build::field(ExprPtr of, uint32_t index) const {
  return arena().make<FieldExpr>(head(ExprKind::Field, of->type->args[index]), of, index, std::string_view());
}

ExprPtr Build::block(const std::vector<Binding>& bindings, ExprPtr result) const {
  return block_of(arena(), bindings, result, scalars.origin());
}

ExprPtr Build::fn(const std::vector<const Variable*>& params, std::span<const Dim> dims, ExprPtr body) const {
  return function_literal(arena(), params, dims, body, scalars.origin());
}

ExprPtr Build::call(ExprPtr callee, const std::vector<ExprPtr>& args) const {
  return arena().make<CallExpr>(head(ExprKind::Call, callee->type->result()), callee, arena().copy(args));
}

ExprPtr Build::ref(ExprPtr content) const {
  return arena().make<RefExpr>(head(ExprKind::Ref, ref_type(content->type)), content);
}
ExprPtr Build::ref_read(ExprPtr reference) const {
  return arena().make<RefReadExpr>(head(ExprKind::RefRead, reference->type->args[0]), reference);
}
ExprPtr Build::ref_write(ExprPtr reference, ExprPtr content) const {
  return arena().make<RefWriteExpr>(head(ExprKind::RefWrite, unit_type()), reference, content);
}

ExprPtr Build::exact(ExprPtr tensor, std::vector<Binding>& out) const {
  std::vector<Dim> opened, dims;
  for (Dim d : tensor->type->dims) {
    dims.push_back(d->kind == DimKind::Any ? dim_opened("d") : d);
    if (d != dims.back()) opened.push_back(dims.back());
  }
  if (opened.empty()) return tensor;
  const Variable* known = variable("exact", tensor_type(dims, tensor->type->dtype));
  out.push_back({known, arena().make<CheckDimsExpr>(head(ExprKind::CheckDims, known->type), tensor,
                                                    arena().copy(opened), std::span<const DimCondition>())});
  return read(known);
}

ExprPtr Build::zeros_like(ExprPtr tensor) const {
  std::vector<Binding> bindings;
  Type type = tensor->type;
  if (std::ranges::count(type->dims, DimKind::Any, &DimNode::kind) > 0) type = exact(tensor, bindings)->type;
  std::vector<Dim> vars;
  for (size_t k = 0; k < type->dims.size(); ++k) vars.push_back(dim_var("i"));
  ExprPtr zero = scalars.constant(0, type->dtype);
  return block(bindings, vars.empty() ? zero : scalars.comprehension(vars, type->dims, zero));
}

ExprPtr Build::construct(const Constructor& c, Type type, const std::vector<ExprPtr>& fields) const {
  return arena().make<ConstructExpr>(head(ExprKind::Construct, type), &c, c.name, arena().copy(fields));
}

PatternPtr Build::pattern(const Constructor& c, Type type, const std::vector<const Variable*>& parts) const {
  std::vector<PatternPtr> patterns;
  patterns.reserve(parts.size());
  for (const Variable* v : parts)
    patterns.push_back(arena().make<Pattern>(PatternKind::Variable, v->type, scalars.origin(), v));
  return arena().make<Pattern>(PatternKind::Constructor, type, scalars.origin(), nullptr, &c, c.name,
                               arena().copy(patterns));
}

ExprPtr Build::match(ExprPtr of, const std::vector<MatchArm>& arms, bool partial) const {
  return arena().make<MatchExpr>(head(ExprKind::Match, arms[0].body->type), of, arena().copy(arms), partial);
}

// --- cotangents

ExprPtr Build::lift(ExprPtr value) const {
  Type type = value->type;
  if (is_constant(type)) return value;
  if (type->is_tensor()) {
    if (carrier_ == Carrier::Tangent) return dual(value, zeros_like(value));
    Type cotangent = cotangent_of(type);
    return tuple({value, ref(construct(cotangent_constructors()[0], cotangent, {}))});
  }
  std::vector<ExprPtr> fields;
  for (uint32_t i = 0; i < type->args.size(); ++i) fields.push_back(lift(field(value, i)));
  return tuple(fields);
}

ExprPtr Build::primal(Type type, ExprPtr value) const {
  if (is_constant(type)) return value;
  if (type->is_tensor()) return field(value, 0);
  std::vector<ExprPtr> fields;
  for (uint32_t i = 0; i < type->args.size(); ++i) fields.push_back(primal(type->args[i], field(value, i)));
  return tuple(fields);
}

void Build::accumulate(Type type, ExprPtr value, ExprPtr cotangent, std::vector<Binding>& out) const {
  if (is_constant(type)) return;
  if (!type->is_tensor()) {
    for (uint32_t i = 0; i < type->args.size(); ++i)
      accumulate(type->args[i], field(value, i), field(cotangent, i), out);
    return;
  }
  Type content = cotangent_of(type);
  const Constructor &zero = cotangent_constructors()[0], &of = cotangent_constructors()[1];
  const Variable* sum = variable("sum", type);
  std::vector<Binding> bindings;
  ExprPtr so_far = exact(read(sum), bindings);
  std::vector<Dim> vars;
  for (size_t k = 0; k < type->dims.size(); ++k) vars.push_back(dim_var("i"));
  ExprPtr more = block(bindings, scalars.comprehension(
                                     vars, so_far->type->dims,
                                     scalars.add(scalars.read(so_far, vars), scalars.read(cotangent, vars))));
  ExprPtr cell = field(value, 1);
  auto write = [&](ExprPtr total) { return ref_write(cell, construct(of, content, {total})); };
  out.push_back({nullptr, match(ref_read(cell), {{pattern(of, content, {sum}), write(more)},
                                                 {pattern(zero, content, {}), write(cotangent)}})});
}

ExprPtr Build::received(Type type, ExprPtr value) const {
  if (is_constant(type)) return tuple({});
  if (!type->is_tensor()) {
    std::vector<ExprPtr> fields;
    for (uint32_t i = 0; i < type->args.size(); ++i)
      fields.push_back(received(type->args[i], field(value, i)));
    return tuple(fields);
  }
  if (carrier_ == Carrier::Tangent) return field(value, 1);
  Type content = cotangent_of(type);
  const Variable* sum = variable("sum", type);
  return match(ref_read(field(value, 1)),
               {{pattern(cotangent_constructors()[1], content, {sum}), read(sum)},
                {pattern(cotangent_constructors()[0], content, {}), zeros_like(field(value, 0))}});
}

ExprPtr Build::has_received(Type type, ExprPtr value) const {
  auto boolean = [&](bool b) { return scalars.constant(b ? 1 : 0, DType::boolean()); };
  if (is_constant(type)) return boolean(false);
  if (!type->is_tensor()) {
    ExprPtr any = nullptr;
    for (uint32_t i = static_cast<uint32_t>(type->args.size()); i-- > 0;) {
      if (is_constant(type->args[i])) continue;
      ExprPtr one = has_received(type->args[i], field(value, i));
      any = any ? arena().make<IfExpr>(head(ExprKind::If, one->type), one, boolean(true), any) : one;
    }
    return any;
  }
  Type content = cotangent_of(type);
  const Variable* sum = variable("sum", type);
  return match(ref_read(field(value, 1)),
               {{pattern(cotangent_constructors()[1], content, {sum}), boolean(true)},
                {pattern(cotangent_constructors()[0], content, {}), boolean(false)}});
}

// --- the tape

ExprPtr Build::empty_tape() const { return ref(construct(tape_constructors()[0], tape_type(), {})); }

ExprPtr Build::push(ExprPtr tape, ExprPtr backward) const {
  return ref_write(tape, construct(tape_constructors()[1], tape_type(), {backward, ref_read(tape)}));
}

ExprPtr Build::run(ExprPtr tape) const {
  Type backward = function_type({}, unit_type());
  const Variable* all = variable("tape", tape_type());
  const Variable* run = variable("run", function_type(std::vector<Type>{tape_type()}, unit_type()));
  const Variable *first = variable("first", backward), *rest = variable("rest", tape_type());
  ExprPtr body = match(read(all), {{pattern(tape_constructors()[1], tape_type(), {first, rest}),
                                    block({{nullptr, call(read(first), {})}}, call(read(run), {read(rest)}))},
                                   {pattern(tape_constructors()[0], tape_type(), {}), tuple({})}});
  return block({{run, fn({all}, {}, body)}}, call(read(run), {ref_read(tape)}));
}

}  // namespace quern::lifting
