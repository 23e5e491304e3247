#pragma once
// Quern in this process, as a program of the user's runs: compiled once, called with values.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/harness/contender.h"
#include "ir/value/value.h"
#include "jit/cache/kernel_cache.h"

namespace quern::bench {

class QuernProgram : public Contender {
 public:
  QuernProgram();
  ~QuernProgram() override;

  /// Types a text and optimises its function `entry`, which is called from now on.
  Result<Done> compile(const std::string& name, const std::string& text, const CompilerOptions& options,
                       const std::string& entry = "main");
  /// What it is called with: these values, those of a file by the names of the parameters, or random ones.
  void take(std::vector<Value> arguments);
  Result<Done> load(const std::string& file);
  Result<Done> draw(uint64_t seed);
  const std::vector<Value>& arguments() const;
  /// Saves what it is called with in files that begin with `prefix`; each parameter and its file.
  Result<std::vector<std::pair<std::string, std::string>>> save(const std::string& prefix) const;
  Result<Value> call();
  /// The same, of a program whose result is a tensor.
  Result<TensorPtr> tensor();

  std::string label() const override { return "Quern"; }
  Result<Sample> run(int64_t count, bool warm) override;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quern::bench
