#pragma once
// Amounts with their units, to three digits.

#include <chrono>
#include <cstddef>
#include <string>

namespace quern {

/// "96 bytes", "1.5 KiB".
std::string bytes_text(size_t bytes);
/// "1.23 ms"
std::string time_text(std::chrono::nanoseconds time);
/// 10^9 as "1.00 G": a number with three digits and its SI prefix.
std::string amount_text(double amount);

}  // namespace quern
