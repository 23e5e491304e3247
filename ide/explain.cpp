#include "ide/explain.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "session/texts/embedded.h"

namespace quern::ide {

namespace {

constexpr std::string_view kHeading = "\n## ";

/// 103 of `Q0103`, `q103` and `103`.
std::optional<int> number_of(std::string_view code) {
  if (code.starts_with('Q') || code.starts_with('q')) code.remove_prefix(1);
  int number = 0;
  auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), number);
  if (error != std::errc() || end != code.data() + code.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::string_view explanation_of(DiagnosticKind kind) {
  std::string_view text = embedded_errors().front().text;
  size_t begin = text.find(fmt::format("{}{}:", kHeading, code_of(kind)));
  if (begin == std::string_view::npos) return {};
  size_t end = text.find(kHeading, ++begin);
  return text.substr(begin, end == std::string_view::npos ? end : end - begin);
}

std::optional<DiagnosticKind> kind_of_code(std::string_view code) {
  std::optional<int> number = number_of(code);
  if (!number) return std::nullopt;
  for (DiagnosticKind kind : all_diagnostic_kinds())
    if (number_of(code_of(kind)) == number) return kind;
  return std::nullopt;
}

std::string unknown_code(std::string_view code) {
  std::optional<int> number = number_of(code);
  if (!number) return fmt::format("`{}` is no code of a diagnostic; they look like `Q0302`", code);
  std::string_view nearest;
  int distance = 0;
  for (DiagnosticKind kind : all_diagnostic_kinds()) {
    int far = std::abs(*number_of(code_of(kind)) - *number);
    if (!nearest.empty() && far >= distance) continue;
    nearest = code_of(kind);
    distance = far;
  }
  return fmt::format("there is no `{}`; the nearest is `{}`", code, nearest);
}

}  // namespace quern::ide
