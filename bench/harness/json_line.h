#pragma once
// A row as one JSON object on a line.

#include <string>

#include "bench/harness/figures.h"

namespace quern::bench {

class JsonLine {
 public:
  void add(const std::string& name, const std::string& value);
  void add(const std::string& name, size_t value);
  void add_null(const std::string& name) { add_json(name, "null"); }
  /// Rounded to `digits` after the point.
  void add(const std::string& name, double value, int digits);
  /// `quern_UNIT`, `peer`, `peer_UNIT`, `ratio` and `spread`; a second has `scale` of the unit. Those of the
  /// peer are null where there is none.
  void add_times(const Figures& figures, const std::string& unit, double scale);
  /// `ratio` and `spread`.
  void add_ratio(const Figures& figures);
  /// `rounds` and `disturbed_rounds`.
  void add_rounds(const Figures& figures);

  std::string text() const { return text_ + "}"; }

 private:
  void add_json(const std::string& name, const std::string& value);

  std::string text_ = "{";
};

}  // namespace quern::bench
