#include "ir/value/threefry.h"

#include <bit>
#include <utility>

#include "ir/value/scalar.h"

namespace quern {

namespace {

constexpr int kRounds = 20, kRoundsToKey = 4;
constexpr uint64_t kParity = 0x1BD11BDAA9FC1A22;
/// Rotation counts of the two pairs of words per round, cyclically (table 2 of the paper).
constexpr std::array<std::array<int, 2>, 8> kRotations{
    {{14, 16}, {52, 57}, {23, 40}, {5, 37}, {25, 33}, {46, 12}, {58, 22}, {32, 32}}};

/// For integers: numbers up to 15, which fit every dtype.
constexpr int kIntegerBits = 4;

Scalar number_of(DType dtype, uint64_t bits) {
  if (dtype.is_bool()) return Scalar::from_bool(bits >> 63);
  if (!dtype.is_float()) return Scalar::from_int(dtype, static_cast<int64_t>(bits >> (64 - kIntegerBits)));
  // No more bits than the dtype's fraction holds, so that nothing is rounded to 1.
  const int fraction = float_format(dtype).fraction_bits;
  return Scalar::from_double(
      dtype, static_cast<double>(bits >> (64 - fraction)) / static_cast<double>(uint64_t{1} << fraction));
}

}  // namespace

ThreefryWords threefry4x64(const ThreefryWords& counter, const ThreefryWords& key) {
  const std::array<uint64_t, 5> keys{key[0], key[1], key[2], key[3],
                                     kParity ^ key[0] ^ key[1] ^ key[2] ^ key[3]};
  ThreefryWords x = counter;
  const auto add_key = [&](uint64_t turn) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += keys[(turn + i) % keys.size()];
    x[3] += turn;
  };
  add_key(0);
  for (int round = 0; round < kRounds; ++round) {
    const auto& rotations = kRotations[static_cast<size_t>(round) % kRotations.size()];
    for (size_t pair = 0; pair < 2; ++pair) {
      uint64_t &a = x[2 * pair], &b = x[2 * pair + 1];
      a += b;
      b = std::rotl(b, rotations[pair]) ^ a;
    }
    std::swap(x[1], x[3]);
    if ((round + 1) % kRoundsToKey == 0) add_key(static_cast<uint64_t>(round + 1) / kRoundsToKey);
  }
  return x;
}

std::vector<uint64_t> Threefry::generate(size_t count) {
  std::vector<uint64_t> numbers;
  numbers.reserve(count + 3);
  for (; numbers.size() < count; ++blocks_) {
    const ThreefryWords words = threefry4x64({0, 0, 0, blocks_}, key_);
    numbers.insert(numbers.end(), words.begin(), words.end());
  }
  numbers.resize(count);
  return numbers;
}

TensorPtr Threefry::tensor(DType dtype, Shape shape) {
  if (dtype.is_vector()) {
    shape.push_back(dtype.lanes);
    return HostTensor::vectors_of(tensor(dtype.lane(), std::move(shape)), dtype);
  }
  TensorPtr drawn = HostTensor::make(dtype, std::move(shape));
  const std::vector<uint64_t> numbers = generate(static_cast<size_t>(drawn->size()));
  for (size_t i = 0; i < numbers.size(); ++i)
    fill_element(*drawn, static_cast<int64_t>(i), number_of(dtype, numbers[i]));
  return drawn;
}

}  // namespace quern
