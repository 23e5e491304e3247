#include "ir/base/units.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string_view>

namespace quern {

std::string bytes_text(size_t bytes) {
  constexpr std::array<std::string_view, 4> kUnits{"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return fmt::format("{} byte{}", bytes, bytes == 1 ? "" : "s");
  double amount = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < kUnits.size(); ++unit) amount /= 1024;
  return fmt::format("{:.1f} {}", amount, kUnits[unit]);
}

namespace {

/// Three digits of a number of at least 1 and less than 1000.
std::string three_digits(double number) {
  return fmt::format("{:.{}f}", number, number < 9.995 ? 2 : number < 99.95 ? 1 : 0);
}

}  // namespace

std::string time_text(std::chrono::nanoseconds time) {
  const double nanoseconds = static_cast<double>(time.count());
  if (nanoseconds < 1e3) return fmt::format("{} ns", time.count());
  if (nanoseconds < 1e6) return three_digits(nanoseconds / 1e3) + " us";
  if (nanoseconds < 1e9) return three_digits(nanoseconds / 1e6) + " ms";
  return three_digits(nanoseconds / 1e9) + " s";
}

std::string amount_text(double amount) {
  constexpr std::array<std::string_view, 6> kUnits{"", " k", " M", " G", " T", " P"};
  if (amount < 1000) return fmt::format("{:g}", std::round(amount * 100) / 100);
  size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < kUnits.size(); ++unit) amount /= 1000;
  return three_digits(amount) + std::string(kUnits[unit]);
}

}  // namespace quern
