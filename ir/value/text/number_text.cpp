#include "ir/value/text/number_text.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace quern {

namespace {

constexpr int kMostOfFormat = 100;
constexpr int kDigitsAfterPoint = 6;

/// The fewest digits that read back as the value, for narrow floats, which fmt does not support.
std::string shortest_narrow(DType dtype, double value) {
  constexpr int kEnoughDigits = 5;  // ceil(1 + 11 log10 2): float16 needs the most
  for (int digits = 1;; ++digits) {
    std::string text = fmt::format("{:.{}g}", value, digits);
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    if (digits == kEnoughDigits || Scalar::from_double(dtype, back).as_double() == value)
      return fmt::format("{}", back);
  }
}

std::string float_text(DType dtype, double value, const ValueStyle& style) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  switch (style.notation) {
    case Notation::Fixed: return fmt::format("{:.{}f}", value, style.precision.value_or(kDigitsAfterPoint));
    case Notation::Scientific:
      return fmt::format("{:.{}e}", value, style.precision.value_or(kDigitsAfterPoint));
    case Notation::General: break;
  }
  if (style.precision) return fmt::format("{:.{}g}", value, *style.precision);
  if (dtype.bits == 64) return fmt::format(FMT_COMPILE("{}"), value);
  if (dtype.bits == 32) return fmt::format(FMT_COMPILE("{}"), static_cast<float>(value));
  return shortest_narrow(dtype, value);
}

std::string plain_text(const Scalar& number, const ValueStyle& style) {
  if (number.dtype.is_float()) return float_text(number.dtype, number.as_double(), style);
  if (number.dtype.is_bool()) return number.as_bool() ? "True" : "False";
  return number.dtype.is_signed() ? std::to_string(number.as_int()) : std::to_string(number.bits);
}

/// Consumes the number at the start of a text; nothing if it is too large.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number > kMostOfFormat) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool begins_with_digit(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9';
}

}  // namespace

std::string number_text(const Scalar& number, const ValueStyle& style) {
  std::string text = plain_text(number, style);
  const auto width = static_cast<size_t>(std::max(0, style.number_width));
  if (text.size() >= width) return text;
  const size_t blanks = width - text.size();
  size_t before = blanks;
  if (style.number_align == Align::Left) before = 0;
  if (style.number_align == Align::Centre) before = blanks / 2;
  return text.insert(0, before, ' ').append(blanks - before, ' ');
}

std::string number_text(const HostTensor& tensor, int64_t offset, const ValueStyle& style) {
  Scalar number{tensor.dtype().lane()};
  std::memcpy(&number.bits, tensor.data() + static_cast<size_t>(offset) * number.dtype.bytes(),
              number.dtype.bytes());
  return number_text(number, style);
}

int columns_of(std::string_view text) {
  return static_cast<int>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::optional<ValueStyle> with_format(ValueStyle style, std::string_view format) {
  const size_t align = format.empty() ? std::string_view::npos : std::string_view("><^").find(format.front());
  if (align != std::string_view::npos) {
    format.remove_prefix(1);
    if (!begins_with_digit(format)) return std::nullopt;
    style.number_align = static_cast<Align>(align);
  }
  if (begins_with_digit(format)) {
    const auto width = take_number(format);
    if (!width) return std::nullopt;
    style.number_width = *width;
  }
  if (format.starts_with('.')) {
    format.remove_prefix(1);
    if (!begins_with_digit(format)) return std::nullopt;
    style.precision = take_number(format);
    if (!style.precision) return std::nullopt;
  }
  if (format.empty()) return style;
  if (format.size() > 1) return std::nullopt;
  switch (format.front()) {
    case 'e': style.notation = Notation::Scientific; return style;
    case 'f': style.notation = Notation::Fixed; return style;
    case 'g': style.notation = Notation::General; return style;
    default: return std::nullopt;
  }
}

}  // namespace quern
