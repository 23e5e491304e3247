#include "bench/harness/json_line.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace quern::bench {

namespace {

double rounded(double value, int digits) {
  const double scale = std::pow(10, digits);
  return std::round(value * scale) / scale;
}

}  // namespace

void JsonLine::add_json(const std::string& name, const std::string& value) {
  text_ += (text_.size() > 1 ? ",\"" : "\"") + name + "\":" + value;
}

void JsonLine::add(const std::string& name, const std::string& value) {
  add_json(name, nlohmann::json(value).dump());
}

void JsonLine::add(const std::string& name, size_t value) { add_json(name, std::to_string(value)); }

void JsonLine::add(const std::string& name, double value, int digits) {
  add_json(name, nlohmann::json(rounded(value, digits)).dump());
}

void JsonLine::add_times(const Figures& figures, const std::string& unit, double scale) {
  add("quern_" + unit, figures.seconds * scale, 3);
  if (figures.peer.empty()) {
    for (const std::string& name :
         {std::string("peer"), "peer_" + unit, std::string("ratio"), std::string("spread")})
      add_null(name);
    return;
  }
  add("peer", figures.peer);
  add("peer_" + unit, figures.peer_seconds * scale, 3);
  add_ratio(figures);
}

void JsonLine::add_ratio(const Figures& figures) {
  add("ratio", figures.ratio, 4);
  add_json("spread", nlohmann::json{rounded(figures.lowest, 4), rounded(figures.highest, 4)}.dump());
}

void JsonLine::add_rounds(const Figures& figures) {
  add("rounds", figures.rounds);
  add("disturbed_rounds", figures.disturbed);
}

}  // namespace quern::bench
