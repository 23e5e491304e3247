#include "ir/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

namespace quern::data_detail {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
/// Real headers take 64 to 128 bytes; the bound protects memory against a false length.
constexpr uint64_t kMaxHeader = 1 << 20;

struct TypeCode {
  std::string_view code;
  DType dtype;
};

constexpr TypeCode kTypeCodes[] = {
    {"f2", {DTypeCode::Float, 16}}, {"f4", {DTypeCode::Float, 32}}, {"f8", {DTypeCode::Float, 64}},
    {"i1", {DTypeCode::Int, 8}},    {"i2", {DTypeCode::Int, 16}},   {"i4", {DTypeCode::Int, 32}},
    {"i8", {DTypeCode::Int, 64}},   {"u1", {DTypeCode::UInt, 8}},   {"u2", {DTypeCode::UInt, 16}},
    {"u4", {DTypeCode::UInt, 32}},  {"u8", {DTypeCode::UInt, 64}},  {"b1", {DTypeCode::Bool, 8}},
};

/// Reads the dict of a header: exactly the three keys, strings, True and False, a tuple of integers.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  /// The message of the Failure is a clause.
  Result<NpyHeader> parse() {
    if (!eat('{')) return Failure{"its header is not a dict"};
    while (!eat('}')) {
      std::optional<std::string> key = string();
      if (!key || !eat(':')) return Failure{"its header is not a dict of named fields"};
      if (std::string fault = field(*key); !fault.empty()) return Failure{std::move(fault)};
      if (!eat(',') && peek() != '}') return Failure{"its header does not end where it should"};
    }
    peek();
    if (at_ != text_.size()) return Failure{"its header goes on after the dict"};
    if (!has_descr_ || !has_order_ || !has_shape_)
      return Failure{"its header lacks one of 'descr', 'fortran_order' and 'shape'"};
    return header_;
  }

 private:
  /// The next character that is not space, or '\0' at the end.
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool eat(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  bool eat_word(std::string_view word) {
    peek();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  std::optional<std::string> string() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return result;
  }

  /// Reads the value of `key`; returns what is wrong with it, or "".
  std::string field(const std::string& key) {
    if (key == "descr" && !std::exchange(has_descr_, true)) return descr();
    if (key == "shape" && !std::exchange(has_shape_, true)) return shape();
    if (key == "fortran_order" && !std::exchange(has_order_, true)) {
      header_.fortran_order = eat_word("True");
      return header_.fortran_order || eat_word("False") ? ""
                                                        : "its 'fortran_order' is neither True nor False";
    }
    return fmt::format("its header has an unknown or repeated field '{}'", key);
  }

  std::string descr() {
    std::optional<std::string> text = string();
    if (!text) return "its dtype is not a plain one";
    std::string_view code = *text;
    char order = code.empty() ? '\0' : code.front();
    if (!code.empty()) code.remove_prefix(1);
    const TypeCode* row = std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                                       [&](const TypeCode& r) { return r.code == code; });
    bool known = row != std::end(kTypeCodes);
    if (!known || !(order == '<' || order == '>' || (order == '|' && row->dtype.bits == 8)))
      return fmt::format("its dtype '{}' is not supported", *text);
    header_.tensor.dtype = row->dtype;
    header_.big_endian = order == '>';
    return "";
  }

  std::string shape() {
    if (!eat('(')) return "its shape is not a tuple";
    while (!eat(')')) {
      peek();
      int64_t extent = 0;
      auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error == std::errc::result_out_of_range) return "an extent of its shape takes more than 64 bits";
      if (error != std::errc()) return "its shape is not a tuple of integers";
      at_ = static_cast<size_t>(end - text_.data());
      eat('L');  // suffix of Python 2's long integers
      header_.tensor.shape.push_back(extent);
      if (!eat(',') && peek() != ')') return "its shape is not a tuple of integers";
    }
    return "";
  }

  std::string_view text_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

/// The length of the header's text, read from the fixed part before it.
Result<uint64_t> read_header_length(ByteSource& source) {
  std::array<std::byte, 8> start;
  if (auto done = source.read(start, "the magic number"); !done) return done.error();
  if (std::memcmp(start.data(), kMagic.data(), kMagic.size()) != 0)
    return source.failure("it does not begin like a .npy file");
  int version = static_cast<int>(start[6]);
  if (version < 1 || version > 3 || start[7] != std::byte{0})
    return source.failure(
        fmt::format("version {}.{} of the .npy format is not known", version, int(start[7])));
  uint32_t length = 0;
  auto length_bytes = std::as_writable_bytes(std::span(&length, 1)).first(version == 1 ? 2 : 4);
  if (auto done = source.read(length_bytes, "the length of the header"); !done) return done.error();
  if (length > kMaxHeader || length > source.remaining())
    return source.failure(
        fmt::format("its header claims {} bytes, and {} bytes follow", uint64_t{length}, source.remaining()));
  return uint64_t{length};
}

void swap_bytes(HostTensor& tensor) {
  size_t width = tensor.dtype().bytes();
  for (std::byte* element = tensor.data(); element != tensor.data() + tensor.bytes(); element += width)
    std::reverse(element, element + width);
}

/// `source` holds its elements with the first axis varying fastest.
TensorPtr from_fortran(const HostTensor& source) {
  TensorPtr result = HostTensor::make(source.dtype(), source.shape());
  const Shape& shape = source.shape();
  size_t width = source.dtype().bytes();
  std::vector<int64_t> strides(shape.size(), 1), index(shape.size(), 0);
  for (size_t axis = 1; axis < shape.size(); ++axis) strides[axis] = strides[axis - 1] * shape[axis - 1];
  int64_t from = 0;
  for (int64_t to = 0; to < source.size(); ++to) {
    std::memcpy(result->data() + static_cast<size_t>(to) * width,
                source.data() + static_cast<size_t>(from) * width, width);
    for (size_t axis = shape.size(); axis-- > 0;) {
      from += strides[axis];
      if (++index[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      index[axis] = 0;
    }
  }
  return result;
}

}  // namespace

Result<NpyHeader> read_npy_header(ByteSource& source) {
  Result<uint64_t> length = read_header_length(source);
  if (!length) return length.error();
  std::string text(*length, '\0');
  if (auto done = source.read(std::as_writable_bytes(std::span(text)), "the header"); !done)
    return done.error();
  Result<NpyHeader> header = HeaderParser(text).parse();
  if (!header) return source.failure(header.error().message);
  Result<uint64_t> bytes = checked_bytes(header->tensor.dtype, header->tensor.shape);
  if (!bytes) return source.failure(bytes.error().message);
  if (*bytes != source.remaining())
    return source.failure(fmt::format("{} takes {} bytes, and {} bytes follow the header",
                                      type_to_string(header->tensor.dtype, header->tensor.shape), *bytes,
                                      source.remaining()));
  return header;
}

Result<TensorPtr> read_npy(ByteSource& source) {
  Result<NpyHeader> header = read_npy_header(source);
  if (!header) return header.error();
  return read_elements(source, *header);
}

Result<TensorPtr> read_elements(ByteSource& source, const NpyHeader& header) {
  TensorPtr tensor = HostTensor::make(header.tensor.dtype, header.tensor.shape);
  if (auto done = source.read({tensor->data(), tensor->bytes()}, "the elements"); !done) return done.error();
  if (auto done = source.finish(); !done) return done.error();
  if (header.big_endian) swap_bytes(*tensor);
  normalise_bools(*tensor);
  bool transposed = header.fortran_order && tensor->shape().size() > 1;
  return transposed ? from_fortran(*tensor) : tensor;
}

std::string npy_fault(const std::string&, DType dtype) {
  const bool known = std::ranges::any_of(kTypeCodes, [&](const TypeCode& row) { return row.dtype == dtype; });
  return known ? "" : fmt::format("{} has no NumPy dtype", to_string(dtype));
}

Result<std::string> npy_preamble(const HostTensor& tensor) {
  const TypeCode* row = std::ranges::find(kTypeCodes, tensor.dtype(), &TypeCode::dtype);
  std::string header = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}{}), }}",
                                   row->dtype.bits == 8 ? '|' : '<', row->code,
                                   fmt::join(tensor.shape(), ", "), tensor.shape().size() == 1 ? "," : "");
  constexpr size_t kFixed = 10,
                   kMultiple = 64;  // magic, version and length; elements may be mapped at a multiple
  size_t total = (kFixed + header.size() + 1 + kMultiple - 1) / kMultiple * kMultiple;
  size_t length = total - kFixed;
  if (length > 0xffff) return Failure{"its rank is too high for a .npy header"};
  header.resize(length - 1, ' ');
  std::string preamble(kMagic);
  preamble += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return preamble + header + "\n";
}

namespace {

Result<TensorHeader> read_header(FileSource& source) {
  Result<NpyHeader> header = read_npy_header(source);
  if (!header) return header.error();
  return header->tensor;
}

Result<TensorPtr> read_tensor(FileSource& source) {
  Result<NpyHeader> header = read_npy_header(source);
  if (!header) return header.error();
  const bool as_in_memory =
      !header->big_endian && !(header->fortran_order && header->tensor.shape.size() > 1);
  const uint64_t begin = source.size() - source.remaining();
  TensorPtr mapped = as_in_memory ? source.mapped(begin, header->tensor) : nullptr;
  return mapped ? mapped : read_elements(source, *header);
}

}  // namespace

OpenedFile open_npy(const std::string& path, std::unique_ptr<FileSource> source) {
  return open_one_tensor(path, std::move(source), {read_header, read_tensor});
}

Result<Done> write_npy(const std::string& path, const Entries<TensorPtr>& entries) {
  const HostTensor& tensor = *entries.front().second;
  Result<std::string> preamble = npy_preamble(tensor);
  if (!preamble) return write_failure(path, preamble.error().message);
  AtomicFile file(path);
  file.write(*preamble);
  file.write({tensor.data(), tensor.bytes()});
  return file.commit();
}

}  // namespace quern::data_detail
