// .params, which TVM's `relay.save_param_dict` writes (src/runtime/file_utils.cc): magic, 8 bytes reserved, the names (their number,
// and of each its length and its bytes), the number of NDArrays, and these (ir/io/ndarray.h). Numbers take 8 bytes.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/io/data_formats.h"
#include "ir/io/ndarray.h"

namespace quern {

std::optional<DType> ndarray_dtype(uint8_t code, uint8_t bits, uint16_t lanes) {
  std::string name;
  switch (code) {
    case 0: name = fmt::format("int{}", bits); break;
    case 1: name = bits == 1 ? "bool" : fmt::format("uint{}", bits); break;
    case 2: name = fmt::format("float{}", bits); break;
    case 4: name = fmt::format("bfloat{}", bits); break;
    case 6: name = "bool"; break;
    default: return std::nullopt;
  }
  std::optional<DType> dtype = parse_dtype(name);
  if (!dtype || lanes == 0 || (dtype->is_bool() && lanes > 1)) return std::nullopt;
  dtype->lanes = lanes;
  return dtype;
}

namespace data_detail {

namespace {

constexpr uint64_t kParamsMagic = 0xF7E58D4F05049CB7;

struct ParamSlot {
  std::string name;
  TensorHeader tensor;
  uint64_t begin = 0;  ///< of its data in the file
};

template <class T>
Result<T> read_number(FileSource& source, std::string_view part) {
  T value{};
  auto done = source.read(std::as_writable_bytes(std::span(&value, 1)), part);
  if (!done) return done.error();
  return value;
}

uint64_t offset_of(const FileSource& source) { return source.size() - source.remaining(); }

/// The magic and the names; `source` is then at the number of arrays.
Result<std::vector<std::string>> read_names(FileSource& source) {
  const auto magic = read_number<uint64_t>(source, "its head");
  if (!magic) return magic.error();
  if (*magic != kParamsMagic) return source.failure("it does not begin as TVM's parameters do");
  const auto reserved = read_number<uint64_t>(source, "its head");
  if (!reserved) return reserved.error();
  const auto count = read_number<uint64_t>(source, "the number of its names");
  if (!count) return count.error();
  if (*count > source.remaining() / sizeof(uint64_t))
    return source.failure(fmt::format("it claims {} names, and {} bytes follow", *count, source.remaining()));
  std::vector<std::string> names;
  std::set<std::string> known;
  for (uint64_t k = 0; k < *count; ++k) {
    const auto length = read_number<uint64_t>(source, fmt::format("name {}", k));
    if (!length) return length.error();
    if (*length > source.remaining())
      return source.failure(
          fmt::format("name {} claims {} bytes, and {} follow", k, *length, source.remaining()));
    std::string name(*length, '\0');
    if (auto done = source.read(std::as_writable_bytes(std::span(name)), fmt::format("name {}", k)); !done)
      return done.error();
    if (!known.insert(name).second) return source.failure(fmt::format("it has two entries '{}'", name));
    names.push_back(std::move(name));
  }
  return names;
}

struct Head {
  uint64_t magic, reserved;
  int32_t device_type, device_id, rank;
  uint8_t code, bits;
  uint16_t lanes;
};

/// What an array says of itself before its shape.
Result<Head> read_head(FileSource& source, std::string_view part) {
  Head head{};
  const auto all = [&](auto&... members) -> Result<Done> {
    Result<Done> done = Done{};
    ((done = done ? source.read(std::as_writable_bytes(std::span(&members, 1)), part) : std::move(done)),
     ...);
    return done;
  };
  auto done = all(head.magic, head.reserved, head.device_type, head.device_id, head.rank, head.code,
                  head.bits, head.lanes);
  if (!done) return done.error();
  return head;
}

/// The head of one array; `source` is then behind its data.
Result<ParamSlot> read_array(FileSource& source, const std::string& name) {
  const std::string part = fmt::format("entry '{}'", name);
  const auto failure = [&](std::string_view what) {
    return Failure{fmt::format("Cannot read {}, {}: {}.", source.where(), part, what)};
  };
  const auto head = read_head(source, part);
  if (!head) return head.error();
  if (head->magic != kNDArrayMagic) return failure("it does not begin as an NDArray does");
  if (head->rank < 0 || head->rank > kMostNDArrayDims)
    return failure(fmt::format("its rank is {}", head->rank));
  const auto dtype = ndarray_dtype(head->code, head->bits, head->lanes);
  if (!dtype)
    return failure(fmt::format("its dtype is not known (code {}, {} bits, {} lanes)", head->code, head->bits,
                               head->lanes));
  ParamSlot slot{name, {*dtype, {}}, 0};
  for (int32_t k = 0; k < head->rank; ++k) {
    const auto extent = read_number<int64_t>(source, part);
    if (!extent) return extent.error();
    slot.tensor.shape.push_back(*extent);
  }
  // As in every format, lanes are a last axis.
  if (dtype->lanes > 1) slot.tensor.shape.push_back(std::exchange(slot.tensor.dtype.lanes, uint16_t{1}));
  const auto bytes = checked_bytes(slot.tensor.dtype, slot.tensor.shape);
  if (!bytes) return failure(bytes.error().message);
  const auto stated = read_number<uint64_t>(source, part);
  if (!stated) return stated.error();
  if (*stated != *bytes)
    return failure(fmt::format("it states {} bytes of data where {} has {}", *stated,
                               type_to_string(slot.tensor.dtype, slot.tensor.shape), *bytes));
  if (*bytes > source.remaining())
    return failure(fmt::format("it has {} bytes of data, and {} follow", *bytes, source.remaining()));
  slot.begin = offset_of(source);
  if (auto done = source.move_to(slot.begin + *bytes); !done) return done.error();
  return slot;
}

/// DLPack's code and bits; as TVM has them, a bool is an unsigned number of one bit.
std::pair<uint8_t, uint8_t> dlpack_code(DType dtype) {
  if (dtype.is_bool()) return {1, 1};
  const uint8_t code = dtype.code == DTypeCode::BFloat ? 4
                       : dtype.is_float()              ? 2
                       : dtype.code == DTypeCode::UInt ? 1
                                                       : 0;
  return {code, dtype.bits};
}

class ParamsFile final : public TensorFile {
 public:
  ParamsFile(const std::string& path, std::vector<std::string> names, std::vector<ParamSlot> slots,
             std::unique_ptr<FileSource> source)
      : TensorFile(path, std::move(names)), slots_(std::move(slots)), source_(std::move(source)) {}

 protected:
  Result<TensorHeader> read_header(size_t entry) override { return slots_[entry].tensor; }
  Result<TensorPtr> read_tensor(size_t entry) override {
    const ParamSlot& slot = slots_[entry];
    if (TensorPtr mapped = source_->mapped(slot.begin, slot.tensor)) return mapped;
    TensorPtr tensor = HostTensor::make(slot.tensor.dtype, slot.tensor.shape);
    if (auto done = source_->move_to(slot.begin); !done) return done.error();
    auto done = source_->read({tensor->data(), tensor->bytes()}, fmt::format("entry '{}'", slot.name));
    if (!done) return done.error();
    normalise_bools(*tensor);
    return tensor;
  }

 private:
  const std::vector<ParamSlot> slots_;
  const std::unique_ptr<FileSource> source_;
};

}  // namespace

OpenedFile open_params(const std::string& path, std::unique_ptr<FileSource> source) {
  auto names = read_names(*source);
  if (!names) return names.error();
  const auto count = read_number<uint64_t>(*source, "the number of its arrays");
  if (!count) return count.error();
  if (*count != names->size())
    return source->failure(fmt::format("it has {} names and {} arrays", names->size(), *count));
  std::vector<ParamSlot> slots;
  for (const std::string& name : *names) {
    auto slot = read_array(*source, name);
    if (!slot) return slot.error();
    slots.push_back(std::move(*slot));
  }
  if (source->remaining() > 0) return source->failure("it goes on after the last array");
  return std::shared_ptr<TensorFile>(
      std::make_shared<ParamsFile>(path, std::move(*names), std::move(slots), std::move(source)));
}

std::string params_fault(const std::string&, DType) { return ""; }

Result<Done> write_params(const std::string& path, const Entries<TensorPtr>& entries) {
  AtomicFile file(path);
  const auto put = [&](const auto&... numbers) { (file.write(std::as_bytes(std::span(&numbers, 1))), ...); };
  const uint64_t count = entries.size(), reserved = 0;
  put(kParamsMagic, reserved, count);
  for (const auto& [name, _] : entries) {
    put(uint64_t{name.size()});
    file.write(name);
  }
  put(count);
  for (const auto& [_, tensor] : entries) {
    const auto [code, bits] = dlpack_code(tensor->dtype());
    put(kNDArrayMagic, reserved, int32_t{1}, int32_t{0}, static_cast<int32_t>(tensor->shape().size()), code,
        bits, uint16_t{1});
    for (const int64_t extent : tensor->shape()) put(extent);
    put(uint64_t{tensor->bytes()});
    file.write({tensor->data(), tensor->bytes()});
  }
  return file.commit();
}

}  // namespace data_detail

}  // namespace quern
