#pragma once
// A schedule: how the loops of a computation run. It says nothing about what is computed, so that the same
// text can be stored, hashed, changed by a tuner and applied again.
//
//     io, ii = split(i, 14)
//     jo, ji = split(j, 32)
//     pack(weight, 32; j; k)
//     reorder(jo, io, k, ii, ji)
//     unroll(ii); vectorize(ji, 16); unroll(k, 4)

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/result.h"

namespace quern::loops {

enum class Primitive : uint8_t {
#define QUERN_PRIMITIVE(name, text, makes) name,
#include "ir/primitives.def"
#undef QUERN_PRIMITIVE
};
std::string_view to_string(Primitive primitive);

/// A primitive, and what it is given. Which loops and numbers it takes stands in primitives.def.
struct ScheduleStep {
  Primitive primitive;
  std::vector<std::string> makes{};               ///< names of the loops that it makes
  std::vector<std::vector<std::string>> loops{};  ///< groups of names, between which a `;` stands
  std::vector<int64_t> numbers{};
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

struct Schedule {
  std::vector<ScheduleStep> steps;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// `io, ii = split(i, 14)`
std::string to_string(const ScheduleStep& step);
/// A step a line.
std::string to_string(const Schedule& schedule);
/// Reads what to_string writes; steps are separated by line ends or `;` outside of parentheses.
Result<Schedule> parse_schedule(std::string_view text);

}  // namespace quern::loops
