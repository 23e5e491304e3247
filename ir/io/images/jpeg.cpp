// JPEG (ITU-T T.81) by libjpeg-turbo, which tells of an error by a jump.

#include <fmt/format.h>

#include <csetjmp>
#include <cstdio>
#include <cstdlib>
// After <cstdio>, which they need.
#include <jerror.h>
#include <jpeglib.h>

#include <vector>

#include "ir/base/interrupt.h"
#include "ir/io/images/images.h"

namespace quern::data_detail {

namespace {

/// What the two directions have in common: where an error jumps to, and its message.
class Jpeg {
 public:
  Jpeg(const Jpeg&) = delete;
  Jpeg& operator=(const Jpeg&) = delete;

 protected:
  Jpeg() {
    jpeg_std_error(&errors_);
    errors_.error_exit = on_error;
    errors_.emit_message = on_message;
  }
  ~Jpeg() = default;

  /// Whether a step came to its end. A step keeps no object with a destructor while libjpeg works: the jump would
  /// leave it as it is.
  template <class Derived>
  static bool finishes(Derived& self, void (*step)(Derived& self)) {
    if (setjmp(self.jump_) != 0) return false;
    step(self);
    return true;
  }

  [[noreturn]] static void on_error(j_common_ptr codec) {
    auto& self = *static_cast<Jpeg*>(codec->client_data);
    (*codec->err->format_message)(codec, self.message_);
    std::longjmp(self.jump_, 1);
  }

  /// Where data are missing or damaged libjpeg goes on with pixels of its own.
  static void on_message(j_common_ptr codec, int level) {
    const int code = codec->err->msg_code;
    const bool is_damage = code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE ||
                           code == JWRN_MUST_RESYNC || code == JWRN_BOGUS_PROGRESSION;
    if (level < 0 && is_damage) on_error(codec);
  }

  /// As a clause.
  std::string message() const { return fmt::format("libjpeg stopped at \"{}\"", message_); }

  jpeg_error_mgr errors_{};
  std::jmp_buf jump_{};

 private:
  char message_[JMSG_LENGTH_MAX]{};
};

class JpegReader : public Jpeg {
 public:
  explicit JpegReader(FileSource& source) : source_(source) {
    codec_.err = &errors_;
    codec_.client_data = static_cast<Jpeg*>(this);
    progress_.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&codec_); }

  /// Reads the file, and what it says before the pixels.
  Result<TensorHeader> header() {
    bytes_.resize(source_.size());
    if (auto done = source_.read(std::as_writable_bytes(std::span(bytes_)), "the image"); !done)
      return done.error();
    if (!finishes(*this, read_info)) return failure();
    if (codec_.num_components != 1 && codec_.num_components != 3)
      return source_.failure(codec_.num_components == 4 ? "its colours are CMYK: only grey and RGB are read"
                                                        : "it has neither 1 nor 3 channels");
    if (codec_.arith_code) return source_.failure("its data are coded arithmetically, which is not read");
    TensorHeader header{DType::uint8(), {codec_.image_height, codec_.image_width, codec_.num_components}};
    if (const std::string fault = image_fault(header, can_hold()); !fault.empty())
      return source_.failure(fault);
    return header;
  }

  /// Decodes the rest, after the header.
  Result<TensorPtr> pixels(const TensorHeader& header) {
    TensorPtr image = HostTensor::make(header.dtype, header.shape);
    rows_ = reinterpret_cast<JSAMPROW>(image->data());
    if (!finishes(*this, read_rows)) return failure();
    return image;
  }

 private:
  /// A block of each channel takes a bit at least.
  bool can_hold() const {
    const auto blocks = [](JDIMENSION pixels, int factor) {
      const uint64_t side = static_cast<uint64_t>(DCTSIZE) * static_cast<uint64_t>(factor);
      return (pixels + side - 1) / side;
    };
    return blocks(codec_.image_width, codec_.max_h_samp_factor) *
               blocks(codec_.image_height, codec_.max_v_samp_factor) <=
           uint64_t{8} * bytes_.size();
  }

  static void read_info(JpegReader& self) {
    jpeg_create_decompress(&self.codec_);
    self.codec_.progress = &self.progress_;
    jpeg_mem_src(&self.codec_, self.bytes_.data(), self.bytes_.size());
    jpeg_read_header(&self.codec_, TRUE);
  }

  static void read_rows(JpegReader& self) {
    self.codec_.out_color_space = self.codec_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&self.codec_);
    while (self.codec_.output_scanline < self.codec_.output_height) {
      JSAMPROW row = self.rows_ + size_t{self.codec_.output_scanline} * self.codec_.output_width *
                                      static_cast<size_t>(self.codec_.output_components);
      jpeg_read_scanlines(&self.codec_, &row, 1);
    }
    jpeg_finish_decompress(&self.codec_);
  }

  /// Each of the scans of a progressive image goes over all of it: a small file could make much work.
  static void on_progress(j_common_ptr codec) {
    constexpr int kMostScans = 500;
    if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number > kMostScans || is_interrupted())
      ERREXIT(codec, JERR_CANT_SUSPEND);
  }

  Failure failure() const { return is_interrupted() ? Failure{kInterrupted} : source_.failure(message()); }

  FileSource& source_;
  std::vector<unsigned char> bytes_;
  jpeg_decompress_struct codec_{};
  jpeg_progress_mgr progress_{};
  JSAMPROW rows_ = nullptr;
};

Result<TensorHeader> read_jpeg_header(FileSource& source) { return JpegReader(source).header(); }

Result<TensorPtr> read_jpeg(FileSource& source) {
  JpegReader reader(source);
  const Result<TensorHeader> header = reader.header();
  if (!header) return header.error();
  return reader.pixels(*header);
}

class JpegWriter : public Jpeg {
 public:
  JpegWriter(const HostTensor& image, const TensorHeader& header) : image_(image), header_(header) {
    codec_.err = &errors_;
    codec_.client_data = static_cast<Jpeg*>(this);
  }
  ~JpegWriter() {
    jpeg_destroy_compress(&codec_);
    std::free(bytes_);
  }

  /// What went wrong, or "".
  std::string encode() { return finishes(*this, encode_all) ? "" : message(); }
  std::span<const std::byte> bytes() const { return {reinterpret_cast<const std::byte*>(bytes_), size_}; }

 private:
  static void encode_all(JpegWriter& self) {
    constexpr int kQuality = 95;
    jpeg_create_compress(&self.codec_);
    jpeg_mem_dest(&self.codec_, &self.bytes_, &self.size_);
    self.codec_.image_height = static_cast<JDIMENSION>(self.header_.shape[0]);
    self.codec_.image_width = static_cast<JDIMENSION>(self.header_.shape[1]);
    self.codec_.input_components = static_cast<int>(self.header_.shape[2]);
    self.codec_.in_color_space = self.codec_.input_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&self.codec_);
    jpeg_set_quality(&self.codec_, kQuality, TRUE);
    jpeg_start_compress(&self.codec_, TRUE);
    const size_t row_bytes =
        size_t{self.codec_.image_width} * static_cast<size_t>(self.codec_.input_components);
    auto* rows = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(self.image_.data()));
    while (self.codec_.next_scanline < self.codec_.image_height) {
      if (is_interrupted()) ERREXIT(&self.codec_, JERR_CANT_SUSPEND);
      JSAMPROW row = rows + self.codec_.next_scanline * row_bytes;
      jpeg_write_scanlines(&self.codec_, &row, 1);
    }
    jpeg_finish_compress(&self.codec_);
  }

  const HostTensor& image_;
  const TensorHeader& header_;
  jpeg_compress_struct codec_{};
  unsigned char* bytes_ = nullptr;  ///< allocated by libjpeg
  unsigned long size_ = 0;
};

}  // namespace

OpenedFile open_jpeg(const std::string& path, std::unique_ptr<FileSource> source) {
  return open_one_tensor(path, std::move(source), {read_jpeg_header, read_jpeg});
}

std::string jpeg_fault(const std::string&, DType dtype) {
  const bool is_pixel = dtype == DType::uint8();
  return is_pixel ? "" : fmt::format("a JPEG has pixels of uint8, not of {}", to_string(dtype));
}

Result<Done> write_jpeg(const std::string& path, const Entries<TensorPtr>& entries) {
  const HostTensor& image = *entries.front().second;
  const auto header = image_header(image, {1, 3});
  if (!header) return write_failure(path, header.error().message);
  if (header->shape[0] > JPEG_MAX_DIMENSION || header->shape[1] > JPEG_MAX_DIMENSION)
    return write_failure(path, fmt::format("a JPEG has at most {} rows and columns", JPEG_MAX_DIMENSION));
  JpegWriter writer(image, *header);
  if (const std::string fault = writer.encode(); !fault.empty())
    return is_interrupted() ? Result<Done>(Failure{kInterrupted}) : write_failure(path, fault);
  AtomicFile file(path);
  file.write(writer.bytes());
  return file.commit();
}

}  // namespace quern::data_detail
