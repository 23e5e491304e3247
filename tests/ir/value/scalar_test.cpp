#include "ir/value/scalar.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace quern {
namespace {

const DType kUInt64{DTypeCode::UInt, 64};

Scalar f32(double value) { return Scalar::from_double(DType::float32(), value); }
Scalar i32(int64_t value) { return Scalar::from_int(DType::int32(), value); }
Scalar call(ScalarOp op, Scalar a) { return quern::apply(op, std::array{a}); }
Scalar call(ScalarOp op, Scalar a, Scalar b) { return quern::apply(op, std::array{a, b}); }

TEST(ScalarOps, NamesFindTheirOperators) {
  EXPECT_EQ(find_scalar_op("+"), ScalarOp::Add);
  EXPECT_EQ(find_scalar_op("right_shift"), ScalarOp::ShiftRight);
  EXPECT_EQ(find_scalar_op("softmax"), std::nullopt);
  EXPECT_EQ(info(ScalarOp::Exp).arity, 1);
  EXPECT_EQ(find_reduce_kind("argmin"), ReduceKind::ArgMin);
  EXPECT_EQ(to_string(ReduceKind::Prod), "prod");
  EXPECT_EQ(find_reduce_kind("mean"), std::nullopt);
}

TEST(ScalarOps, SignaturesSayWhatIsAccepted) {
  EXPECT_TRUE(accepts(ScalarOp::Add, DType::index()));
  EXPECT_FALSE(accepts(ScalarOp::Add, DType::boolean()));
  EXPECT_FALSE(accepts(ScalarOp::Exp, DType::int32()));
  EXPECT_TRUE(accepts(ScalarOp::BitAnd, DType::boolean()));
  EXPECT_FALSE(accepts(ScalarOp::BitAnd, DType::float32()));
  EXPECT_TRUE(accepts(ScalarOp::Eq, DType::boolean()));
  constexpr DType ints{DTypeCode::Int, 8, 4}, floats{DTypeCode::Float, 32, 2};
  EXPECT_TRUE(accepts(ScalarOp::Add, ints) && accepts(ScalarOp::BitAnd, ints));
  EXPECT_TRUE(accepts(ScalarOp::Exp, floats) && !accepts(ScalarOp::Exp, ints));
  EXPECT_FALSE(accepts(ScalarOp::Eq, ints) || accepts(ScalarOp::Lt, floats) ||
               accepts(ScalarOp::IsNan, floats));
  EXPECT_EQ(result_dtype(ScalarOp::Lt, DType::float32()), DType::boolean());
  EXPECT_EQ(result_dtype(ScalarOp::IsNan, DType::float16()), DType::boolean());
  EXPECT_EQ(result_dtype(ScalarOp::Neg, DType::int8()), DType::int8());
}

TEST(Scalar, RoundTripsThroughText) {
  EXPECT_EQ(to_string(f32(1.5)), "1.5");
  EXPECT_EQ(to_string(f32(0.1)), "0.1");
  EXPECT_EQ(to_string(Scalar::from_double(DType::float64(), 0.1)), "0.1");
  EXPECT_EQ(to_string(Scalar::from_double(DType::float16(), 0.1)), "0.1");
  EXPECT_EQ(to_string(Scalar::from_double(DType::bfloat16(), 3.14159)), "3.14");
  EXPECT_EQ(to_string(f32(-HUGE_VAL)), "-inf");
  EXPECT_EQ(to_string(f32(NAN)), "nan");
  EXPECT_EQ(to_string(f32(-0.0)), "-0");
  EXPECT_EQ(to_string(i32(-3)), "-3");
  EXPECT_EQ(to_string(Scalar::from_int(kUInt64, -1)), "18446744073709551615");
  EXPECT_EQ(to_string(Scalar::from_int(DType::boolean(), 7)), "True");
}

TEST(Scalar, EveryFloat16SurvivesItsDouble) {
  for (const DType dtype : {DType::float16(), DType::bfloat16()}) {
    for (uint64_t bits = 0; bits < 0x10000; ++bits) {
      const Scalar value{dtype, bits};
      if (std::isnan(value.as_double())) continue;
      ASSERT_EQ(Scalar::from_double(dtype, value.as_double()), value) << to_string(dtype) << " " << bits;
    }
  }
}

TEST(Scalar, Float16RoundsToNearestEven) {
  const DType half = DType::float16();
  const auto rounded = [&](double value) { return Scalar::from_double(half, value).as_double(); };
  EXPECT_EQ(rounded(2049), 2048);  // halfway between 2048 and 2050
  EXPECT_EQ(rounded(2051), 2052);
  EXPECT_EQ(rounded(65519), 65504);
  EXPECT_EQ(rounded(65520), HUGE_VAL);
  EXPECT_EQ(rounded(std::ldexp(1, -25)), 0);
  EXPECT_EQ(rounded(std::ldexp(1.5, -25)), std::ldexp(1, -24));
  // Through float32 this would be rounded twice, to 1 + 2^-9.
  EXPECT_EQ(rounded(1 + std::ldexp(3, -11) - std::ldexp(1, -40)), 1 + std::ldexp(1, -10));
  EXPECT_TRUE(std::isnan(rounded(NAN)));
}

TEST(Scalar, IntegersWrap) {
  EXPECT_EQ(Scalar::from_int(DType::int8(), 200).as_int(), -56);
  EXPECT_EQ(Scalar::from_int(DType::uint8(), -1).as_int(), 255);
  EXPECT_EQ(Scalar::from_double(DType::int8(), 300.7).as_int(), 44);
  EXPECT_EQ(Scalar::from_double(DType::int32(), -1.9).as_int(), -1);
  EXPECT_EQ(Scalar::from_double(DType::int32(), HUGE_VAL).as_int(), 0);
}

TEST(Scalar, CastTruncatesAndSaturates) {
  EXPECT_EQ(cast(f32(-2.7), DType::int32()).as_int(), -2);
  EXPECT_EQ(cast(f32(300), DType::int8()).as_int(), 127);
  EXPECT_EQ(cast(f32(-300), DType::int8()).as_int(), -128);
  EXPECT_EQ(cast(f32(-3), DType::uint8()).as_int(), 0);
  EXPECT_EQ(cast(f32(1e30), kUInt64).bits, ~uint64_t{0});
  EXPECT_EQ(cast(f32(NAN), DType::int32()).as_int(), 0);
  EXPECT_TRUE(cast(f32(NAN), DType::boolean()).as_bool());
  EXPECT_FALSE(cast(f32(-0.0), DType::boolean()).as_bool());
  EXPECT_TRUE(cast(i32(256), DType::boolean()).as_bool());
  EXPECT_EQ(cast(Scalar::from_int(kUInt64, -1), DType::float64()).as_double(), std::ldexp(1, 64));
  EXPECT_EQ(cast(Scalar::from_int(DType::int64(), 16777217), DType::float32()).as_double(), 16777216);
}

TEST(ScalarApply, IntegerDivisionNeverStops) {
  const Scalar smallest = lowest(DType::int32());
  EXPECT_EQ(call(ScalarOp::Div, i32(7), i32(0)).as_int(), 0);
  EXPECT_EQ(call(ScalarOp::Mod, i32(7), i32(0)).as_int(), 0);
  EXPECT_EQ(call(ScalarOp::Div, smallest, i32(-1)), smallest);
  EXPECT_EQ(call(ScalarOp::Mod, smallest, i32(-1)).as_int(), 0);
  EXPECT_EQ(call(ScalarOp::FloorDiv, smallest, i32(-1)), smallest);
  const Scalar smallest64 = lowest(DType::int64());
  EXPECT_EQ(call(ScalarOp::Div, smallest64, Scalar::from_int(DType::int64(), -1)), smallest64);
}

TEST(ScalarApply, DivisionTruncatesExceptOnIndex) {
  EXPECT_EQ(call(ScalarOp::Div, i32(-7), i32(2)).as_int(), -3);
  EXPECT_EQ(call(ScalarOp::Mod, i32(-7), i32(2)).as_int(), -1);
  EXPECT_EQ(call(ScalarOp::FloorDiv, i32(-7), i32(2)).as_int(), -4);
  EXPECT_EQ(call(ScalarOp::FloorMod, i32(-7), i32(2)).as_int(), 1);
  EXPECT_EQ(call(ScalarOp::FloorMod, i32(7), i32(-2)).as_int(), -1);
  const auto index = [](int64_t value) { return Scalar::from_int(DType::index(), value); };
  EXPECT_EQ(call(ScalarOp::Div, index(-7), index(2)).as_int(), -4);
  EXPECT_EQ(call(ScalarOp::Mod, index(-7), index(2)).as_int(), 1);
  EXPECT_EQ(call(ScalarOp::FloorDiv, f32(-7), f32(2)).as_double(), -4);
  EXPECT_EQ(call(ScalarOp::FloorMod, f32(-7), f32(2)).as_double(), 1);
}

TEST(ScalarApply, MinAndMaxPropagateNan) {
  for (const ScalarOp op : {ScalarOp::Min, ScalarOp::Max}) {
    EXPECT_TRUE(std::isnan(call(op, f32(NAN), f32(1)).as_double()));
    EXPECT_TRUE(std::isnan(call(op, f32(1), f32(NAN)).as_double()));
  }
  EXPECT_EQ(to_string(call(ScalarOp::Max, f32(-0.0), f32(0))), "-0");
}

TEST(ScalarApply, RoundsAndShifts) {
  EXPECT_EQ(call(ScalarOp::Round, f32(2.5)).as_double(), 3);
  EXPECT_EQ(call(ScalarOp::Round, f32(-3.5)).as_double(), -4);
  EXPECT_EQ(call(ScalarOp::ShiftLeft, i32(1), i32(31)), lowest(DType::int32()));
  EXPECT_EQ(call(ScalarOp::ShiftLeft, i32(1), i32(32)).as_int(), 0);
  EXPECT_EQ(call(ScalarOp::ShiftRight, i32(-8), i32(1)).as_int(), -4);
  EXPECT_EQ(call(ScalarOp::ShiftRight, i32(-8), i32(-1)).as_int(), -1);
  EXPECT_EQ(call(ScalarOp::BitNot, Scalar::from_int(DType::boolean(), 1)).bits, 0);
  EXPECT_EQ(call(ScalarOp::Pow, i32(-3), i32(3)).as_int(), -27);
  EXPECT_EQ(call(ScalarOp::Pow, i32(2), i32(-1)).as_int(), 0);
  EXPECT_EQ(call(ScalarOp::Pow, i32(-1), i32(-3)).as_int(), -1);
}

TEST(ScalarApply, Float16ComputesInFloat32AndRoundsOnce) {
  const auto half = [](double value) { return Scalar::from_double(DType::float16(), value); };
  EXPECT_EQ(call(ScalarOp::Add, half(2048), half(1)).as_double(), 2048);
  EXPECT_EQ(call(ScalarOp::Mul, half(65504), half(2)).as_double(), HUGE_VAL);
  EXPECT_EQ(call(ScalarOp::Exp, half(1)), half(std::exp(1.0)));
}

TEST(Reductions, IdentitiesAndSteps) {
  EXPECT_EQ(reduce_identity(ReduceKind::Max, DType::float32()).as_double(), -HUGE_VAL);
  EXPECT_EQ(reduce_identity(ReduceKind::ArgMin, DType::int8()).as_int(), 127);
  EXPECT_EQ(reduce_identity(ReduceKind::Max, DType::uint8()).as_int(), 0);
  EXPECT_TRUE(reduce_identity(ReduceKind::All, DType::boolean()).as_bool());
  EXPECT_EQ(reduce_step(ReduceKind::Prod, i32(3), i32(-4)).as_int(), -12);
  EXPECT_EQ(accumulator_dtype(DType::bfloat16()), DType::float32());
  EXPECT_EQ(accumulator_dtype(DType::int8()), DType::int8());
}

TEST(Reductions, ArgMaxKeepsTheFirstAndTheFirstNan) {
  EXPECT_TRUE(is_better(ReduceKind::ArgMax, f32(2), f32(1)));
  EXPECT_FALSE(is_better(ReduceKind::ArgMax, f32(2), f32(2)));
  EXPECT_TRUE(is_better(ReduceKind::ArgMin, f32(NAN), f32(-HUGE_VAL)));
  EXPECT_FALSE(is_better(ReduceKind::ArgMin, f32(NAN), f32(NAN)));
  EXPECT_FALSE(is_better(ReduceKind::ArgMax, f32(1), f32(NAN)));
}

}  // namespace
}  // namespace quern
