#pragma once
// A value in brief: what an editor shows of one, and what crosses from the process that computed it.

#include <cstdint>
#include <optional>
#include <string>

#include "ir/type/type.h"
#include "ir/value/value.h"

namespace quern::ide {

struct ValueSummary {
  /// The figures of a tensor's finite numbers; NaN where there are none.
  struct Numbers {
    int64_t nans = 0, infinities = 0;
    double least = 0, mean = 0, greatest = 0;
    /// A vector's elements in order, or how the numbers of other tensors are distributed, as bars.
    std::string sparkline;
  };

  std::string type;
  std::string text;                ///< the value on one line, shortened
  std::optional<Numbers> numbers;  ///< of a tensor with more than one element
};

ValueSummary summary_of(const Value& value, Type type);
std::string to_markdown(const ValueSummary& summary);

}  // namespace quern::ide
