// Fourier transforms and windows.

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// `, dtype="float64"`, or nothing for float32.
std::string dtype_attribute(Call& call) {
  const auto dtype = dtype_of(static_cast<int32_t>(call.integer("output_datatype", 1)));
  if (!dtype) throw Refusal("its `output_datatype` has no counterpart");
  return *dtype == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(*dtype));
}

void window(Call& call, std::string_view name, std::string_view more) {
  call.result(fmt::format("signal.{}_window({}{}{}{})", name, known_size(call, 0), more,
                          call.flag("periodic", true) ? "" : ", periodic=False", dtype_attribute(call)),
              {});
}

/// A number that decides the elements of a matrix which is made once.
double known_number(Call& call, size_t input) {
  const auto number = call.number_in(input);
  if (!number)
    throw Refusal(fmt::format("`{0}` has to be known: give it with `--constant {0}=FILE.npy`",
                              call.node().inputs.at(input)));
  return *number;
}

void mel_weights(Call& call) {
  std::vector<std::string> arguments;
  for (const char* name : {"num_mel_bins", "dft_length", "sample_rate"})
    arguments.push_back(fmt::format("{}={}", name, known_size(call, arguments.size())));
  for (const char* name : {"lower_edge_hertz", "upper_edge_hertz"})
    arguments.push_back(fmt::format("{}={}", name, float_attribute(known_number(call, arguments.size()))));
  call.result(fmt::format("signal.mel_weights({}{})", fmt::join(arguments, ", "), dtype_attribute(call)), {});
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
      {"MelWeightMatrix", "", mel_weights},
      {"STFT", "", short_time_transform},
  };
  return kRows;
}

}  // namespace quern::onnx
