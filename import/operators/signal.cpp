// Fourier transforms and windows.

#include <fmt/format.h>

#include "import/onnx/dtypes.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// A number that decides the shape of the result.
int64_t known_size(Call& call, size_t input) {
  const auto integers = call.integers_in(input);
  if (!integers || integers->size() != 1)
    throw Refusal(fmt::format("its input {} is not one integer", input));
  return integers->front();
}

void transform(Call& call) {
  const int64_t axis = call.axis("axis", 1, call.rank(0));
  std::string attributes = fmt::format(", axis={}", axis);
  if (call.flag("inverse", false)) attributes += ", inverse=True";
  if (call.flag("onesided", false)) attributes += ", onesided=True";
  if (call.has(1)) attributes += fmt::format(", length={}", known_size(call, 1));
  call.result(fmt::format("fft.dft($0{})", attributes), {call.in(0)});
}

void short_time_transform(Call& call) {
  const int64_t step = known_size(call, 1);
  const bool has_window = call.has(2);
  const auto length = call.has(3)  ? std::optional(known_size(call, 3))
                      : has_window ? as_const(call.in(2).extent(0))
                                   : std::nullopt;
  if (!length) throw Refusal("has neither a window nor a length of its frames");
  const std::string attributes = fmt::format("frame_length={}, frame_step={}{}", *length, step,
                                             call.flag("onesided", true) ? "" : ", onesided=False");
  if (!has_window) return call.result(fmt::format("signal.stft($0, 1.0, {})", attributes), {call.in(0)});
  call.result(fmt::format("signal.stft($0, $1, {})", attributes), {call.in(0), call.in(2)});
}

void window(Call& call, std::string_view name, std::string_view more) {
  const auto dtype = dtype_of(static_cast<int32_t>(call.integer("output_datatype", 1)));
  if (!dtype) throw Refusal("its `output_datatype` has no counterpart");
  call.result(fmt::format("signal.{}_window({}{}{}{})", name, known_size(call, 0), more,
                          call.flag("periodic", true) ? "" : ", periodic=False",
                          *dtype == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(*dtype))),
              {});
}

}  // namespace

std::span<const Operator> signal_operators() {
  static const Operator kRows[] = {
      {"BlackmanWindow", "", [](Call& call) { window(call, "blackman", ""); }},
      {"DFT", "", transform},
      // 25/46 and 21/46, which others round to 0.54 and 0.46.
      {"HammingWindow", "",
       [](Call& call) { window(call, "hamming", ", alpha=0.5434782608695652, beta=0.45652173913043476"); }},
      {"HannWindow", "", [](Call& call) { window(call, "hann", ""); }},
      {"STFT", "", short_time_transform},
  };
  return kRows;
}

}  // namespace quern::onnx
