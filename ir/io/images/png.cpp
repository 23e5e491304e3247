// PNG (https://www.w3.org/TR/png-3/) by libpng, which tells of an error by a jump.

#include <fmt/format.h>
#include <png.h>

#include <array>
#include <csetjmp>
#include <optional>

#include "ir/base/interrupt.h"
#include "ir/io/images/images.h"

namespace quern::data_detail {

namespace {

/// What the two directions have in common: libpng's structures, and the message of an error.
class Png {
 public:
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

 protected:
  Png() = default;
  ~Png() = default;

  /// Whether a step came to its end. A step keeps no object with a destructor while libpng works: the jump would
  /// leave it as it is.
  template <class Derived>
  static bool finishes(Derived& self, void (*step)(Derived& self)) {
    if (setjmp(png_jmpbuf(self.png_)) != 0) return false;
    step(self);
    return true;
  }

  [[noreturn]] static void on_error(png_structp png, png_const_charp message) {
    auto& self = *static_cast<Png*>(png_get_error_ptr(png));
    const auto end = fmt::format_to_n(self.message_.data(), self.message_.size() - 1, "{}", message).out;
    *end = '\0';
    png_longjmp(png, 1);
  }
  static void on_warning(png_structp, png_const_charp) {}

  /// As a clause.
  std::string message() const { return fmt::format("libpng stopped at \"{}\"", message_.data()); }

  png_structp png_ = nullptr;
  png_infop info_ = nullptr;

 private:
  std::array<char, 128> message_{};
};

class PngReader : public Png {
 public:
  explicit PngReader(FileSource& source) : source_(source) {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, static_cast<Png*>(this), on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) throw std::bad_alloc();
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }

  /// Reads what stands before the pixels.
  Result<TensorHeader> header() {
    if (!finishes(*this, read_info)) return failure();
    if (is_animated_) return source_.failure("it is an animation, and not one image");
    TensorHeader header{
        DType{DTypeCode::UInt, png_get_bit_depth(png_, info_)},
        {png_get_image_height(png_, info_), png_get_image_width(png_, info_), png_get_channels(png_, info_)}};
    if (const std::string fault = image_fault(header, can_hold_); !fault.empty())
      return source_.failure(fault);
    return header;
  }

  /// Reads the rest, after the header.
  Result<TensorPtr> pixels(const TensorHeader& header) {
    TensorPtr image = HostTensor::make(header.dtype, header.shape);
    rows_ = reinterpret_cast<png_bytep>(image->data());
    if (!finishes(*this, read_rows)) return failure();
    return image;
  }

 private:
  static void read_info(PngReader& self) {
    static constexpr png_byte kAnimation[] = "acTL";
    png_set_read_fn(self.png_, &self, on_read);
    png_set_keep_unknown_chunks(self.png_, PNG_HANDLE_CHUNK_ALWAYS, kAnimation, 1);
    png_read_info(self.png_, self.info_);
    png_unknown_chunkp chunks = nullptr;
    self.is_animated_ = png_get_unknown_chunks(self.png_, self.info_, &chunks) > 0;
    constexpr uint64_t kMostPerByte = 1032;  // 258 bytes from 2 bits, deflate's maximum
    const uint64_t packed =
        uint64_t{png_get_rowbytes(self.png_, self.info_)} * png_get_image_height(self.png_, self.info_);
    self.can_hold_ = packed / kMostPerByte <= self.source_.size();
    // A palette becomes its colours, fewer than 8 bits become 8, a transparent colour becomes alpha.
    png_set_expand(self.png_);
    png_set_swap(self.png_);
    self.passes_ = png_set_interlace_handling(self.png_);
    png_read_update_info(self.png_, self.info_);
  }

  static void read_rows(PngReader& self) {
    const size_t row_bytes = png_get_rowbytes(self.png_, self.info_);
    const png_uint_32 height = png_get_image_height(self.png_, self.info_);
    for (int pass = 0; pass < self.passes_; ++pass)
      for (png_uint_32 row = 0; row < height; ++row) {
        if (is_interrupted()) png_error(self.png_, "an interrupt");
        png_read_row(self.png_, self.rows_ + row * row_bytes, nullptr);
      }
    png_read_end(self.png_, nullptr);
  }

  static void on_read(png_structp png, png_bytep out, size_t size) {
    if (!static_cast<PngReader*>(png_get_io_ptr(png))->read({reinterpret_cast<std::byte*>(out), size}))
      png_error(png, "the end of the file");
  }
  bool read(std::span<std::byte> out) {
    auto done = source_.read(out, "its chunks");
    if (!done) read_failure_ = done.error();
    return static_cast<bool>(done);
  }

  Failure failure() const {
    if (is_interrupted()) return Failure{kInterrupted};
    return read_failure_ ? *read_failure_ : source_.failure(message());
  }

  FileSource& source_;
  std::optional<Failure> read_failure_;
  bool is_animated_ = false, can_hold_ = false;
  int passes_ = 1;
  png_bytep rows_ = nullptr;
};

Result<TensorHeader> read_png_header(FileSource& source) { return PngReader(source).header(); }

Result<TensorPtr> read_png(FileSource& source) {
  PngReader reader(source);
  const Result<TensorHeader> header = reader.header();
  if (!header) return header.error();
  return reader.pixels(*header);
}

class PngWriter : public Png {
 public:
  PngWriter(AtomicFile& file, const HostTensor& image, const TensorHeader& header)
      : file_(file), image_(image), header_(header) {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, static_cast<Png*>(this), on_error, on_warning);
    info_ = png_ ? png_create_info_struct(png_) : nullptr;
    if (!info_) throw std::bad_alloc();
  }
  ~PngWriter() { png_destroy_write_struct(&png_, &info_); }

  /// What went wrong, or "".
  std::string write() { return finishes(*this, write_all) ? "" : message(); }

 private:
  static void write_all(PngWriter& self) {
    constexpr int kColors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                               PNG_COLOR_TYPE_RGB_ALPHA};
    const int64_t height = self.header_.shape[0], width = self.header_.shape[1],
                  channels = self.header_.shape[2];
    png_set_write_fn(self.png_, &self, on_write, [](png_structp) {});
    png_set_IHDR(self.png_, self.info_, static_cast<png_uint_32>(width), static_cast<png_uint_32>(height),
                 self.header_.dtype.bits, kColors[channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(self.png_, self.info_);
    png_set_swap(self.png_);
    const auto* row = reinterpret_cast<png_const_bytep>(self.image_.data());
    for (int64_t y = 0; y < height; ++y, row += png_get_rowbytes(self.png_, self.info_)) {
      if (is_interrupted()) png_error(self.png_, "an interrupt");
      png_write_row(self.png_, row);
    }
    png_write_end(self.png_, nullptr);
  }
  static void on_write(png_structp png, png_bytep bytes, size_t size) {
    static_cast<PngWriter*>(png_get_io_ptr(png))
        ->file_.write(std::span(reinterpret_cast<const std::byte*>(bytes), size));
  }

  AtomicFile& file_;
  const HostTensor& image_;
  const TensorHeader& header_;
};

}  // namespace

OpenedFile open_png(const std::string& path, std::unique_ptr<FileSource> source) {
  return open_one_tensor(path, std::move(source), {read_png_header, read_png});
}

std::string png_fault(const std::string&, DType dtype) {
  const bool is_pixel = dtype == DType::uint8() || dtype == DType{DTypeCode::UInt, 16};
  return is_pixel ? "" : fmt::format("a .png has pixels of uint8 or uint16, not of {}", to_string(dtype));
}

Result<Done> write_png(const std::string& path, const Entries<TensorPtr>& entries) {
  const HostTensor& image = *entries.front().second;
  const auto header = image_header(image, {1, 2, 3, 4});
  if (!header) return write_failure(path, header.error().message);
  if (header->shape[0] > PNG_USER_HEIGHT_MAX || header->shape[1] > PNG_USER_WIDTH_MAX)
    return write_failure(path, fmt::format("a .png has at most {} rows and columns", PNG_USER_WIDTH_MAX));
  AtomicFile file(path);
  if (const std::string fault = PngWriter(file, image, *header).write(); !fault.empty())
    return is_interrupted() ? Result<Done>(Failure{kInterrupted}) : write_failure(path, fault);
  return file.commit();
}

}  // namespace quern::data_detail
