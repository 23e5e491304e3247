#pragma once
// A schedule: how the loops of a computation run. It is independent of what is computed, so the same text can
// be stored, hashed, changed by a tuner and reapplied. Its text is a clause of the language
// (grammar/Quern.g4), and that clause's reader (frontend/index/schedule_clause.h) is the only one.
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

/// A parameter of a primitive: a letter of primitives.def and its suffix.
enum class ArgumentKind : uint8_t { Loop, ConsumedLoop, OnceLoop, Tensor, Word, Number };
struct ScheduleArgument {
  ArgumentKind kind;
  bool optional = false, many = false;
};
/// A loop that a primitive makes from its operands.
enum class MadeLoop : uint8_t { Outer, Inner, Fused };
/// A primitive's signature and effect, for checks and for display.
struct PrimitiveInfo {
  std::string_view text;
  std::vector<MadeLoop> makes;                        ///< whose names stand before its `=`
  std::vector<std::vector<ScheduleArgument>> groups;  ///< between `;`
  std::string_view form, does;
};
const PrimitiveInfo& info(Primitive primitive);
/// Every primitive, in table order.
const std::vector<PrimitiveInfo>& primitives();

constexpr int64_t kMostScheduleNumber = 1 << 20;

/// A number of a schedule, from 1 to kMostScheduleNumber: the one in use, and alternatives for a tuner. An
/// open one (`?`) is chosen to fit the machine (jit/schedule/stated.h).
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

/// A primitive and its arguments.
struct ScheduleStep {
  Primitive primitive;
  std::vector<std::string> makes{};               ///< names of the loops it makes
  std::vector<std::vector<std::string>> loops{};  ///< groups of names, separated by `;`
  std::vector<ScheduleNumber> numbers{};
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;
};

/// Whether the arguments match the primitive's signature. Reading a text makes no other steps.
bool is_well_formed(const ScheduleStep& step);

struct Schedule {
  std::vector<ScheduleStep> steps;
  friend bool operator==(const Schedule&, const Schedule&) = default;
};

/// `io, ii = split(i, 14)`
std::string to_string(const ScheduleStep& step);
/// One step per line, each with a `;`.
std::string to_string(const Schedule& schedule);
/// `schedule { io, ii = split(i, 14); unroll(ii) }`
std::string to_clause(const Schedule& schedule);

/// The names of the tensors in it, each once, in order.
std::vector<std::string> tensors_of(const Schedule& schedule);
/// The schedule with the names of tensors_of replaced by these.
Schedule with_tensors(Schedule schedule, const std::vector<std::string>& names);

/// The schedule with its loops renamed as the map says.
Schedule with_loops(Schedule schedule, const std::map<std::string, std::string>& names);

}  // namespace quern::loops
