#include "import/onnx/model_bytes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstring>
#include <new>

namespace quern::onnx {

namespace {

using google::protobuf::io::CodedInputStream;

// Numbers of fields in onnx.proto.
constexpr uint32_t kGraphOfModel = 7, kInitializerOfGraph = 5, kRawDataOfTensor = 9;
constexpr uint32_t kSmall = 1 << 16;

constexpr uint32_t kVarint = 0, kFixed64 = 1, kDelimited = 2, kFixed32 = 5;
uint32_t field_of(uint32_t tag) { return tag >> 3; }
uint32_t wire_of(uint32_t tag) { return tag & 7; }

void put_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

Bytes aligned_bytes(size_t size) {
  auto* memory = static_cast<std::byte*>(::operator new(size, std::align_val_t(64)));
  return {memory, [](const std::byte* bytes) {
            ::operator delete(const_cast<std::byte*>(bytes), std::align_val_t(64));
          }};
}

class Splitter {
 public:
  Splitter(CodedInputStream& stream, uint64_t size) : stream_(stream), left_(size) {}

  /// Copies a message of so many bytes without what is large; false for one that is not sound.
  bool copy_model(std::string& to) { return copy(static_cast<uint32_t>(left_), Level::Model, to); }
  std::map<int, std::pair<Bytes, size_t>> take_raw_data() { return std::move(raw_data_); }

 private:
  enum class Level : uint8_t { Model, Graph, Tensor, Other };

  /// The level of a field's message, if it is one on the way to a tensor.
  static Level inner(Level level, uint32_t tag) {
    if (wire_of(tag) != kDelimited) return Level::Other;
    if (level == Level::Model && field_of(tag) == kGraphOfModel) return Level::Graph;
    if (level == Level::Graph && field_of(tag) == kInitializerOfGraph) return Level::Tensor;
    return Level::Other;
  }

  bool copy(uint32_t size, Level level, std::string& to) {
    const int end = stream_.CurrentPosition() + static_cast<int>(size);
    while (stream_.CurrentPosition() < end)
      if (!copy_field(end, level, to)) return false;
    return stream_.CurrentPosition() == end;
  }

  bool copy_field(int end, Level level, std::string& to) {
    uint32_t tag = 0;
    if (!stream_.ReadVarint32(&tag)) return false;
    if (wire_of(tag) != kDelimited) return copy_number(tag, to);
    uint32_t length = 0;
    if (!stream_.ReadVarint32(&length)) return false;
    if (length > static_cast<uint32_t>(end - stream_.CurrentPosition())) return false;
    if (level == Level::Tensor && field_of(tag) == kRawDataOfTensor && length > kSmall) return take(length);
    const Level within = inner(level, tag);
    std::string part;
    if (within == Level::Other ? !stream_.ReadString(&part, static_cast<int>(length))
                               : !copy(length, within, part))
      return false;
    if (within == Level::Tensor) ++initializer_;
    put_varint(to, tag);
    put_varint(to, part.size());
    to += part;
    return true;
  }

  bool copy_number(uint32_t tag, std::string& to) {
    put_varint(to, tag);
    if (wire_of(tag) == kVarint) {
      uint64_t value = 0;
      if (!stream_.ReadVarint64(&value)) return false;
      put_varint(to, value);
      return true;
    }
    if (wire_of(tag) != kFixed64 && wire_of(tag) != kFixed32) return false;
    char bytes[8];
    const int size = wire_of(tag) == kFixed64 ? 8 : 4;
    if (!stream_.ReadRaw(bytes, size)) return false;
    to.append(bytes, static_cast<size_t>(size));
    return true;
  }

  bool take(uint32_t length) {
    Bytes bytes = aligned_bytes(length);
    if (!stream_.ReadRaw(const_cast<std::byte*>(bytes.get()), static_cast<int>(length))) return false;
    raw_data_[initializer_] = {std::move(bytes), length};
    return true;
  }

  CodedInputStream& stream_;
  uint64_t left_;
  int initializer_ = 0;
  std::map<int, std::pair<Bytes, size_t>> raw_data_;
};

}  // namespace

Result<ModelBytes> read_model_bytes(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status = {};
  if (descriptor < 0 || ::fstat(descriptor, &status) != 0) {
    const int error = errno;
    if (descriptor >= 0) ::close(descriptor);
    return Failure{fmt::format("cannot read `{}`: {}", path, std::strerror(error))};
  }
  google::protobuf::io::FileInputStream file(descriptor, 1 << 20);
  file.SetCloseOnDelete(true);
  if (!S_ISREG(status.st_mode)) return Failure{fmt::format("cannot read `{}`: it is no file", path)};
  if (status.st_size >= INT_MAX)
    return Failure{fmt::format(
        "`{}` has 2 GiB or more; ONNX keeps the tensors of such models in files beside it", path)};
  CodedInputStream stream(&file);
  stream.SetTotalBytesLimit(INT_MAX);
  Splitter splitter(stream, static_cast<uint64_t>(status.st_size));
  ModelBytes bytes;
  if (!splitter.copy_model(bytes.message))
    return Failure{fmt::format("`{}` is no ONNX model, or only a part of one", path)};
  bytes.raw_data = splitter.take_raw_data();
  return bytes;
}

}  // namespace quern::onnx
