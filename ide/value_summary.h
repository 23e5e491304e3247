#pragma once
// A summary of a value: an editor shows it, and the process that computed the value sends it.

#include <cstdint>
#include <optional>
#include <string>

#include "ir/type/type.h"
#include "ir/value/value.h"

namespace quern::ide {

struct ValueSummary {
  /// Statistics of a tensor's finite numbers; NaN if there are none.
  struct Numbers {
    int64_t nans = 0, infinities = 0;
    double least = 0, mean = 0, greatest = 0;
    /// A vector's elements in order, or the distribution of the numbers of other tensors, as bars.
    std::string sparkline;
  };

  std::string type;
  std::string text;                ///< the value on one line, shortened
  std::optional<Numbers> numbers;  ///< of a tensor with more than one element
};

ValueSummary summary_of(const Value& value, Type type);
std::string to_markdown(const ValueSummary& summary);

}  // namespace quern::ide
