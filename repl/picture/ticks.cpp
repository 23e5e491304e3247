#include "repl/picture/ticks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace quern::picture {

Interval interval_of(double least, double greatest) {
  if (greatest > least && std::isfinite(greatest - least)) return {least, greatest};
  if (greatest > least) return {least / 2, greatest / 2};
  const double around = least == 0 ? 1 : std::abs(least) / 2;
  return {least - around, least + around};
}

double round_step(double size) {
  const double power = std::pow(10, std::floor(std::log10(size)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= size * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string text_by_step(double number, double step) {
  constexpr double kLarge = 1e8, kSmall = 1e-4;
  if (std::abs(number) < step / 1e6) number = 0;
  const int step_digits = static_cast<int>(std::floor(std::log10(step) + 1e-9));
  if (std::abs(number) < kLarge && step >= kSmall)
    return fmt::format("{:.{}f}", number, std::max(0, -step_digits));
  const int digits =
      number == 0 ? 1 : static_cast<int>(std::floor(std::log10(std::abs(number)) + 1e-9)) - step_digits + 1;
  return fmt::format("{:.{}g}", number, std::clamp(digits, 1, 17));
}

std::vector<Tick> ticks(const Interval& interval, int count) {
  std::vector<Tick> all;
  const double step = round_step(interval.size() / std::max(1, count));
  const double first = std::ceil(interval.low / step - 1e-9);
  for (int k = 0; k <= count; ++k) {
    const double at = (first + k) * step;
    if (at > interval.high + step * 1e-9) break;
    all.push_back({at, text_by_step(at, step)});
  }
  return all;
}

}  // namespace quern::picture
