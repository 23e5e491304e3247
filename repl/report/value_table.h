#pragma once
// Values as rows and columns: on a screen, and as CSV.

#include <cstdint>
#include <string>
#include <vector>

#include "ir/base/result.h"
#include "ir/value/value.h"

namespace quern {

/// The cells below each other: the elements of a vector, or values.
struct TableColumn {
  std::string name;
  TensorPtr vector{};
  std::vector<const Value*> values{};  ///< where there is no vector
};

/// It points into the value that it is of.
struct ValueTable {
  std::vector<TableColumn> columns;
  int64_t rows = 0;
  TensorPtr matrix{};  ///< instead of columns: it may have millions, of which a screen shows few

  /// How many columns there are.
  size_t width() const;
  /// Whether columns have names of their own; those of a matrix are numbers.
  bool has_names() const { return !matrix; }
  std::string name(size_t column) const;
  std::string cell(int64_t row, size_t column, const ValueStyle& style) const;
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
