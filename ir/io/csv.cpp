// Rows of numbers as text, a line each: separated by commas, or by blanks where the first row has no comma. A first row
// without a number has the columns' names. Lines without anything, and those that begin with `#`, are skipped.

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/io/data_formats.h"
#include "ir/value/scalar.h"

namespace quern::data_detail {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  const bool is_quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return is_quoted ? trimmed(text.substr(1, text.size() - 2)) : text;
}

/// The whole text as a number, or nothing.
template <class T>
std::optional<T> number_in(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// For messages: not long, and without what is no character.
std::string shown(std::string_view field) {
  constexpr size_t kLongest = 24;
  std::string text(field.substr(0, kLongest));
  for (char& c : text)
    if (c < ' ' || c > '~') c = '?';
  return fmt::format("`{}{}`", text, field.size() > kLongest ? "…" : "");
}

/// Goes through the rows of a text.
class Rows {
 public:
  explicit Rows(std::string_view text) : rest_(text) {
    if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
  }

  /// To the next row, if there is one.
  bool next() {
    while (!rest_.empty()) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      const std::string_view line = rest_.substr(0, end);
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      ++line_;
      const std::string_view content = trimmed(line);
      if (content.empty() || content.front() == '#') continue;
      if (!separator_) separator_ = line.find(',') == std::string_view::npos ? ' ' : ',';
      split(line);
      return true;
    }
    return false;
  }

  const std::vector<std::string_view>& fields() const { return fields_; }
  size_t line() const { return line_; }

 private:
  bool separates(char c) const { return *separator_ == ',' ? c == ',' : is_blank(c); }

  void split(std::string_view line) {
    fields_.clear();
    bool is_quoted = false;
    size_t begin = 0;
    for (size_t at = 0; at <= line.size(); ++at) {
      if (at < line.size() && line[at] == '"') is_quoted = !is_quoted;
      if (at < line.size() && (is_quoted || !separates(line[at]))) continue;
      const std::string_view field = trimmed(line.substr(begin, at - begin));
      // Any number of blanks is one separator.
      if (*separator_ == ',' || !field.empty()) fields_.push_back(field);
      begin = at + 1;
    }
  }

  std::string_view rest_;
  std::optional<char> separator_;
  std::vector<std::string_view> fields_;
  size_t line_ = 0;
};

constexpr DType kUInt64{DTypeCode::UInt, 64};

/// The number of a dtype that a field is; nothing where it is none.
std::optional<Scalar> scalar_in(std::string_view field, DType dtype) {
  if (dtype.is_float()) {
    const auto value = number_in<double>(field);
    return value ? std::optional(Scalar::from_double(dtype, *value)) : std::nullopt;
  }
  if (dtype == kUInt64) {
    const auto value = number_in<uint64_t>(field);
    return value ? std::optional(Scalar{dtype, *value}) : std::nullopt;
  }
  const auto value = number_in<int64_t>(field);
  if (!value || (dtype.is_bool() && *value != 0 && *value != 1)) return std::nullopt;
  const Scalar scalar = Scalar::from_int(dtype, *value);
  return scalar.as_int() == *value ? std::optional(scalar) : std::nullopt;
}

class CsvFile final : public TensorFile {
 public:
  CsvFile(const std::string& path, std::unique_ptr<FileSource> source)
      : TensorFile(path, {""}), source_(std::move(source)) {}

 protected:
  Result<TensorHeader> read_header(size_t) override {
    auto text = read_text();
    if (!text) return text.error();
    return header_of(*text);
  }

  Result<TensorPtr> read_tensor(size_t) override {
    auto text = read_text();
    if (!text) return text.error();
    const auto header = header_of(*text);
    if (!header) return header.error();
    return elements(*text, *header);
  }

  Result<TensorPtr> read_as(size_t, DType dtype, size_t rank) override {
    auto text = read_text();
    if (!text) return text.error();
    auto header = header_of(*text);
    if (!header) return header.error();
    header->dtype = dtype;
    if (rank == 1 && header->shape[1] == 1) header->shape.pop_back();
    return elements(*text, *header);
  }

 private:
  Result<std::string> read_text() {
    if (auto done = source_->move_to(0); !done) return done.error();
    std::string text(source_->size(), '\0');
    if (auto done = source_->read(std::as_writable_bytes(std::span(text)), "the text"); !done)
      return done.error();
    return text;
  }

  /// A row with a number among its fields is one of numbers, and may have a mistake.
  static bool is_of_names(const std::vector<std::string_view>& fields) {
    const auto is_empty = [](std::string_view field) { return field.empty(); };
    const auto is_number = [](std::string_view field) { return number_in<double>(field).has_value(); };
    return std::ranges::none_of(fields, is_number) && !std::ranges::all_of(fields, is_empty);
  }

  Failure no_number(const Rows& rows, size_t column, std::string_view wanted) const {
    const std::string_view field = rows.fields()[column];
    const std::string what =
        field.empty() ? "a number is missing" : fmt::format("{} is no {}", shown(field), wanted);
    return source_->failure(fmt::format("line {}, column {}: {}", rows.line(), column + 1, what));
  }

  /// The extents, and the dtype that the language gives such numbers.
  Result<TensorHeader> header_of(std::string_view text) {
    constexpr int64_t kLeast = std::numeric_limits<int32_t>::min(),
                      kMost = std::numeric_limits<int32_t>::max();
    DType dtype = DType::int32();
    int64_t count = 0;
    std::optional<size_t> columns;
    for (Rows rows(text); rows.next();) {
      if (is_interrupted()) return Failure{kInterrupted};
      const bool is_first = !columns;
      if (is_first) columns = rows.fields().size();
      if (is_first && is_of_names(rows.fields())) continue;
      if (rows.fields().size() != *columns)
        return source_->failure(fmt::format("line {} has {}, and the first row has {}", rows.line(),
                                            rows.fields().size(), *columns));
      ++count;
      for (size_t column = 0; column < rows.fields().size(); ++column) {
        const std::string_view field = rows.fields()[column];
        const auto value = dtype.is_float() ? std::nullopt : number_in<int64_t>(field);
        if (!value && !number_in<double>(field)) return no_number(rows, column, "number");
        if (!value)
          dtype = DType::float32();
        else if (*value < kLeast || *value > kMost)
          dtype = DType::int64();
      }
    }
    if (!columns) return source_->failure("it has no numbers");
    return TensorHeader{dtype, {count, static_cast<int64_t>(*columns)}};
  }

  Result<TensorPtr> elements(std::string_view text, const TensorHeader& header) {
    TensorPtr tensor = HostTensor::make(header.dtype, header.shape);
    int64_t at = 0;
    bool is_first = true;
    for (Rows rows(text); rows.next(); is_first = false) {
      if (is_interrupted()) return Failure{kInterrupted};
      if (is_first && is_of_names(rows.fields())) continue;
      for (size_t column = 0; column < rows.fields().size(); ++column) {
        const std::string_view field = rows.fields()[column];
        const auto value = scalar_in(field, header.dtype);
        if (!value) return no_number(rows, column, to_string(header.dtype));
        fill_element(*tensor, at++, *value);
      }
    }
    return tensor;
  }

  const std::unique_ptr<FileSource> source_;
};

/// A float has a point or an exponent, so that it is read as one.
std::string written(const HostTensor& tensor, int64_t element) {
  const DType dtype = tensor.dtype();
  if (dtype == kUInt64) return fmt::format("{}", static_cast<uint64_t>(element_as_int(tensor, element)));
  if (!dtype.is_float()) return fmt::format("{}", element_as_int(tensor, element));
  const double value = element_as_double(tensor, element);
  std::string text =
      dtype == DType::float64() ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

OpenedFile open_csv(const std::string& path, std::unique_ptr<FileSource> source) {
  return std::shared_ptr<TensorFile>(std::make_shared<CsvFile>(path, std::move(source)));
}

std::string csv_fault(const std::string&, DType dtype) {
  const bool is_number = dtype.is_int() || dtype.is_float() || dtype.is_bool();
  return is_number ? "" : fmt::format("{} is no dtype of numbers", to_string(dtype));
}

Result<Done> write_csv(const std::string& path, const Entries<TensorPtr>& entries) {
  const HostTensor& tensor = *entries.front().second;
  const Shape& shape = tensor.shape();
  const int64_t columns = shape.size() == 2 ? shape[1] : 1;
  if (shape.empty() || shape.size() > 2 || columns == 0)
    return write_failure(path, fmt::format("a .csv holds a vector, or a matrix with columns, and this is {}",
                                           type_to_string(tensor.dtype(), shape)));
  AtomicFile file(path);
  // Without rows, names say how many columns there are.
  if (tensor.size() == 0)
    for (int64_t k = 0; k < columns; ++k)
      file.write(fmt::format("column{}{}", k, k + 1 < columns ? ',' : '\n'));
  for (int64_t k = 0; k < tensor.size(); ++k)
    file.write(written(tensor, k) + ((k + 1) % columns == 0 ? '\n' : ','));
  return file.commit();
}

}  // namespace quern::data_detail
