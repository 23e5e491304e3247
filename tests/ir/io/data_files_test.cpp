#include "ir/io/data_files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "tests/temporary_folder.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

class DataFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::string put(const std::string& name, const std::string& bytes) const {
    std::ofstream(path(name), std::ios::binary | std::ios::trunc) << bytes;
    return path(name);
  }

  std::string get(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  /// Expects both readers to refuse these bytes, naming the file and saying `what`.
  void expect_refused(const std::string& name, const std::string& bytes, const std::string& what) const {
    put(name, bytes);
    expect_failure(name, what);
  }

  void expect_failure(const std::string& name, const std::string& what) const {
    auto tensors = read_tensors(path(name));
    ASSERT_FALSE(tensors) << what;
    EXPECT_NE(tensors.error().message.find(what), std::string::npos) << tensors.error().message;
    EXPECT_TRUE(tensors.error().message.starts_with("Cannot read '" + path(name) + "'"))
        << tensors.error().message;
    auto headers = read_tensor_headers(path(name));
    ASSERT_FALSE(headers) << what;
    EXPECT_EQ(headers.error().message, tensors.error().message);
  }

  /// The only tensor of a file of these bytes, as text.
  std::string read_text(const std::string& name, const std::string& bytes) const {
    auto tensors = read_tensors(put(name, bytes));
    return tensors ? to_string(*tensors->at(0).second) : tensors.error().message;
  }

  const TemporaryFolder folder_;
};

std::string little_endian(uint64_t value, size_t bytes) {
  std::string text(bytes, '\0');
  std::memcpy(text.data(), &value, bytes);
  return text;
}

template <class T>
std::string bytes_of(std::vector<T> elements) {
  return {reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(T)};
}

std::string npy(const std::string& header, const std::string& data, char version = 1) {
  return std::string("\x93NUMPY") + version + '\0' + little_endian(header.size(), version == 1 ? 2 : 4) +
         header + data;
}

std::string dict(const std::string& descr, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }   \n";
}

std::string safetensors(const std::string& header, const std::string& data) {
  return little_endian(header.size(), 8) + header + data;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  size_t at = text.find(from);
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

TensorPtr filled(DType dtype, Shape shape) {
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  for (size_t i = 0; i < tensor->bytes(); ++i)
    tensor->data()[i] = static_cast<std::byte>(dtype.is_bool() ? i % 2 : i * 37 % 120);
  return tensor;
}

Entries<TensorPtr> samples(bool with_bfloat) {
  Entries<TensorPtr> entries;
  for (const char* name : {"float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8",
                           "uint16", "uint32", "uint64", "bool", "bfloat16"}) {
    if (name == std::string("bfloat16") && !with_bfloat) continue;
    entries.emplace_back(name, filled(*parse_dtype(name), {3, 5}));
  }
  entries.emplace_back("layer.0/größe \"q\"", filled(DType::float32(), {}));
  entries.emplace_back("empty", filled(DType::float32(), {4, 0, 2}));
  entries.emplace_back("", filled(DType::uint8(), {7}));
  return entries;
}

void expect_equal(const Entries<TensorPtr>& left, const Entries<TensorPtr>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].first, right[i].first);
    EXPECT_EQ(left[i].second->dtype(), right[i].second->dtype());
    EXPECT_EQ(left[i].second->shape(), right[i].second->shape());
    ASSERT_EQ(left[i].second->bytes(), right[i].second->bytes());
    EXPECT_EQ(std::memcmp(left[i].second->data(), right[i].second->data(), left[i].second->bytes()), 0);
  }
}

void expect_round_trip(const std::string& path, const Entries<TensorPtr>& entries) {
  auto written = write_tensors(path, entries);
  ASSERT_TRUE(written) << written.error().message;
  auto tensors = read_tensors(path);
  ASSERT_TRUE(tensors) << tensors.error().message;
  expect_equal(*tensors, entries);
  auto headers = read_tensor_headers(path);
  ASSERT_TRUE(headers) << headers.error().message;
  ASSERT_EQ(headers->size(), entries.size());
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ((*headers)[i].first, entries[i].first);
    EXPECT_EQ((*headers)[i].second.dtype, entries[i].second->dtype());
    EXPECT_EQ((*headers)[i].second.shape, entries[i].second->shape());
  }
}

// --- round trips and writing ---------------------------------------------------------------------

TEST_F(DataFiles, RoundTrips) {
  for (const auto& [name, tensor] : samples(false)) expect_round_trip(path("one.npy"), {{"", tensor}});
  for (const char* name :
       {"all.npz", "all.npz", "all.safetensors", "all.safetensors"})  // anew, then over the old
    expect_round_trip(path(name), samples(std::string(name).ends_with(".safetensors")));
  expect_round_trip(path("none.npz"), {});
  expect_round_trip(path("none.safetensors"), {});
  // No temporary file stays.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 5);
}

// The formats have no vectors: their lanes are the last axis.
TEST_F(DataFiles, VectorsAreTheirLanes) {
  TensorPtr vectors = filled({DTypeCode::Int, 16, 4}, {3});
  TensorPtr lanes = HostTensor::lanes_of(vectors);
  ASSERT_EQ(lanes->shape(), (Shape{3, 4}));
  for (const char* name : {"a.npy", "a.npz", "a.safetensors"}) {
    std::string entry = std::string(name) == "a.npy" ? "" : "x";
    ASSERT_TRUE(write_tensors(path(name), {{entry, vectors}}));
    expect_equal(*read_tensors(path(name)), {{entry, lanes}});
  }
}

TEST_F(DataFiles, EqualTensorsMakeEqualFiles) {
  for (const char* name : {"a.npz", "a.safetensors"}) {
    ASSERT_TRUE(write_tensors(path(name), samples(false)));
    std::string first = get(name);
    ASSERT_TRUE(write_tensors(path(name), samples(false)));
    EXPECT_EQ(get(name), first);
  }
}

TEST_F(DataFiles, WritesTheDocumentedBytes) {
  TensorPtr tensor = HostTensor::from<int32_t>(DType::int32(), {1}, std::vector<int32_t>{7});
  ASSERT_TRUE(write_tensors(path("a.npy"), {{"", tensor}}));
  std::string header = "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }";
  EXPECT_EQ(get("a.npy"),
            npy(header + std::string(128 - 10 - header.size() - 1, ' ') + "\n", bytes_of<int32_t>({7})));
  ASSERT_TRUE(write_tensors(path("a.safetensors"), {{"b", filled(DType::boolean(), {1})}, {"w", tensor}}));
  // The wider elements come first, so that they are aligned.
  std::string json =
      R"({"b":{"dtype":"BOOL","shape":[1],"data_offsets":[4,5]},"w":{"dtype":"I32","shape":[1],"data_offsets":[0,4]}})";
  json.resize((json.size() + 7) / 8 * 8, ' ');
  EXPECT_EQ(get("a.safetensors"), safetensors(json, bytes_of<int32_t>({7}) + '\0'));
}

TEST_F(DataFiles, WritersSayWhatTheyCannot) {
  TensorPtr tensor = filled(DType::float32(), {2});
  TensorPtr bfloat = filled(DType::bfloat16(), {2});
  TensorPtr index = filled(DType::index(), {2});
  fs::create_directory(path("folder.npy"));
  fs::create_directory(path("folder.npz"));
  fs::create_directory(path("folder.safetensors"));
  std::vector<std::tuple<std::string, Entries<TensorPtr>, std::string>> cases = {
      {"a.dat", {{"", tensor}}, "ending"},
      {"a.npy", {}, "one tensor, not 0"},
      {"a.npy", {{"a", tensor}, {"b", tensor}}, "one tensor, not 2"},
      {"a.npy", {{"", bfloat}}, "bfloat16 has no NumPy dtype"},
      {"a.npz", {{"x", tensor}, {"y", bfloat}}, "entry 'y': bfloat16 has no NumPy dtype"},
      {"a.npz", {{"x", tensor}, {"x", tensor}}, "two entries are named 'x'"},
      {"a.safetensors", {{"x", index}}, "no dtype index"},
      {"a.safetensors", {{"__metadata__", tensor}}, "__metadata__"},
      {"a.safetensors", {{"\xff", tensor}}, "not UTF-8"},
      {"a.csv", {{"a", tensor}, {"b", tensor}}, "a .csv holds one tensor, not 2"},
      {"a.csv", {{"", index}}, "index is no dtype of numbers"},
      {"a.csv", {{"", filled(DType::float32(), {1, 2, 3})}}, "a vector, or a matrix with columns"},
      {"a.csv", {{"", filled(DType::float32(), {3, 0})}}, "and this is Tensor[(3, 0), float32]"},
      {"missing/a.csv", {{"", tensor}}, "No such file"},
      {"folder.npy", {{"", tensor}}, "directory"},
      {"folder.npz", {{"", tensor}}, ""},
      {"folder.safetensors", {{"", tensor}}, "directory"},
      {"missing/a.npy", {{"", tensor}}, "No such file"},
      {"missing/a.npz", {{"", tensor}}, "No such file"},
      {"missing/a.safetensors", {{"", tensor}}, "No such file"},
  };
  for (const auto& [name, entries, what] : cases) {
    auto written = write_tensors(path(name), entries);
    ASSERT_FALSE(written) << name << what;
    EXPECT_TRUE(written.error().message.starts_with("Cannot write '" + path(name) + "'"))
        << written.error().message;
    EXPECT_NE(written.error().message.find(what), std::string::npos) << written.error().message;
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), fs::directory_iterator()), 3);
}

// --- outside of the formats ----------------------------------------------------------------------

TEST_F(DataFiles, MissingFilesDirectoriesPipesAndEndings) {
  for (const char* ending : {".npy", ".npz", ".safetensors", ".csv", ".png", ".jpg", ".jpeg", ".bin", ".idx",
                             ".idx.gz", "-ubyte", "-ubyte.gz"}) {
    std::string name = std::string("x") + ending;
    expect_failure(name, "there is no such file");
    fs::create_directory(path(name));
    expect_failure(name, "it is a directory");
    fs::remove(path(name));
    ASSERT_EQ(::mkfifo(path(name).c_str(), 0600), 0);
    expect_failure(name, "not a regular file");
    fs::remove(path(name));
    expect_refused(name, "", "");
    expect_refused(name, name == "x.csv" ? "1,2\nnot what the ending says\n" : "not what the ending says",
                   "");
  }
  expect_refused("x.dat", "", "ending");
}

// --- .npy ----------------------------------------------------------------------------------------

TEST_F(DataFiles, NpyVersionsAndOrders) {
  for (char version : {'\1', '\2', '\3'})
    EXPECT_EQ(read_text("a.npy", npy(dict("<i2", "(2, 3)"), bytes_of<int16_t>({1, 2, 3, 4, 5, 6}), version)),
              "Tensor[(2, 3), int16] [[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(read_text("a.npy", npy(dict("<i2", "(2, 3)", "True"), bytes_of<int16_t>({1, 4, 2, 5, 3, 6}))),
            "Tensor[(2, 3), int16] [[1, 2, 3], [4, 5, 6]]");
  EXPECT_EQ(read_text("a.npy",
                      npy(dict("|u1", "(2, 1, 2, 2)", "True"), bytes_of<uint8_t>({0, 4, 2, 6, 1, 5, 3, 7}))),
            "Tensor[(2, 1, 2, 2), uint8] [[[[0, 1], [2, 3]]], [[[4, 5], [6, 7]]]]");
  EXPECT_EQ(read_text("a.npy", npy(dict("<f4", "(0, 3)", "True"), "")), "Tensor[(0, 3), float32] []");
  EXPECT_EQ(read_text("a.npy", npy(dict(">i4", "()"), std::string("\0\0\1\2", 4))), "int32 258");
  EXPECT_EQ(read_text("a.npy", npy(dict("|b1", "(3L,)"), std::string("\0\1\7", 3))),
            "Tensor[(3,), bool] [False, True, True]");
  EXPECT_EQ(read_text("a.npy",
                      npy(R"({"shape":(1),"descr":"<f8","fortran_order":False})", bytes_of<double>({0.5}))),
            "Tensor[(1,), float64] [0.5]");
}

TEST_F(DataFiles, NpyLies) {
  std::string good = npy(dict("<f4", "(2, 3)"), std::string(24, '\0'));
  ASSERT_TRUE(read_tensors(put("a.npy", good)));
  std::vector<std::pair<std::string, std::string>> cases = {
      {"", "ends within the magic number (0 of 8 bytes are there)"},
      {good.substr(0, 5), "ends within the magic number"},
      {"\x93NUMPX" + good.substr(6), "does not begin like a .npy"},
      {replaced(good, std::string("\1\0", 2), std::string("\4\0", 2)), "version 4.0"},
      {good.substr(0, 9), "ends within the length of the header"},
      {good.substr(0, 40), "header claims"},
      {good.substr(0, good.size() - 1), "takes 24 bytes, and 23 bytes follow"},
      {good + "x", "takes 24 bytes, and 25 bytes follow"},
      {npy(dict("<f4", "(1000000000000,)"), "abcd"), "takes 4000000000000 bytes, and 4 bytes follow"},
      {npy(dict("<f4", "(4294967296, 4294967296)"), ""), "overflows 64 bits"},
      {npy(dict("<f4", "(4294967296, 0, 4294967296)"), ""), "overflows 64 bits"},
      {npy(dict("<f4", "(99999999999999999999,)"), ""), "more than 64 bits"},
      {npy(dict("<f4", "(2, -3)"), ""), "extent -3 of its shape is negative"},
      {npy(dict("<c8", "(2,)"), std::string(16, '\0')), "dtype '<c8' is not supported"},
      {npy(dict("|O", "(2,)"), ""), "dtype '|O' is not supported"},
      {npy(dict("|f4", "(1,)"), "abcd"), "dtype '|f4' is not supported"},
      {npy(dict("", "(1,)"), ""), "dtype '' is not supported"},
      {npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "abcd"),
       "dtype is not a plain one"},
      {npy(dict("<f4", "(1,)", "Maybe"), "abcd"), "neither True nor False"},
      {npy(dict("<f4", "3"), ""), "not a tuple"},
      {npy(dict("<f4", "(1, x)"), ""), "not a tuple of integers"},
      {npy(dict("<f4", "(1 2)"), ""), "not a tuple of integers"},
      {npy("{'descr': '<f4', 'shape': (1,)}", "abcd"), "lacks one of"},
      {npy("{'descr': '<f4', 'descr': '<f4'}", "abcd"), "unknown or repeated field 'descr'"},
      {npy("{'extra': 1}", ""), "unknown or repeated field 'extra'"},
      {npy("[1]", ""), "not a dict"},
      {npy("{'descr': '<f4'", ""), "does not end"},
      {npy("{'descr", ""), "named fields"},
      {npy(dict("<f4", "(1,)") + std::string("\0x", 2), "abcd"), "goes on after the dict"},
      {npy(std::string(2 << 20, ' '), "", 2), "header claims 2097152 bytes"},
  };
  for (const auto& [bytes, what] : cases) expect_refused("a.npy", bytes, what);
  std::string rank;
  for (int i = 0; i < 65; ++i) rank += "1,";
  expect_refused("a.npy", npy(dict("<f4", "(" + rank + ")"), "abcd"), "rank 65 is over 64");
}

// --- .npz ----------------------------------------------------------------------------------------

/// A deflated archive that another program made: a.npy, int32, (2, 3).
std::string deflated() {
  constexpr std::string_view kHex =
      "504b03041400000008000000210094cefbd95a0000009800000005000000612e6e70799bec17ea1b10c9c850c650ad9e925a"
      "9c5ca46ea5a06e9369a2aea3a09e965f54529498179f5f94920a12774bcc294e058a17672416a402f91a463a0ac69a3a0ab5"
      "0a64032e460606867fffffff6706d22c40cc0ac4114c0c0c00504b010214031400000008000000210094cefbd95a00000098"
      "000000050000000000000000000000800100000000612e6e7079504b05060000000001000100330000007d0000000000";
  std::string bytes;
  for (size_t i = 0; i < kHex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(std::string(kHex.substr(i, 2)), nullptr, 16));
  return bytes;
}

TEST_F(DataFiles, NpzDeflated) {
  EXPECT_EQ(read_text("a.npz", deflated()), "Tensor[(2, 3), int32] [[1, -2, 3], [4, 5, 600]]");
  EXPECT_EQ(read_tensors(path("a.npz"))->at(0).first, "a");
}

// An archive that is kept open for the next reader.
TEST_F(DataFiles, NpzMayBeKeptUntilTheProcessEnds) {
  put("a.npz", deflated());
  const auto read_and_end = [&] {
    // A file that has just changed is not kept.
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    std::exit(read_tensors(path("a.npz")) ? 0 : 1);
  };
  EXPECT_EXIT(read_and_end(), testing::ExitedWithCode(0), "");
}

TEST_F(DataFiles, NpzHeadersReadTheHeadAlone) {
  ASSERT_TRUE(write_tensors(path("a.npz"), {{"w", filled(DType::float32(), {1 << 20})}}));
  // A damaged element is found by its checksum, which only a whole reading meets.
  std::string bytes = get("a.npz");
  bytes[bytes.size() / 2] ^= 1;
  put("a.npz", bytes);
  auto headers = read_tensor_headers(path("a.npz"));
  ASSERT_TRUE(headers) << headers.error().message;
  EXPECT_EQ(headers->at(0).second.shape, Shape{1 << 20});
  auto tensors = read_tensors(path("a.npz"));
  ASSERT_FALSE(tensors);
  EXPECT_NE(tensors.error().message.find("a.npz', entry 'w.npy': its data are damaged"), std::string::npos)
      << tensors.error().message;
}

TEST_F(DataFiles, NpzLies) {
  ASSERT_TRUE(write_tensors(path("good.npz"),
                            {{"x", filled(DType::int8(), {4})}, {"y", filled(DType::int8(), {4})}}));
  std::string good = get("good.npz");
  auto everywhere = [](std::string text, const std::string& from, const std::string& to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos;) text.replace(at, from.size(), to);
    return text;
  };
  std::string sizes = little_endian(132, 4) + little_endian(132, 4);
  std::vector<std::pair<std::string, std::string>> cases = {
      {"", "not a whole zip"},
      {good.substr(0, good.size() - 10), "not a whole zip"},
      {good.substr(0, good.size() / 2), "not a whole zip"},
      {everywhere(good, "x.npy", "x.txt"), "entry 'x.txt': it is not a .npy"},
      {everywhere(good, "y.npy", "x.npy"), "another entry has the same name"},
      {everywhere(good, "'|i1'", "'|i9'"), "entry 'x.npy': its dtype '|i9' is not supported"},
      {everywhere(good, "(4,)", "(5,)"),
       "entry 'x.npy': Tensor[(5,), int8] takes 5 bytes, and 4 bytes follow"},
      {everywhere(good, sizes, little_endian(132, 4) + little_endian(9999, 4)), "its two sizes differ"},
      {everywhere(good, sizes, little_endian(9999, 4) + little_endian(9999, 4)), "entry 'x.npy'"},
      {everywhere(deflated(), little_endian(152, 4), little_endian(0x7fffffff, 4)),
       "more bytes than its data can hold"},
      {everywhere(deflated(), little_endian(152, 4), little_endian(160, 4)),
       "takes 24 bytes, and 32 bytes follow"},
  };
  for (const auto& [bytes, what] : cases) expect_refused("a.npz", bytes, what);
}

// --- .safetensors --------------------------------------------------------------------------------

TEST_F(DataFiles, SafetensorsKeepsTheOrderOfItsHeader) {
  std::string header =
      R"({"z":{"dtype":"U8","shape":[2],"data_offsets":[2,4]},"__metadata__":{"format":"pt"},)"
      R"("a":{"shape":[2],"dtype":"BOOL","data_offsets":[0,2]}})";
  auto tensors = read_tensors(put("a.safetensors", safetensors(header, std::string("\0\5\6\7", 4))));
  ASSERT_TRUE(tensors) << tensors.error().message;
  ASSERT_EQ(tensors->size(), 2U);
  EXPECT_EQ(tensors->at(0).first, "z");
  EXPECT_EQ(to_string(*tensors->at(0).second), "Tensor[(2,), uint8] [6, 7]");
  EXPECT_EQ(to_string(*tensors->at(1).second), "Tensor[(2,), bool] [False, True]");
}

/// A header of the entries "a" and "b", each {dtype, shape, offsets} as JSON.
std::string two(const std::string& a, const std::string& b) { return "{\"a\":" + a + ",\"b\":" + b + "}"; }

std::string slot(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
}

TEST_F(DataFiles, SafetensorsLies) {
  std::string a = slot("U8", "[4]", "[0,4]"), b = slot("F32", "[1,1]", "[4,8]");
  std::string data = "abcdefgh", good = safetensors(two(a, b), data);
  ASSERT_TRUE(read_tensors(put("a.safetensors", good)));
  std::vector<std::pair<std::string, std::string>> cases = {
      {"", "ends within the length of the header (0 of 8 bytes are there)"},
      {good.substr(0, 7), "ends within the length of the header"},
      {good.substr(0, 30), "header claims"},
      {little_endian(UINT64_MAX, 8) + "{}", "header claims 18446744073709551615 bytes, and 2 bytes follow"},
      {safetensors("{\"a\":", ""), "not a JSON object"},
      {safetensors("[1]", ""), "not a JSON object"},
      {safetensors(two("1", b), data), "entry 'a': it is not an object"},
      {safetensors(two("{}", b), data), "entry 'a': it lacks one of"},
      {safetensors("{\"a\":" + a + ",\"a\":" + a + "}", "abcd"), "names an entry twice"},
      {safetensors(two(a, slot("F8_E4M3", "[4]", "[4,8]")), data),
       "entry 'b': its dtype 'F8_E4M3' is not supported"},
      {safetensors(two(a, replaced(b, "\"F32\"", "7")), data), "dtype is not a string"},
      {safetensors(two(a, slot("F32", "4", "[4,8]")), data), "shape is not a list"},
      {safetensors(two(a, slot("F32", "[1.5]", "[4,8]")), data), "extent 1.5 of its shape is not an integer"},
      {safetensors(two(a, slot("F32", "[-1]", "[4,8]")), data), "extent -1 of its shape is negative"},
      {safetensors(two(a, slot("F32", "[18446744073709551615]", "[4,8]")), data), "more than 64 bits"},
      {safetensors(two(a, slot("F32", "[4294967296,4294967296]", "[4,8]")), data), "overflows 64 bits"},
      {safetensors(two(a, slot("F32", "[1]", "[4]")), data), "two natural numbers"},
      {safetensors(two(a, slot("F32", "[1]", "[-4,8]")), data), "two natural numbers"},
      {safetensors(two(a, slot("F32", "[1]", "[8,4]")), data), "outside of the 8 bytes"},
      {safetensors(two(a, slot("F32", "[1]", "[8,12]")), data), "outside of the 8 bytes"},
      {safetensors(two(a, slot("F32", "[2]", "[4,8]")), data), "takes 8 bytes, and its data_offsets span 4"},
      {safetensors(two(a, slot("F32", "[1]", "[2,6]")), data), "entry 'b': its data overlap"},
      {safetensors(two(a, slot("U8", "[2]", "[6,8]")), data), "bytes 4 to 6 of its data belong to no entry"},
      {good + "x", "bytes 8 to 9 of its data belong to no entry"},
      {good.substr(0, good.size() - 1), "entry 'b': its data_offsets 4 to 8 lie outside of the 7 bytes"},
  };
  for (const auto& [bytes, what] : cases) expect_refused("a.safetensors", bytes, what);
  // Deep nesting must not exhaust the stack.
  expect_refused("a.safetensors", safetensors(std::string(1'000'000, '['), ""), "not a JSON object");
}

TEST_F(DataFiles, SafetensorsHeaderBound) {
  put("a.safetensors", little_endian(100'000'001, 8));
  fs::resize_file(path("a.safetensors"), 200'000'000);  // sparse
  expect_failure("a.safetensors", "header claims 100000001 bytes");
}

// --- damage --------------------------------------------------------------------------------------

class DamagedFiles : public DataFiles, public testing::WithParamInterface<const char*> {};

TEST_P(DamagedFiles, AreRefusedOrReadWithoutACrash) {
  std::string name = std::string("a") + GetParam();
  Entries<TensorPtr> entries = {{"x", filled(DType::float32(), {2, 3})},
                                {"y", filled(DType::boolean(), {5})}};
  if (name == "a.npy" || name == "a.csv") entries.resize(1);
  if (name == "a.png" || name == "a.jpg") entries = {{"", filled(DType::uint8(), {9, 7, 3})}};
  ASSERT_TRUE(write_tensors(path(name), entries));
  std::vector<std::string> originals = {get(name)};
  if (name == "a.npz") originals.push_back(deflated());
  std::mt19937 random(20);
  auto below = [&](size_t bound) { return std::uniform_int_distribution<size_t>(0, bound - 1)(random); };
  int read = 0, refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = originals[below(originals.size())];
    for (size_t flips = below(4) + 1; flips > 0; --flips) {
      char& byte = bytes[below(bytes.size())];
      byte = static_cast<char>(below(2) ? byte ^ (1 << below(8)) : static_cast<int>(below(256)));
    }
    if (below(4) == 0) bytes.resize(below(bytes.size() + 1));
    put(name, bytes);
    auto headers = read_tensor_headers(path(name));
    auto tensors = read_tensors(path(name));
    ++(tensors ? read : refused);
    if (!tensors) {
      EXPECT_FALSE(tensors.error().message.empty());
      continue;
    }
    EXPECT_TRUE(headers);
    for (const auto& [entry, tensor] : *tensors) EXPECT_FALSE(to_string(*tensor).empty());
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Formats, DamagedFiles,
                         testing::Values(".npy", ".npz", ".safetensors", ".csv", ".png", ".jpg"));

}  // namespace
}  // namespace quern
