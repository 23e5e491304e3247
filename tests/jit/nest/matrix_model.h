#pragma once
// What a processor with registers for matrices does, for machines without: Intel's Advanced Matrix Extensions
// as the manual says them (SDM, volume 2: LDTILECFG, TILELOADD, TDPBSSD, TDPBF16PS, …). What would be a fault
// there fails the test.

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

#include "jit/codegen/codegen.h"

namespace quern::matrix_model {

inline constexpr const char* kFeatures = "+amx-tile,+amx-int8,+amx-bf16";

namespace detail {

inline std::atomic<int64_t> performed = 0;

struct Register {
  size_t rows = 0, bytes = 0;  ///< of a row
  std::array<std::array<uint8_t, 64>, 16> content{};

  template <class T>
  T at(size_t row, size_t element) const {
    T value;
    std::memcpy(&value, content.at(row).data() + element * sizeof(T), sizeof(T));
    return value;
  }
  template <class T>
  void set(size_t row, size_t element, T value) {
    std::memcpy(content.at(row).data() + element * sizeof(T), &value, sizeof(T));
  }
};

struct Registers {
  bool are_configured = false;
  std::array<Register, 8> all;
};

inline thread_local Registers registers;

inline Register& at(uint8_t number) {
  EXPECT_TRUE(registers.are_configured);
  Register& found = registers.all.at(number);
  EXPECT_TRUE(found.rows > 0 && found.bytes > 0) << "register " << int{number} << " has no shape";
  return found;
}

inline void configure(const uint8_t* memory) {
  EXPECT_EQ(memory[0], 1) << "palette";
  EXPECT_EQ(memory[1], 0) << "start_row";
  registers = {};
  registers.are_configured = true;
  for (size_t k = 0; k < 8; ++k) {
    Register& r = registers.all.at(k);
    r.rows = memory[48 + k];
    r.bytes = memory[16 + 2 * k] | static_cast<size_t>(memory[17 + 2 * k]) << 8;
    EXPECT_TRUE(r.rows <= 16 && r.bytes <= 64 && (r.rows == 0) == (r.bytes == 0));
  }
  for (size_t k = 2; k < 64; ++k) {
    const bool is_used = (k >= 16 && k < 32) || (k >= 48 && k < 56);
    EXPECT_TRUE(is_used || memory[k] == 0) << "byte " << k << " is reserved";
  }
}

inline void release() { registers = {}; }
inline void zero(uint8_t number) { at(number).content = {}; }

inline void load(uint8_t number, const char* from, int64_t apart) {
  Register& r = at(number);
  r.content = {};
  for (size_t row = 0; row < r.rows; ++row)
    std::memcpy(r.content.at(row).data(), from + static_cast<int64_t>(row) * apart, r.bytes);
}

inline void store(uint8_t number, char* to, int64_t apart) {
  const Register& r = at(number);
  for (size_t row = 0; row < r.rows; ++row)
    std::memcpy(to + static_cast<int64_t>(row) * apart, r.content.at(row).data(), r.bytes);
}

/// `take(sum, row, group, column)` adds the products of a group of four bytes.
template <class Sum, class Take>
void multiply(uint8_t sums, uint8_t left, uint8_t right, const Take& take) {
  Register &c = at(sums), &a = at(left), &b = at(right);
  EXPECT_TRUE(sums != left && sums != right && left != right);
  EXPECT_EQ(a.rows, c.rows);
  EXPECT_EQ(b.bytes, c.bytes);
  EXPECT_EQ(a.bytes, 4 * b.rows);
  EXPECT_EQ(a.bytes % 4 + b.bytes % 4, 0u);
  ++performed;
  for (size_t row = 0; row < c.rows; ++row)
    for (size_t group = 0; group < a.bytes / 4; ++group)
      for (size_t column = 0; column < c.bytes / 4; ++column)
        c.set(row, column, take(a, b, c.at<Sum>(row, column), row, group, column));
}

template <class A, class B>
void multiply_bytes(uint8_t sums, uint8_t left, uint8_t right) {
  multiply<uint32_t>(
      sums, left, right,
      [](const Register& a, const Register& b, uint32_t sum, size_t row, size_t group, size_t column) {
        for (size_t i = 0; i < 4; ++i)
          sum += static_cast<uint32_t>(int32_t{a.at<A>(row, 4 * group + i)} *
                                       int32_t{b.at<B>(group, 4 * column + i)});
        return sum;
      });
}

/// Subnormal operands and results are 0.
inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x; }
inline float widened(uint16_t x) { return flushed(std::bit_cast<float>(uint32_t{x} << 16)); }

inline void multiply_bfloats(uint8_t sums, uint8_t left, uint8_t right) {
  multiply<float>(
      sums, left, right,
      [](const Register& a, const Register& b, float sum, size_t row, size_t group, size_t column) {
        for (size_t i = 0; i < 2; ++i)
          sum = flushed(std::fma(widened(a.at<uint16_t>(row, 2 * group + i)),
                                 widened(b.at<uint16_t>(group, 2 * column + i)), sum));
        return sum;
      });
}

template <class F>
StandIn stand_in(const char* intrinsic, F* function) {
  return {intrinsic, reinterpret_cast<const void*>(function)};
}

}  // namespace detail

/// What code calls that uses kFeatures.
inline std::vector<StandIn> stand_ins() {
  using namespace detail;
  return {stand_in("llvm.x86.ldtilecfg", &configure),
          stand_in("llvm.x86.tilerelease", &release),
          stand_in("llvm.x86.tilezero", &zero),
          stand_in("llvm.x86.tileloadd64", &load),
          stand_in("llvm.x86.tilestored64", &store),
          stand_in("llvm.x86.tdpbssd", &multiply_bytes<int8_t, int8_t>),
          stand_in("llvm.x86.tdpbuud", &multiply_bytes<uint8_t, uint8_t>),
          stand_in("llvm.x86.tdpbusd", &multiply_bytes<uint8_t, int8_t>),
          stand_in("llvm.x86.tdpbsud", &multiply_bytes<int8_t, uint8_t>),
          stand_in("llvm.x86.tdpbf16ps", &multiply_bfloats)};
}

/// Code for a machine that is this one with such registers, which tests each access of a buffer.
inline CodegenOptions machine(Tiers tiers) {
  CodegenOptions options{.tiers = tiers, .checks_bounds = true};
  options.features = kFeatures;
  options.stand_ins = stand_ins();
  return options;
}

/// How many products there were so far, on all threads.
inline int64_t products() { return detail::performed; }

}  // namespace quern::matrix_model
