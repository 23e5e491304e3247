#include "jit/loops/build.h"

namespace quern::loops {

ValuePtr constant(const Scalar& scalar) { return make(ConstValue{scalar.dtype, scalar}); }

ValuePtr index_value(Dim dim) { return make(IndexValue{DType::index(), dim}); }

ValuePtr load_of(int buffer, DType dtype, Dim offset) { return make(LoadValue{dtype, buffer, offset}); }

ValuePtr value_of(int local, DType dtype) { return make(LocalValue{dtype, local}); }

ValuePtr apply(ScalarOp op, std::vector<ValuePtr> args) {
  const DType dtype = result_dtype(op, args[0]->dtype);
  return make(ApplyValue{dtype, op, std::move(args)});
}

bool takes_long(const ApplyValue& function) {
  if (function.op != ScalarOp::Pow) return info(function.op).signature == ScalarSignature::Float;
  auto* exponent = as<ConstValue>(*function.args[1]);
  const double power = exponent ? exponent->constant.as_double() : 0;
  return power != 1 && power != 2 && power != 3 && power != 4 && power != -1;
}

ValuePtr cast_to(ValuePtr value, DType dtype) {
  return value->dtype == dtype ? value : make(CastValue{dtype, std::move(value)});
}

ValuePtr select(ValuePtr condition, ValuePtr then_arm, ValuePtr else_arm) {
  const DType dtype = then_arm->dtype;
  return make(SelectValue{dtype, std::move(condition), std::move(then_arm), std::move(else_arm)});
}

ValuePtr truth_of(const std::vector<BoundsCheck>& checks) {
  ValuePtr all;
  for (const BoundsCheck& check : checks) {
    const ValuePtr index = check.computed ? check.computed : index_value(check.index);
    const ValuePtr inside = apply(ScalarOp::And, {apply(ScalarOp::Le, {index_value(dim_const(0)), index}),
                                                  apply(ScalarOp::Lt, {index, index_value(check.extent)})});
    all = all ? apply(ScalarOp::And, {all, inside}) : inside;
  }
  return all;
}

StmtPtr serial_loop(Dim var, Dim extent, Block body) {
  return make(For{.var = var, .extent = extent, .body = std::move(body)});
}

StmtPtr vector_loop(Dim var, Dim extent, int64_t width, Block body) {
  const Vectorized in_lanes{.width = static_cast<int>(width)};
  return make(For{.var = var, .extent = extent, .execution = in_lanes, .body = std::move(body)});
}

StmtPtr unrolled_loop(Dim var, int64_t extent, Block body) {
  const Unrolled as_whole{.width = static_cast<int>(extent)};
  return make(For{.var = var, .extent = dim_const(extent), .execution = as_whole, .body = std::move(body)});
}

StmtPtr loop_in_lanes(Dim var, Dim extent, int64_t width, int64_t most, Block body) {
  const Vectorized each{
      .width = static_cast<int>(width), .unrolled = true, .most = as_const(extent) ? 0 : most};
  return make(For{.var = var, .extent = extent, .execution = each, .body = std::move(body)});
}

StmtPtr only_if(std::vector<BoundsCheck> checks, Block body) {
  return make(If{.checks = std::move(checks), .body = std::move(body)});
}

StmtPtr declare(int local, DType dtype, ValuePtr first) {
  return make(Declare{.local = local, .dtype = dtype, .value = std::move(first)});
}

}  // namespace quern::loops
