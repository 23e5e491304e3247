// Where vectors of a result go whose lanes do not all follow each other.

#include <gtest/gtest.h>

#include <random>

#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/ir/interpret/recording_host.h"

namespace quern {
namespace {

TensorPtr small_integers(const Shape& shape) {
  TensorPtr tensor = HostTensor::make(DType::float32(), shape);
  std::mt19937 engine(5);
  std::uniform_int_distribution<int> drawn(-3, 3);
  for (float& x : tensor->elements<float>()) x = static_cast<float>(drawn(engine));
  return tensor;
}

/// Lanes are filters and the 4 columns of their poses: runs of 4, between which other rows of poses lie.
TEST(Stores, OfCapsulesAreInRuns) {
  constexpr size_t kIn = 8, kOut = 16, kSide = 9, kPlaces = 4;
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(
      module, "test.relay",
      "def @main(%a: Tensor[(1, 8, 9, 9, 4, 4), float32], %b: Tensor[(16, 8, 3, 3, 4, 4), float32]) { "
      "[z < 1, q < 16, y < 4, x < 4, u < 4, v < 4] => sum[d < 8, r < 3, s < 3, m < 4] "
      "%a[z, d, 2 * y + r, 2 * x + s, u, m] * %b[q, d, r, s, m, v] }");
  Compiler compiler(session);
  const Compiler::Call call = compiler.function(module, "main");
  ASSERT_TRUE(call);
  const TensorPtr data = small_integers({1, kIn, kSide, kSide, 4, 4});
  const TensorPtr weight = small_integers({kOut, kIn, 3, 3, 4, 4});
  RecordingHost host;
  const EvaluationResult result = call({Value::tensor(data), Value::tensor(weight)}, host);
  ASSERT_TRUE(result) << result.error().message;
  const auto a = data->elements<float>(), b = weight->elements<float>();
  const auto got = result.value().as_tensor()->elements<float>();
  size_t at = 0;
  for (size_t q = 0; q < kOut; ++q)
    for (size_t place = 0; place < kPlaces * kPlaces; ++place)
      for (size_t pose = 0; pose < 16; ++pose, ++at) {
        float sum = 0;
        for (size_t term = 0; term < kIn * 9 * 4; ++term) {
          const size_t d = term / 36, r = term / 12 % 3, s = term / 4 % 3, m = term % 4;
          const size_t y = 2 * (place / kPlaces) + r, x = 2 * (place % kPlaces) + s;
          sum += a[((d * kSide + y) * kSide + x) * 16 + pose / 4 * 4 + m] *
                 b[(((q * kIn + d) * 3 + r) * 3 + s) * 16 + m * 4 + pose % 4];
        }
        ASSERT_EQ(got[at], sum) << q << ", " << place << ", " << pose;
      }
}

}  // namespace
}  // namespace quern
