#pragma once
// A schedule: how the loops of a computation run. It says nothing about what is computed, so that the same
// text can be stored, hashed, changed by a tuner and applied again. The language has it as a clause
// (grammar/Quern.g4), which is the only reader of its text (frontend/index/schedule_clause.h).
//
//     io, ii = split(i, 14);
//     jo, ji = split(j, 32 | 64);
//     pack(weight, 32; ; j; k);
//     reorder(jo, io, k, ii, ji);
//     unroll(ii); vectorize(ji, ?); unroll(k, 4)

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::loops {

enum class Primitive : uint8_t {
#define QUERN_PRIMITIVE(name, text, makes, takes, form, does) name,
#include "ir/expr/primitives.def"
#undef QUERN_PRIMITIVE
};
std::string_view to_string(Primitive primitive);
std::optional<Primitive> find_primitive(std::string_view text);

/// What a primitive takes in a place: a letter of primitives.def, and what stands behind it.
enum class ArgumentKind : uint8_t { Loop, ConsumedLoop, OnceLoop, Tensor, Word, Number };
struct ScheduleArgument {
  ArgumentKind kind;
  bool optional = false, many = false;
};
/// A loop that a primitive makes of those that it takes.
enum class MadeLoop : uint8_t { Outer, Inner, Fused };
/// What a primitive is given and does, for checks and for people.
struct PrimitiveInfo {
  std::string_view text;
  std::vector<MadeLoop> makes;                        ///< whose names stand before its `=`
  std::vector<std::vector<ScheduleArgument>> groups;  ///< between `;`
  std::string_view form, does;
};
const PrimitiveInfo& info(Primitive primitive);
/// Every primitive, in the order of the table.
const std::vector<PrimitiveInfo>& primitives();

constexpr int64_t kMostScheduleNumber = 1 << 20;

/// A number of a schedule, from 1 to kMostScheduleNumber: the one that is used, and others that a tuner may
/// take. An open one (`?`) is what fits the machine (jit/schedule/stated.h).
struct ScheduleNumber {
  int64_t value = 0;
  std::vector<int64_t> others{};
  bool is_open = false;

  ScheduleNumber(int64_t value = 0) : value(value) {}  // NOLINT: a number is one
  static ScheduleNumber open() {
    ScheduleNumber number;
    number.is_open = true;
    return number;
  }
  operator int64_t() const { return value; }  // NOLINT: of a schedule that is closed
  friend bool operator==(const ScheduleNumber&, const ScheduleNumber&) = default;
};

/// A primitive, and what it is given.
struct ScheduleStep {
  Primitive primitive;
  std::vector<std::string> makes{};               ///< names of the loops that it makes
  std::vector<std::vector<std::string>> loops{};  ///< groups of names, between which a `;` stands
  std::vector<ScheduleNumber> numbers{};
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// Whether it is given what its primitive takes. Reading a text makes no other steps.
bool is_well_formed(const ScheduleStep& step);

struct Schedule {
  std::vector<ScheduleStep> steps;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// `io, ii = split(i, 14)`
std::string to_string(const ScheduleStep& step);
/// A step a line, each with a `;`.
std::string to_string(const Schedule& schedule);
/// `schedule { io, ii = split(i, 14); unroll(ii) }`
std::string to_clause(const Schedule& schedule);
size_t hash_of(const Schedule& schedule);

/// The names of the tensors in it, each once, in order.
std::vector<std::string> tensors_of(const Schedule& schedule);
/// The schedule with these names in the places of tensors_of.
Schedule with_tensors(Schedule schedule, const std::vector<std::string>& names);

/// The schedule with other names for loops, where the map has one.
Schedule with_loops(Schedule schedule, const std::map<std::string, std::string>& names);

}  // namespace quern::loops
