#include "ir/interpret/evaluation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>

#include "ir/value/compare_values.h"
#include "ir/value/text/number_text.h"

namespace quern {

namespace {

/// What is printed is the value: its dtype and its shape are what the prompt shows.
ValueStyle style_of(std::string_view text, ValueStyle style) {
  style.heading = false;
  if (text.empty()) return style;
  return with_format(style, text.substr(1)).value_or(style);
}

}  // namespace

std::string format_print(const IntrinsicExpr& print, const std::vector<Value>& values,
                         const ValueStyle& style) {
  std::string line;
  int shown = 0;
  for (size_t i = 0; i < print.args.size(); ++i) {
    if (!print.args[i]) {
      line += print.texts[i];
      continue;
    }
    const int column = columns_of(std::string_view(line).substr(line.rfind('\n') + 1));
    const ValueStyle formatted = style_of(print.texts[i], style);
    std::string text = to_string(values[i], formatted, column);
    // Among other values, a value has rows only if it needs them: a longer line is easier to read.
    if (++shown > 1 && text.find('\n') != std::string::npos) text = to_string(values[i], formatted);
    if (text.starts_with('\n') && line.ends_with(' ')) line.pop_back();
    line += text;
  }
  return line;
}

std::string file_name_of(const IntrinsicExpr& use, const std::vector<Value>& values) {
  IntrinsicExpr line = use;
  line.args = use.args.first(use.args.size() - 1);
  line.texts = use.texts.first(use.texts.size() - 1);
  return format_print(line, values, {});
}

void report_progress(Host& host, const IntrinsicExpr& progress, const std::vector<Value>& values) {
  IntrinsicExpr line = progress;
  line.args = progress.args.subspan(2);
  line.texts = progress.texts.subspan(2);
  std::string text = format_print(line, {values.begin() + 2, values.end()}, host.style());
  std::ranges::replace(text, '\n', ' ');
  const auto count = [&](size_t i) {
    return static_cast<int64_t>(values[i].as_tensor()->elements<int32_t>()[0]);
  };
  host.progress(count(0), count(1), text);
}

Value random_key(uint64_t seed, uint64_t n) {
  // Words 0 to 3 are the key of Threefry, so that each n has numbers of its own; the bit is the path's end.
  const std::array<uint64_t, 10> words{seed, n, 0, 0, 0, 0, 0, 0, uint64_t{1} << 63, 0};
  return Value::tensor(
      HostTensor::from<uint64_t>(DType{DTypeCode::UInt, 64}, {10}, std::span<const uint64_t>(words)));
}

Value clock_value() {
  const std::chrono::duration<double> since = std::chrono::steady_clock::now().time_since_epoch();
  return Scalar::from_double(DType::float64(), since.count());
}

std::string check_assertion(const IntrinsicExpr& assertion, const std::vector<Value>& values) {
  std::optional<Tolerance> tolerance;
  if (!assertion.texts.empty())
    tolerance = {std::strtod(std::string(assertion.texts[0]).c_str(), nullptr),
                 std::strtod(std::string(assertion.texts[1]).c_str(), nullptr)};
  std::string difference = difference_of_values(values[0], values[1], tolerance);
  return difference.empty() ? "" : "the assertion does not hold: " + difference;
}

std::string no_arm_matches(const Value& value) {
  // As a pattern would spell it, unless that is too long.
  const ValueStyle style{.width = 200, .threshold = 8, .as_built = true};
  std::string text = to_string(value, style);
  if (text.find('\n') != std::string::npos) text = "the value";
  return fmt::format("no arm of this `match?` matches {}", text);
}

bool holds(DimRelation relation, int64_t left, int64_t right) {
  switch (relation) {
    case DimRelation::Equal: return left == right;
    case DimRelation::NotEqual: return left != right;
    case DimRelation::LessEqual: return left <= right;
    case DimRelation::Broadcast: return left == right || left == 1 || right == 1;
  }
  return false;
}

EvaluationError broken(const DimCondition& condition, std::optional<int64_t> left,
                       std::optional<int64_t> right) {
  std::string text(condition.message);
  if (!left || !right)
    text = fmt::format("`{}` has no value here: it overflows or divides by zero",
                       to_string(left ? condition.right : condition.left));
  for (std::optional<int64_t> value : {left, right})
    if (size_t at = text.find("{}"); value && at != std::string::npos)
      text.replace(at, 2, std::to_string(*value));
  EvaluationError error{.message = std::move(text), .origin = condition.origin, .kind = FailureKind::Dims};
  if (condition.source.declaration) error.notes.emplace_back(condition.source, "it is asked for here");
  return error;
}

namespace {

/// The maximal number of distinct tail calls shown per frame.
constexpr size_t kMaxTailCalls = 8;
/// The number of calls that an error shows.
constexpr size_t kMaxCallsShown = 64;

}  // namespace

void take_frame(OpenCall& frame, const Origin& call) {
  if (!frame.tail.empty() && frame.tail.front() == call) return;
  if (frame.tail.size() == kMaxTailCalls) frame.tail.pop_back();
  frame.tail.insert(frame.tail.begin(), call);
}

bool fits_memory(DType dtype, const Shape& shape) {
  int64_t bytes = static_cast<int64_t>(dtype.bytes());
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) return false;
  return true;
}

void tell_calls(EvaluationError& error, const std::vector<OpenCall>& open) {
  auto tell = [&](Origin call) {
    while (call.declaration) {
      if (error.calls.size() < kMaxCallsShown)
        error.calls.push_back({call.declaration, call.node});
      else
        ++error.more_calls;
      if (!call.inlined) break;
      call = origin_of_inlined(call.inlined);
    }
  };
  if (error.origin.inlined) tell(origin_of_inlined(error.origin.inlined));
  for (auto frame = open.rbegin(); frame != open.rend(); ++frame) {
    for (const Origin& tail : frame->tail) tell(tail);
    tell(frame->origin);
  }
  error.origin.inlined = 0;
}

namespace {

using DimValues = std::unordered_map<Dim, int64_t>;

/// The state of matching one value against its type.
struct Binder {
  DimValues& dims;
  std::string disagreement;
  /// Extents deferred until their variables are known: `Tensor[(n * 2, n), float32]`.
  struct Waiting {
    const HostTensor* tensor;
    Dim dim;
    size_t axis;
  };
  std::vector<Waiting> waiting;
  bool solved = false;

  std::optional<int64_t> lookup(Dim var) const {
    auto found = dims.find(var);
    return found == dims.end() ? std::nullopt : std::optional(found->second);
  }

  void disagree(const HostTensor& tensor, size_t axis, Dim dim, std::optional<int64_t> expected) {
    if (!disagreement.empty()) return;
    std::string what = type_to_string(tensor.dtype(), tensor.shape());
    disagreement = fmt::format("axis {} of {} has extent {}, ", axis, what, tensor.shape()[axis]);
    if (as_const(dim))
      disagreement += fmt::format("not {}", *expected);
    else if (expected)
      disagreement += fmt::format("but {} is {}", to_string(dim), *expected);
    else
      disagreement += fmt::format("which {} cannot be", to_string(dim));
  }

  void match(Type type, const Value& value) {
    if (type->kind == TypeKind::Tuple) {
      const std::vector<Value>* fields = value.fields();
      for (size_t i = 0; fields && i < type->args.size() && i < fields->size(); ++i)
        match(type->args[i], (*fields)[i]);
    }
    if (type->kind == TypeKind::Tensor) match_tensor(type, value);
  }

  void match_tensor(Type type, const Value& value) {
    auto* boxed = value.object_as<TensorObject>();
    size_t rank = boxed ? boxed->tensor->shape().size() : 0;
    if (rank != type->dims.size() && disagreement.empty())
      disagreement =
          fmt::format("the value has rank {}, not {} as {}", rank, type->dims.size(), to_string(type));
    if (rank != type->dims.size()) return;
    for (size_t axis = 0; axis < rank; ++axis) match_extent(*boxed->tensor, axis, type->dims[axis]);
  }

  void match_extent(const HostTensor& tensor, size_t axis, Dim dim) {
    int64_t extent = tensor.shape()[axis];
    if (dim->kind == DimKind::Const) {
      if (dim->value != extent) disagree(tensor, axis, dim, dim->value);
    } else if (dim->kind == DimKind::Var) {
      auto [known, added] = dims.try_emplace(dim, extent);
      if (!added && known->second != extent) disagree(tensor, axis, dim, known->second);
    } else if (!dim->has_any) {
      waiting.push_back({&tensor, dim, axis});
    }
  }

  /// Settles deferred extents: one with every variable known is compared, one that is linear in a single
  /// unknown variable determines it. Each round may provide variables for the next; undetermined extents are
  /// ignored.
  void settle() {
    do {
      solved = false;
      std::erase_if(waiting, [this](const Waiting& w) { return settle_one(w); });
    } while (solved && !waiting.empty());
  }

  bool settle_one(const Waiting& w) {
    int64_t extent = w.tensor->shape()[w.axis];
    auto value_of = [this](Dim var) { return lookup(var); };
    if (auto expected = evaluate(w.dim, value_of)) {
      if (*expected != extent) disagree(*w.tensor, w.axis, w.dim, expected);
      return true;
    }
    Dim unknown = nullptr;
    bool several = false;
    for_each_var(w.dim, [&](Dim var) {
      if (dims.contains(var)) return;
      several |= unknown && unknown != var;
      unknown = var;
    });
    if (!unknown || several) return false;
    std::optional<Linear> linear = linear_in(w.dim, unknown);
    if (!linear) return false;
    auto coefficient = evaluate(linear->coefficient, value_of), rest = evaluate(linear->rest, value_of);
    if (!coefficient || !rest || *coefficient == 0) return false;
    int64_t product = 0;
    bool fits = !__builtin_sub_overflow(extent, *rest, &product) && product != INT64_MIN;
    if (!fits || product % *coefficient != 0 || product / *coefficient < 0) {
      disagree(*w.tensor, w.axis, w.dim, std::nullopt);
      return true;
    }
    dims[unknown] = product / *coefficient;
    return solved = true;
  }
};

}  // namespace

std::string bind_dims(Type type, const Value& value, std::unordered_map<Dim, int64_t>& dims) {
  Binder binder{dims, {}, {}};
  binder.match(type, value);
  binder.settle();
  return std::move(binder.disagreement);
}

}  // namespace quern
