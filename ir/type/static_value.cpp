#include "ir/type/static_value.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>

namespace quern {

namespace {

std::string quote(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: out += c;
    }
  }
  return out + "\"";
}

/// The shortest text that reads back the same, and reads back as a float: `2.0` rather than `2`.
std::string float_text(double value) {
  std::string text = fmt::format("{}", value);
  bool integral = std::isfinite(value) && text.find_first_of(".e") == std::string::npos;
  return integral ? text + ".0" : text;
}

struct Equal {
  bool operator()(std::monostate, std::monostate) const { return true; }
  // Bitwise, so that NaN equals itself and 0.0 differs from -0.0: equal values instantiate equal operators.
  bool operator()(double a, double b) const {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
  }
  bool operator()(const std::shared_ptr<const StaticList>& a,
                  const std::shared_ptr<const StaticList>& b) const {
    return a == b || *a == *b;
  }
  template <class T>
  bool operator()(const T& a, const T& b) const {
    return a == b;
  }
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false;
  }
};

struct Text {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool value) const { return value ? "True" : "False"; }
  std::string operator()(double value) const { return float_text(value); }
  std::string operator()(const std::string& value) const { return quote(value); }
  std::string operator()(DType value) const { return quote(to_string(value)); }
  std::string operator()(Dim value) const { return to_string(value); }
  std::string operator()(const std::shared_ptr<const StaticList>& items) const {
    std::string out = "[";
    for (const StaticValue& item : *items) out += (out.size() > 1 ? ", " : "") + to_string(item);
    return out + "]";
  }
  // The expression printer is above this room; code that prints a pack of expressions uses it.
  std::string operator()(const Expr*) const { return "a computed value"; }
};

}  // namespace

bool operator==(const StaticValue& a, const StaticValue& b) { return std::visit(Equal(), a.data, b.data); }

std::string to_string(const StaticValue& value) { return std::visit(Text(), value.data); }

}  // namespace quern
