#pragma once
// Quern in this process, as a program of the user's runs: compiled once, called with values.

#include <memory>
#include <vector>

#include "bench/ops/contender.h"
#include "bench/ops/work.h"

namespace quern::bench {

class QuernSide final : public Contender {
 public:
  QuernSide();
  ~QuernSide() override;

  /// Compiles the work's @main and calls it once; the plain inputs are put into the layout of its operands.
  /// The result, in the libraries' layout.
  Result<TensorPtr> prepare(const Work& work, const std::vector<TensorPtr>& inputs);

  std::string label() const override { return "Quern"; }
  Result<Sample> run(int64_t count, bool warm) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern::bench
