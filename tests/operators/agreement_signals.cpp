// Rows of the Fourier transforms and windows (stdlib/signal.relay).

#include <fmt/format.h>

#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

/// Behind the shape of real numbers that of their parts, where `parts` is above 0, and a call with one of its axes.
Row transform(const std::string& name, int64_t least_parts, int64_t most_parts,
              const std::vector<std::string>& attributes) {
  return {name,
          [=](Random& random) {
            Shape shape = random.shape(1, 3, 1);
            auto rank = static_cast<int64_t>(shape.size());
            int64_t axis = random.integer(0, rank - 1);
            int64_t parts = random.integer(least_parts, most_parts);
            if (parts > 0) shape.push_back(parts);
            // The axis of a transform of complex numbers counts that of their parts, that of one from or to real ones does not.
            int64_t axes = name == "fft.dft" ? rank + 1 : rank;
            std::string length = random.chance(0.6) ? "" : fmt::format(", length={}", random.integer(1, 12));
            return Arguments{{random.tensor(random.pick(kFloats), shape, Values::Moderate)},
                             fmt::format("{}(%a, axis={}{}{})", name, random.signed_axis(axis, axes), length,
                                         random.pick(attributes))};
          },
          64, 4e-5};
}

Arguments stft(Random& random) {
  DType dtype = random.pick(kFloats);
  int64_t frame = random.integer(1, 9);
  Shape window = random.chance(0.3) ? Shape{} : Shape{frame};
  return {{random.tensor(dtype, {random.integer(1, 2), frame + random.integer(0, 20), random.integer(1, 2)},
                         Values::Moderate),
           random.tensor(dtype, window, Values::Moderate)},
          fmt::format("signal.stft(%a, %b, frame_length={}, frame_step={}{})", frame, random.integer(1, 6),
                      random.chance(0.4) ? ", onesided=False" : "")};
}

Arguments mel_weights(Random& random) {
  int64_t lower = random.integer(0, 3000);
  return {
      {},
      fmt::format("signal.mel_weights(num_mel_bins={}, dft_length={}, sample_rate={}, lower_edge_hertz={}.0, "
                  "upper_edge_hertz={}.5{})",
                  random.integer(0, 20), random.integer(0, 64), random.integer(4000, 48000), lower,
                  lower + random.integer(0, 9000), random.chance(0.4) ? ", dtype=\"float64\"" : "")};
}

/// A tensor of a size and a dtype.
Row made(const std::string& name, const std::vector<std::string>& attributes) {
  return {name,
          [=](Random& random) {
            return Arguments{{},
                             fmt::format("{}({}{}{})", name, random.integer(0, 40), random.pick(attributes),
                                         random.chance(0.4) ? ", dtype=\"float64\"" : "")};
          },
          4, 1e-15};
}

}  // namespace

std::vector<Row> signal_rows() {
  const std::vector<std::string> windows = {"", ", periodic=False"};
  return {
      // Sums in another order.
      transform("fft.dft", 1, 2, {"", ", inverse=True", ", onesided=True"}),
      transform("fft.rfft", 0, 0, {""}),
      transform("fft.irfft", 2, 2, {""}),
      {"signal.stft", stft, 64, 1e-4},
      {"signal.mel_weights", mel_weights},
      made("fft.twiddles", {""}),
      made("signal.hann_window", windows),
      made("signal.hamming_window", {"", ", periodic=False", ", alpha=0.543478, beta=0.456522"}),
      made("signal.blackman_window", windows),
  };
}

}  // namespace quern::numeric
