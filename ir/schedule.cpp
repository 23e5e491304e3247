#include "ir/schedule.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <optional>

namespace quern::loops {

namespace {

struct PrimitiveInfo {
  std::string_view text;
  size_t makes;
};

constexpr std::array kPrimitives{
#define QUERN_PRIMITIVE(name, text, makes) PrimitiveInfo{text, makes},
#include "ir/primitives.def"
#undef QUERN_PRIMITIVE
};

std::optional<Primitive> find_primitive(std::string_view text) {
  for (size_t k = 0; k < kPrimitives.size(); ++k)
    if (kPrimitives.at(k).text == text) return static_cast<Primitive>(k);
  return std::nullopt;
}

class ScheduleReader {
 public:
  explicit ScheduleReader(std::string_view text) : rest_(text) {}

  Result<Schedule> read() {
    Schedule schedule;
    while (skip_separators(), !rest_.empty()) {
      auto step = this->step();
      if (!step) return step.error();
      schedule.steps.push_back(std::move(*step));
    }
    return schedule;
  }

 private:
  Result<ScheduleStep> step() {
    std::vector<std::string> names{word()};
    while (take(',')) names.push_back(word());
    ScheduleStep step{};
    if (take('=')) {
      step.makes = std::move(names);
      names = {word()};
    }
    auto primitive = names.size() == 1 ? find_primitive(names[0]) : std::nullopt;
    if (!primitive)
      return Failure{fmt::format("there is no schedule primitive `{}`", fmt::join(names, ", "))};
    step.primitive = *primitive;
    const size_t makes = kPrimitives.at(static_cast<size_t>(*primitive)).makes;
    if (step.makes.size() != makes)
      return Failure{fmt::format("`{}` makes {} loops, and {} names stand before it", names[0], makes,
                                 step.makes.size())};
    if (!take('(')) return Failure{fmt::format("after `{}` a `(` is expected", names[0])};
    step.loops.emplace_back();
    while (!take(')')) {
      if (take(';')) {
        step.loops.emplace_back();
      } else if (const std::string text = word(); text.empty()) {
        return Failure{fmt::format("`{}` does not end: a `)` is missing", names[0])};
      } else if (std::isdigit(static_cast<unsigned char>(text[0])) != 0) {
        step.numbers.push_back(std::stoll(text.substr(0, 18)));
      } else {
        step.loops.back().push_back(text);
      }
      take(',');
    }
    return step;
  }

  void skip_blanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t')) rest_.remove_prefix(1);
  }
  void skip_separators() {
    while (!rest_.empty() && (std::isspace(static_cast<unsigned char>(rest_[0])) != 0 || rest_[0] == ';'))
      rest_.remove_prefix(1);
  }
  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_[0] != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::string word() {
    skip_blanks();
    size_t length = 0;
    while (length < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[length])) != 0 || rest_[length] == '_'))
      ++length;
    std::string text(rest_.substr(0, length));
    rest_.remove_prefix(length);
    return text;
  }

  std::string_view rest_;
};

}  // namespace

std::string_view to_string(Primitive primitive) {
  return kPrimitives.at(static_cast<size_t>(primitive)).text;
}

std::string to_string(const ScheduleStep& step) {
  std::string text = step.makes.empty() ? "" : fmt::format("{} = ", fmt::join(step.makes, ", "));
  text += fmt::format("{}(", to_string(step.primitive));
  for (size_t k = 0; k < step.loops.size(); ++k) {
    if (k > 0) text += "; ";
    text += fmt::format("{}", fmt::join(step.loops[k], ", "));
    if (k == 0)
      for (const int64_t number : step.numbers) text += fmt::format(", {}", number);
  }
  return text + ")";
}

std::string to_string(const Schedule& schedule) {
  std::string text;
  for (const ScheduleStep& step : schedule.steps) text += to_string(step) + "\n";
  return text;
}

Result<Schedule> parse_schedule(std::string_view text) { return ScheduleReader(text).read(); }

}  // namespace quern::loops
