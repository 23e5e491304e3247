#include "ir/io/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <new>

namespace quern::data_detail {

namespace {

class GzipSource final : public ByteSource {
 public:
  explicit GzipSource(FileSource& file)
      : ByteSource(file.where(), kMostPerByte * file.remaining()), file_(file) {
    if (inflateInit2(&stream_, kGzip + MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  ~GzipSource() override { inflateEnd(&stream_); }

 protected:
  /// What comes before a mistake is there first.
  int64_t read_some(void* out, size_t size) override {
    stream_.next_out = static_cast<Bytef*>(out);
    stream_.avail_out = static_cast<uInt>(std::min(size, size_t{1} << 24));
    const uInt wanted = stream_.avail_out;
    bool goes_on = true;
    while (goes_on && stream_.avail_out > 0) goes_on = inflate_some();
    const int64_t count = wanted - stream_.avail_out;
    return count == 0 && !is_complete_ ? -1 : count;
  }

 private:
  static constexpr uint64_t kMostPerByte = 1032;  // 258 bytes from 2 bits, deflate's maximum
  static constexpr int kGzip = 16;                // zlib's sign for gzip's header and checksum

  /// False at the end, and where the data are damaged. A file may be several compressed ones, one after the other.
  bool inflate_some() {
    if (stream_.avail_in == 0 && (!refill() || stream_.avail_in == 0)) return false;
    if (is_complete_ && inflateReset(&stream_) != Z_OK) return false;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    is_complete_ = status == Z_STREAM_END;
    return status == Z_OK || status == Z_STREAM_END;
  }

  bool refill() {
    const auto part = std::span(input_).first(std::min<uint64_t>(input_.size(), file_.remaining()));
    if (!file_.read(std::as_writable_bytes(part), "its compressed data")) return false;
    stream_.next_in = input_.data();
    stream_.avail_in = static_cast<uInt>(part.size());
    return true;
  }

  FileSource& file_;
  z_stream stream_{};
  std::array<Bytef, 1 << 16> input_{};
  bool is_complete_ = false;
};

}  // namespace

std::unique_ptr<ByteSource> gunzipped(FileSource& file) { return std::make_unique<GzipSource>(file); }

}  // namespace quern::data_detail
