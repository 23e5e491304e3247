#pragma once
// What the models' bench prints.

#include <optional>
#include <string>
#include <vector>

#include "bench/harness/figures.h"
#include "bench/models/first_call.h"

namespace quern::bench {

/// A model measured.
struct Row {
  std::string name, group;
  int threads = 1;
  Figures figures;
  std::optional<double> torch, onednn;  ///< seconds of each peer that takes part
  FirstCalls first;
};

/// A table, or one JSON object a line.
class Report {
 public:
  explicit Report(bool json) : json_(json) {}
  void begin() const;
  void add(const Row& row);
  /// The geometric mean of the ratios of each group.
  void end() const;

 private:
  bool json_;
  std::vector<GroupRatio> ratios_;
};

}  // namespace quern::bench
