#include "ir/tokens/words.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <fmt/format.h>
#include <pcre2.h>

#include <array>
#include <new>

#include "ir/base/interrupt.h"

namespace quern::tokens_detail {

namespace {

std::string message_of(int code) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(code, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

struct FreeMatch {
  void operator()(pcre2_match_data* match) const { pcre2_match_data_free(match); }
};

PCRE2_SPTR units_of(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Words::Compiled {
  pcre2_code* code;
  explicit Compiled(pcre2_code* code) : code(code) {}
  ~Compiled() { pcre2_code_free(code); }
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
};

Words::Words(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
Words::~Words() = default;

Result<std::shared_ptr<const Words>> Words::of(std::string_view pattern) {
  int code = 0;
  PCRE2_SIZE at = 0;
  constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MATCH_INVALID_UTF | PCRE2_NEVER_BACKSLASH_C;
  auto compiled = std::make_unique<Compiled>(
      pcre2_compile(units_of(pattern), pattern.size(), kOptions, &code, &at, nullptr));
  if (!compiled->code)
    return Failure{fmt::format("its pattern of words is wrong at byte {}: {}", at, message_of(code))};
  // Without it, matching is only slower.
  static_cast<void>(pcre2_jit_compile(compiled->code, PCRE2_JIT_COMPLETE));
  return std::shared_ptr<const Words>(new Words(std::move(compiled)));
}

Result<Done> Words::split(std::string_view text, const std::function<void(std::string_view)>& visit) const {
  const std::unique_ptr<pcre2_match_data, FreeMatch> match(
      pcre2_match_data_create_from_pattern(compiled_->code, nullptr));
  if (!match) throw std::bad_alloc();
  size_t at = 0;
  while (at < text.size()) {
    if (is_interrupted()) return Failure{kInterrupted};
    const int found =
        pcre2_match(compiled_->code, units_of(text), text.size(), at, PCRE2_NOTEMPTY, match.get(), nullptr);
    if (found == PCRE2_ERROR_NOMATCH) break;
    if (found < 0) return Failure{fmt::format("byte {} of the text: {}", at, message_of(found))};
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
    if (bounds[0] > at) visit(text.substr(at, bounds[0] - at));
    visit(text.substr(bounds[0], bounds[1] - bounds[0]));
    at = bounds[1];
  }
  if (at < text.size()) visit(text.substr(at));
  return Done{};
}

}  // namespace quern::tokens_detail
