#include "passes/gradient/element/scalar_rules.h"

#include <algorithm>
#include <numbers>

namespace quern {

namespace {

// A call, its arguments, its value and the value's cotangent.
struct At {
  const ScalarBuilder& build;
  const ScalarExpr& call;
  ExprPtr c;

  ExprPtr a() const { return build.copy(call.args[0]); }
  ExprPtr b() const { return build.copy(call.args[1]); }
  ExprPtr y() const { return build.copy(&call); }
  ExprPtr number(double value) const { return build.constant_like(value, c); }
  ExprPtr call1(ScalarOp op, ExprPtr x) const { return build.apply(op, {x}); }
};

ExprPtr mul(const At& at, ExprPtr a, ExprPtr b) { return at.build.mul(a, b); }
ExprPtr neg(const At& at, ExprPtr a) { return at.build.negate(a); }
ExprPtr none(const At&) { return nullptr; }
ExprPtr same(const At& at) { return at.c; }

// The divisor's cotangent for a remainder a - b * round(a / b).
ExprPtr remainder_b(const At& at, ScalarOp round) {
  return neg(at, mul(at, at.c, at.call1(round, at.build.div(at.a(), at.b()))));
}

using Rule = ExprPtr (*)(const At&);
struct Row {
  ScalarOp op;
  Rule first, second = none;
};

constexpr Row kRules[] = {
    {ScalarOp::Add, same, same},
    {ScalarOp::Sub, same, [](const At& t) { return neg(t, t.c); }},
    {ScalarOp::Mul, [](const At& t) { return mul(t, t.c, t.b()); },
     [](const At& t) { return mul(t, t.c, t.a()); }},
    {ScalarOp::Div, [](const At& t) { return t.build.div(t.c, t.b()); },
     [](const At& t) { return neg(t, t.build.div(mul(t, t.c, t.y()), t.b())); }},
    {ScalarOp::Mod, same, [](const At& t) { return remainder_b(t, ScalarOp::Trunc); }},
    {ScalarOp::FloorMod, same, [](const At& t) { return remainder_b(t, ScalarOp::Floor); }},
    {ScalarOp::Min,
     [](const At& t) {
       return t.build.where(t.build.apply(ScalarOp::Le, {t.a(), t.b()}), t.c);
     },
     [](const At& t) {
       return t.build.where(t.build.apply(ScalarOp::Gt, {t.a(), t.b()}), t.c);
     }},
    {ScalarOp::Max,
     [](const At& t) {
       return t.build.where(t.build.apply(ScalarOp::Ge, {t.a(), t.b()}), t.c);
     },
     [](const At& t) {
       return t.build.where(t.build.apply(ScalarOp::Lt, {t.a(), t.b()}), t.c);
     }},
    {ScalarOp::Pow,
     [](const At& t) {
       ExprPtr power = t.build.apply(ScalarOp::Pow, {t.a(), t.build.sub(t.b(), t.number(1))});
       // x^0 is 1 everywhere, even where x^-1 is infinite.
       ExprPtr moves = t.build.apply(ScalarOp::Ne, {t.b(), t.number(0)});
       return t.build.where(moves, mul(t, t.c, mul(t, t.b(), power)));
     },
     [](const At& t) {
       ExprPtr moves = t.build.apply(ScalarOp::Ne, {t.a(), t.number(0)});
       return t.build.where(moves, mul(t, t.c, mul(t, t.y(), t.call1(ScalarOp::Log, t.a()))));
     }},
    {ScalarOp::Neg, [](const At& t) { return neg(t, t.c); }},
    {ScalarOp::Abs, [](const At& t) { return mul(t, t.c, t.call1(ScalarOp::Sign, t.a())); }},
    {ScalarOp::Exp, [](const At& t) { return mul(t, t.c, t.y()); }},
    {ScalarOp::Log, [](const At& t) { return t.build.div(t.c, t.a()); }},
    {ScalarOp::Tanh, [](const At& t) { return mul(t, t.c, t.build.sub(t.number(1), mul(t, t.y(), t.y()))); }},
    {ScalarOp::Sigmoid,
     [](const At& t) { return mul(t, t.c, mul(t, t.y(), t.build.sub(t.number(1), t.y()))); }},
    {ScalarOp::Sqrt, [](const At& t) { return t.build.div(mul(t, t.c, t.number(0.5)), t.y()); }},
    {ScalarOp::Rsqrt,
     [](const At& t) { return mul(t, mul(t, t.c, t.number(-0.5)), t.build.div(t.y(), t.a())); }},
    {ScalarOp::Erf,
     [](const At& t) {
       ExprPtr bell = t.call1(ScalarOp::Exp, neg(t, mul(t, t.a(), t.a())));
       return mul(t, mul(t, t.c, t.number(2 * std::numbers::inv_sqrtpi)), bell);
     }},
    {ScalarOp::Sin, [](const At& t) { return mul(t, t.c, t.call1(ScalarOp::Cos, t.a())); }},
    {ScalarOp::Cos, [](const At& t) { return neg(t, mul(t, t.c, t.call1(ScalarOp::Sin, t.a()))); }},
    // Step functions, whose derivative is 0 wherever it exists, and non-numeric functions.
    {ScalarOp::FloorDiv, none},
    {ScalarOp::Sign, none},
    {ScalarOp::Floor, none},
    {ScalarOp::Ceil, none},
    {ScalarOp::Trunc, none},
    {ScalarOp::Round, none},
    {ScalarOp::IsNan, none},
    {ScalarOp::IsInf, none},
    {ScalarOp::Lt, none},
    {ScalarOp::Le, none},
    {ScalarOp::Gt, none},
    {ScalarOp::Ge, none},
    {ScalarOp::Eq, none},
    {ScalarOp::Ne, none},
    {ScalarOp::And, none},
    {ScalarOp::Or, none},
    {ScalarOp::Not, none},
    {ScalarOp::BitAnd, none},
    {ScalarOp::BitOr, none},
    {ScalarOp::BitXor, none},
    {ScalarOp::BitNot, none},
    {ScalarOp::ShiftLeft, none},
    {ScalarOp::ShiftRight, none},
};

constexpr bool has_one_rule(ScalarOp op) { return std::ranges::count(kRules, op, &Row::op) == 1; }
// A scalar function without a rule does not compile.
#define QUERN_SCALAR(name, text, arity, signature, code) static_assert(has_one_rule(ScalarOp::name));
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR

}  // namespace

std::vector<ExprPtr> scalar_cotangents(const ScalarBuilder& build, const ScalarExpr& call,
                                       ExprPtr cotangent) {
  std::vector<ExprPtr> out(call.args.size(), nullptr);
  auto takes = [&](size_t k) { return call.args[k]->type->dtype.is_float(); };
  if (call.is_cast) {
    if (takes(0) && call.type->dtype.is_float()) out[0] = build.cast(cotangent, call.args[0]->type->dtype);
    return out;
  }
  const auto* row = std::ranges::find(kRules, call.op, &Row::op);
  At at{build, call, cotangent};
  for (size_t k = 0; k < out.size() && k < 2; ++k)
    if (takes(k)) out[k] = (k == 0 ? row->first : row->second)(at);
  return out;
}

}  // namespace quern
