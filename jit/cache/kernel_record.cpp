#include "jit/cache/kernel_record.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "jit/loops/walk.h"

namespace quern {

namespace {

// --- dims --------------------------------------------------------------------------------------------------

/// Dims of kernels are over those of their primitive; any other was introduced by the schedule.
std::string text_of(Dim dim, const CanonicalText& of) {
  if (!dim) return {};
  auto text = dim_to_text(dim, of.variables);
  QUERN_CHECK(text.has_value());
  return *text;
}

/// Reads dims from texts; fails if one does not fit.
class DimsFromTexts {
 public:
  explicit DimsFromTexts(std::span<const Dim> variables) : variables_(variables) {}

  bool fit = true;

  Dim one(const std::string& text) {
    const auto dim = dim_from_text(text, variables_);
    fit &= dim.has_value();
    return dim.value_or(nullptr);
  }
  Dim one_or_none(const std::string& text) { return text.empty() ? nullptr : one(text); }
  std::vector<Dim> all(const std::vector<std::string>& texts) {
    std::vector<Dim> dims;
    dims.reserve(texts.size());
    for (const std::string& text : texts) dims.push_back(one(text));
    return dims;
  }

 private:
  std::span<const Dim> variables_;
};

// --- bytes -------------------------------------------------------------------------------------------------

/// FNV-1a (Fowler, Noll and Vo), over words of eight bytes: it detects damage, not forgery. `sum` is that of
/// the preceding bytes.
uint64_t checksum(std::string_view bytes, uint64_t sum = 0xcbf29ce484222325) {
  const auto take = [&](uint64_t word) {
    sum = (sum ^ word) * 0x100000001b3;
    sum ^= sum >> 32;
  };
  for (; bytes.size() >= 8; bytes.remove_prefix(8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    take(word);
  }
  for (const char c : bytes) take(static_cast<unsigned char>(c));
  return sum;
}

/// Calls `f` on every field in file order.
template <class Record, class F>
void for_each_field(Record& record, F&& f) {
  f(record.dims);
  f(record.share);
  f(record.packed);
  f(record.objects);
}

class ByteWriter {
 public:
  std::string bytes;

  void operator()(uint64_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void operator()(const std::string& text) {
    (*this)(uint64_t{text.size()});
    bytes += text;
  }
  void operator()(const KernelRecord::Share& share) {
    (*this)(share.range);
    (*this)(share.work);
  }
  void operator()(const KernelRecord::Packed& packed) {
    (*this)(packed.buffer);
    (*this)(packed.text);
    (*this)(packed.dtype);
    (*this)(packed.shape);
    (*this)(packed.share);
    (*this)(packed.reads);
  }
  template <class T>
  void operator()(const std::vector<T>& list) {
    (*this)(uint64_t{list.size()});
    for (const T& item : list) (*this)(item);
  }
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  bool whole() const { return good_ && rest_.empty(); }

  void operator()(uint64_t& value) {
    const std::string_view bytes = take(sizeof value);
    if (good_) std::memcpy(&value, bytes.data(), sizeof value);
  }
  void operator()(std::string& text) {
    uint64_t size = 0;
    (*this)(size);
    text = take(size);
  }
  void operator()(KernelRecord::Share& share) {
    (*this)(share.range);
    (*this)(share.work);
  }
  void operator()(KernelRecord::Packed& packed) {
    (*this)(packed.buffer);
    (*this)(packed.text);
    (*this)(packed.dtype);
    (*this)(packed.shape);
    (*this)(packed.share);
    (*this)(packed.reads);
  }
  template <class T>
  void operator()(std::vector<T>& list) {
    uint64_t size = 0;
    (*this)(size);
    for (; size > 0 && good_; --size) (*this)(list.emplace_back());
  }

 private:
  std::string_view take(uint64_t size) {
    good_ &= size <= rest_.size();
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

namespace {

/// The numbers of the entry's dims that occur in a kernel.
std::vector<uint64_t> dims_read(const loops::Kernel& kernel) {
  std::set<Dim> found;
  const auto add = [&](Dim dim) {
    for_each_var(dim, [&](Dim variable) { found.insert(variable); });
    return dim;
  };
  map_dims(kernel.body, add);
  for (const loops::Buffer& buffer : kernel.buffers) std::ranges::for_each(buffer.shape, add);
  std::vector<uint64_t> numbers;
  for (size_t k = 0; k < kernel.dims.size(); ++k)
    if (found.contains(kernel.dims[k])) numbers.push_back(k);
  return numbers;
}

}  // namespace

KernelRecord record_of(const loops::Lowered& lowered, const CanonicalText& text) {
  const auto share = [&](const loops::Kernel& kernel) {
    return KernelRecord::Share{text_of(kernel.range, text), text_of(kernel.work, text)};
  };
  KernelRecord record;
  for (const Dim dim : lowered.kernel.dims) record.dims.push_back(text_of(dim, text));
  record.share = share(lowered.kernel);
  for (const loops::PackedInput& input : lowered.packed) {
    const loops::Buffer& out = input.form.buffers.back();
    KernelRecord::Packed packed;
    packed.buffer = static_cast<uint64_t>(input.buffer);
    packed.text = loops::canonical_text(input.form);
    packed.dtype = to_string(out.dtype);
    for (const Dim extent : out.shape) packed.shape.push_back(text_of(extent, text));
    packed.share = share(input.form);
    packed.reads = dims_read(input.form);
    record.packed.push_back(std::move(packed));
  }
  return record;
}

std::optional<KernelCode> kernel_code(const KernelRecord& record,
                                      std::span<const std::shared_ptr<CompiledKernel>> codes,
                                      std::span<const Dim> variables) {
  QUERN_CHECK(codes.size() == 1 + record.packed.size());
  DimsFromTexts read(variables);
  KernelCode kernel;
  kernel.code = codes.front();
  kernel.dims = read.all(record.dims);
  kernel.range = read.one_or_none(record.share.range);
  kernel.work = read.one_or_none(record.share.work);
  for (size_t k = 0; k < record.packed.size(); ++k) {
    const KernelRecord::Packed& packed = record.packed[k];
    const std::optional<DType> dtype = parse_dtype(packed.dtype);
    if (!dtype) return std::nullopt;
    for (const uint64_t number : packed.reads)
      if (number >= kernel.dims.size()) return std::nullopt;
    kernel.packed.push_back({packed.buffer,
                             codes[k + 1],
                             *dtype,
                             read.all(packed.shape),
                             read.one_or_none(packed.share.range),
                             read.one_or_none(packed.share.work),
                             {packed.reads.begin(), packed.reads.end()}});
  }
  return read.fit ? std::optional(std::move(kernel)) : std::nullopt;
}

std::string to_bytes(const KernelRecord& record, std::string_view key) {
  ByteWriter fields, whole;
  for_each_field(record, fields);
  whole(checksum(fields.bytes, checksum(key)));
  return std::move(whole.bytes) + fields.bytes;
}

std::optional<KernelRecord> record_from_bytes(std::string_view bytes, std::string_view key) {
  uint64_t sum = 0;
  if (bytes.size() < sizeof sum) return std::nullopt;
  ByteReader(bytes.substr(0, sizeof sum))(sum);
  bytes.remove_prefix(sizeof sum);
  if (checksum(bytes, checksum(key)) != sum) return std::nullopt;
  KernelRecord record;
  ByteReader fields(bytes);
  for_each_field(record, fields);
  const bool good = fields.whole() && record.objects.size() == 1 + record.packed.size();
  return good ? std::optional(std::move(record)) : std::nullopt;
}

}  // namespace quern
