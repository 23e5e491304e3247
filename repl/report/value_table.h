#pragma once
// Values as rows and columns: on a screen, and as CSV.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "ir/value/value.h"

namespace quern {

/// The cells below each other: elements of a tensor that are `stride` apart, or values.
struct TableColumn {
  std::string name;
  TensorPtr tensor{};
  int64_t begin = 0, stride = 1;
  std::vector<const Value*> values{};  ///< where there is no tensor

  std::string cell(int64_t row, const ValueStyle& style) const;
};

/// It points into the value that it is of.
struct ValueTable {
  std::vector<TableColumn> columns;
  int64_t rows = 0;
  bool has_names = true;  ///< whether columns have names of their own; those of a matrix are numbers
};

/// Of a matrix; of a vector or a list, which is one column; of a list of records or of tuples; of a record or a tuple of
/// vectors or lists of one length. What is wrong with another value begins as "columns of different lengths".
Result<ValueTable> table_of(const Value& value);

/// As wide as the style says, and of `most` rows at most: of more the middle is left out, and so is it of columns for
/// which there is no room.
std::string to_text(const ValueTable& table, const ValueStyle& style, int64_t most);
/// RFC 4180 with ends of lines as the system's: names in the first line, where there are any, then all rows.
std::string to_csv(const ValueTable& table);

}  // namespace quern
