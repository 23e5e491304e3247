// Images and MNIST's and CIFAR's files, against those of files/, which make_files.py makes by hand, and text.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/io/data_files.h"
#include "ir/value/scalar.h"
#include "tests/temporary_folder.h"

namespace quern::image_files_test {
namespace {

namespace fs = std::filesystem;

const std::string kFiles = QUERN_SOURCE_DIR "/tests/ir/io/files/";
constexpr DType kUInt16{DTypeCode::UInt, 16};

std::string get(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string put(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

/// The largest difference of two tensors of the same dtype and shape.
double distance(const HostTensor& a, const HostTensor& b) {
  double most = 0;
  for (int64_t k = 0; k < a.size(); ++k)
    most = std::max(most, std::abs(element_as_double(a, k) - element_as_double(b, k)));
  return most;
}

void expect_near(const std::string& file, const std::string& expected, double most) {
  SCOPED_TRACE(file);
  const auto tensors = read_tensors(file), wanted = read_tensors(expected);
  ASSERT_TRUE(tensors) << tensors.error().message;
  ASSERT_TRUE(wanted) << wanted.error().message;
  ASSERT_EQ(tensors->size(), 1u);
  const HostTensor &found = *tensors->front().second, &stored = *wanted->front().second;
  EXPECT_EQ(found.dtype(), stored.dtype());
  ASSERT_EQ(found.shape(), stored.shape());
  EXPECT_LE(distance(found, stored), most);
  const auto headers = read_tensor_headers(file);
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_EQ(headers->front().second.dtype, stored.dtype());
  EXPECT_EQ(headers->front().second.shape, stored.shape());
}

void expect_refused(const std::string& path, const std::string& what) {
  const auto tensors = read_tensors(path);
  ASSERT_FALSE(tensors) << path;
  EXPECT_EQ(tensors.error().message, "Cannot read '" + path + "': " + what + ".");
}

/// Both readers refuse, with the same words.
void expect_header_refused(const std::string& path, const std::string& what) {
  expect_refused(path, what);
  const auto headers = read_tensor_headers(path);
  ASSERT_FALSE(headers) << path;
  EXPECT_EQ(headers.error().message, "Cannot read '" + path + "': " + what + ".");
}

TensorPtr numbered(DType dtype, Shape shape) {
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  for (int64_t k = 0; k < tensor->size(); ++k)
    fill_element(*tensor, k, Scalar::from_int(dtype, k * 37 % (dtype.bits == 16 ? 65521 : 251)));
  return tensor;
}

TEST(ImageFiles, AreReadAsTheyWereMade) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kFiles)) {
    const std::string expected = entry.path().string();
    if (!expected.ends_with(".npy")) continue;
    const std::string file = expected.substr(0, expected.size() - 4);
    // What a JPEG loses: the rounding of the coefficients, and of the colours.
    expect_near(file, expected, file.ends_with(".jpg") ? 1 : 0);
    ++count;
  }
  EXPECT_EQ(count, 35u);
}

TEST(ImageFiles, SayWhyTheyAreNotRead) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"animated.png", "it is an animation, and not one image"},
      {"too_large.png", "its 60000 x 60000 pixels are more than are read"},
      {"lying.png", "it claims 9000 x 9000 pixels, more than its data can hold"},
      {"no_width.png", "libpng stopped at \"Invalid IHDR data\""},
      {"cmyk.jpg", "its colours are CMYK: only grey and RGB are read"},
      {"too_large.jpg", "its 60000 x 60000 pixels are more than are read"},
      {"lying.jpg", "it claims 20000 x 20000 pixels, more than its data can hold"},
  };
  for (const auto& [name, what] : cases) expect_header_refused(kFiles + name, what);
}

TEST(ImageFiles, AreRefusedWhereAnythingIsMissing) {
  const TemporaryFolder folder;
  for (const std::string name :
       {"color2_depth8.png", "color6_depth16_interlaced.png", "rgb.jpg", "progressive.jpg", "uint8.idx",
        "t10k-labels-idx1-ubyte", "t10k-labels-idx1-ubyte.gz"}) {
    const std::string whole = get(kFiles + name);
    // Without the end marker of a JPEG there are all pixels.
    const size_t last = whole.size() - (name.ends_with(".jpg") ? 3 : 1);
    for (size_t size = 0; size < last; ++size) {
      const auto tensors = read_tensors(put((folder / name).string(), whole.substr(0, size)));
      ASSERT_FALSE(tensors) << name << " " << size;
      EXPECT_TRUE(tensors.error().message.starts_with("Cannot read '")) << tensors.error().message;
    }
  }
}

TEST(ImageFiles, HoldWhatWasSaved) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.png").string();
  for (const DType dtype : {DType::uint8(), kUInt16})
    for (const Shape& shape : {Shape{5, 3}, {5, 3, 1}, {1, 1, 2}, {2, 70, 3}, {4, 4, 4}}) {
      const TensorPtr tensor = numbered(dtype, shape);
      ASSERT_TRUE(write_tensors(path, {{"", tensor}}));
      const auto again = read_tensors(path);
      ASSERT_TRUE(again) << again.error().message;
      const HostTensor& found = *again->front().second;
      EXPECT_EQ(found.dtype(), dtype);
      EXPECT_EQ(found.shape(), shape.size() == 2 ? (Shape{5, 3, 1}) : shape);
      EXPECT_EQ(std::memcmp(found.data(), tensor->data(), tensor->bytes()), 0);
    }
  // A gradient, of which a JPEG loses little.
  for (const std::string name : {"rgb.jpg", "grey.jpg"}) {
    const auto stored = read_tensors(kFiles + name + ".npy");
    ASSERT_TRUE(stored);
    for (const std::string ending : {".jpg", ".jpeg"}) {
      const std::string copy = (folder / ("b" + ending)).string();
      ASSERT_TRUE(write_tensors(copy, *stored));
      const auto again = read_tensors(copy);
      ASSERT_TRUE(again) << again.error().message;
      ASSERT_EQ(again->front().second->shape(), stored->front().second->shape());
      EXPECT_LE(distance(*again->front().second, *stored->front().second), 12) << copy;
    }
  }
}

TEST(ImageFiles, AreNotWrittenOfAnythingElse) {
  const TemporaryFolder folder;
  const std::vector<std::tuple<std::string, TensorPtr, std::string>> cases = {
      {"a.png", numbered(DType::int32(), {2, 2}), "a .png has pixels of uint8 or uint16, not of int32"},
      {"a.jpg", numbered(kUInt16, {2, 2}), "a JPEG has pixels of uint8, not of uint16"},
      {"a.png", numbered(DType::uint8(), {2, 2, 5}),
       "1, 2, 3, 4 channels, and this is Tensor[(2, 2, 5), uint8]"},
      {"a.png", numbered(DType::uint8(), {0, 2}), "this is Tensor[(0, 2), uint8]"},
      {"a.png", numbered(DType::uint8(), {2, 2, 2, 1}), "an image is (height, width)"},
      {"a.jpg", numbered(DType::uint8(), {2, 2, 4}), "1, 3 channels, and this is Tensor[(2, 2, 4), uint8]"},
      {"a.jpg", numbered(DType::uint8(), {65501, 1}), "a JPEG has at most 65500 rows and columns"},
      {"a.png", numbered(DType::uint8(), {1000001, 1}), "a .png has at most 1000000 rows and columns"},
      {"a.bin", numbered(DType::uint8(), {2}), "a .bin is only read"},
      {"a.idx", numbered(DType::uint8(), {2}), "a .idx is only read"},
      {"a.txt", numbered(DType::int32(), {2}), "a .txt holds bytes, uint8, not int32"},
      {"a.txt", numbered(DType::uint8(), {2, 2}), "a .txt holds a vector of bytes, and this is"},
  };
  for (const auto& [name, tensor, what] : cases) {
    const auto written = write_tensors((folder / name).string(), {{"", tensor}});
    ASSERT_FALSE(written) << name << what;
    EXPECT_NE(written.error().message.find(what), std::string::npos) << written.error().message;
  }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(IdxFiles, LiesAndDamage) {
  const TemporaryFolder folder;
  const std::string name = (folder / "a.idx").string();
  const std::string whole = get(kFiles + "uint8.idx");
  auto with = [&](size_t at, char byte) {
    std::string changed = whole;
    changed[at] = byte;
    return put(name, changed);
  };
  expect_header_refused(with(0, 1), "it does not begin as an IDX file does");
  expect_header_refused(with(2, 0x0A), "it does not begin as an IDX file does");
  expect_header_refused(with(2, 0x0B), "its header claims 48 bytes, and 24 follow");
  expect_header_refused(with(4, '\x7f'), "its header claims 17045651480 bytes, and 24 follow");
  expect_header_refused(with(3, '\x02'), "its header claims 12 bytes, and 28 follow");
  expect_header_refused(with(3, '\xff'), "it ends within its header (0 of 4 bytes are there)");
  expect_header_refused(put(name, whole + "x"), "its header claims 24 bytes, and 25 follow");
  const std::string zipped = get(kFiles + "t10k-labels-idx1-ubyte.gz"), copy = (folder / "a.idx.gz").string();
  expect_header_refused(put(copy, "no gzip"), "its header cannot be read: its data are damaged");
  std::string damaged = zipped;
  damaged[zipped.size() - 6] ^= 1;
  expect_refused(put(copy, damaged), "its data are damaged: the checksum does not agree");
  expect_refused(put(copy, zipped + zipped), "it goes on after the last element");
}

TEST(CifarFiles, AreLabelsAndImages) {
  const TemporaryFolder folder;
  std::string ten, hundred;
  for (int k = 0; k < 3; ++k) {
    const std::string image =
        std::string(1024, static_cast<char>(k)) + std::string(1024, 'g') + std::string(1024, 'b');
    ten += static_cast<char>(9 - k) + image;
    hundred += std::string{static_cast<char>(k), static_cast<char>(99 - k)} + image;
  }
  auto tensors = read_tensors(put((folder / "ten.bin").string(), ten));
  ASSERT_TRUE(tensors) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ(tensors->at(0).first, "labels");
  EXPECT_EQ(to_string(*tensors->at(0).second), "Tensor[(3,), uint8] [9, 8, 7]");
  EXPECT_EQ(tensors->at(1).first, "images");
  const HostTensor& images = *tensors->at(1).second;
  EXPECT_EQ(images.shape(), (Shape{3, 3, 32, 32}));
  EXPECT_EQ(element_as_int(images, 2 * 3072), 2);
  EXPECT_EQ(element_as_int(images, 2 * 3072 + 1024), 'g');
  EXPECT_EQ(element_as_int(images, 2 * 3072 + 3071), 'b');
  tensors = read_tensors(put((folder / "hundred.bin").string(), hundred));
  ASSERT_TRUE(tensors) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 3u);
  EXPECT_EQ(tensors->at(0).first, "coarse_labels");
  EXPECT_EQ(to_string(*tensors->at(0).second), "Tensor[(3,), uint8] [0, 1, 2]");
  EXPECT_EQ(tensors->at(1).first, "fine_labels");
  EXPECT_EQ(to_string(*tensors->at(1).second), "Tensor[(3,), uint8] [99, 98, 97]");
  EXPECT_EQ(tensors->at(2).second->shape(), (Shape{3, 3, 32, 32}));
  EXPECT_EQ(element_as_int(*tensors->at(2).second, 3072), 1);
  const std::string bad = (folder / "bad.bin").string();
  expect_header_refused(put(bad, ""), "its 0 bytes are neither records of CIFAR-10 nor of CIFAR-100");
  expect_header_refused(put(bad, ten + "x"),
                        "its 9220 bytes are neither records of CIFAR-10 nor of CIFAR-100");
  ten[3073] = 10;
  expect_refused(put(bad, ten), "record 1: its label is 10, and there are 10 classes");
}

TEST(TextFiles, AreTheirBytes) {
  const TemporaryFolder folder;
  const std::string path = (folder / "a.txt").string();
  const auto text_of = [&](const std::string& bytes) {
    const auto tensors = read_tensors(put(path, bytes));
    return tensors ? to_string(*tensors->at(0).second) : tensors.error().message;
  };
  EXPECT_EQ(text_of("a\xff\n"), "Tensor[(3,), uint8] [97, 255, 10]");
  EXPECT_EQ(text_of(""), "Tensor[(0,), uint8] []");
  const std::string large(1 << 20, 'x');  // mapped
  const auto tensors = read_tensors(put(path, large));
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->at(0).second->shape(), Shape{1 << 20});
  const std::string copy = (folder / "b.txt").string();
  ASSERT_TRUE(write_tensors(copy, *tensors));
  EXPECT_EQ(get(copy), large);
}

}  // namespace
}  // namespace quern::image_files_test
