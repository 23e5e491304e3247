// Rows of numbers as text.

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "ir/io/data_files.h"
#include "ir/value/scalar.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

class CsvFiles : public testing::Test {
 protected:
  std::string put(const std::string& text) const {
    std::ofstream(path(), std::ios::binary | std::ios::trunc) << text;
    return path();
  }
  std::string path() const { return (folder_ / "a.csv").string(); }

  std::string first_line() const {
    std::ifstream in(path());
    std::string line;
    std::getline(in, line);
    return line;
  }

  /// The tensor of a text, as text.
  std::string read_text(const std::string& text) const {
    auto tensors = read_tensors(put(text));
    return tensors ? to_string(*tensors->at(0).second) : tensors.error().message;
  }

  /// Expects the header and the tensor to be refused with the same words.
  void expect_refused(const std::string& text, const std::string& what) const {
    const std::string whole = "Cannot read '" + put(text) + "': " + what + ".";
    const auto tensors = read_tensors(path());
    ASSERT_FALSE(tensors) << text;
    EXPECT_EQ(tensors.error().message, whole);
    const auto headers = read_tensor_headers(path());
    ASSERT_FALSE(headers) << text;
    EXPECT_EQ(headers.error().message, whole);
  }

  /// Elements 0, 1, 2, …
  static TensorPtr numbered(DType dtype, Shape shape) {
    TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
    for (int64_t k = 0; k < tensor->size(); ++k)
      fill_element(*tensor, k, Scalar::from_double(dtype, static_cast<double>(dtype.is_bool() ? k % 2 : k)));
    return tensor;
  }

  const TemporaryFolder folder_;
};

TEST_F(CsvFiles, IsRowsOfNumbers) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"1,2,3\n4,5,6\n", "Tensor[(2, 3), int32] [[1, 2, 3], [4, 5, 6]]"},
      {"1,2.5\n-3,1e2", "Tensor[(2, 2), float32] [[1, 2.5], [-3, 100]]"},
      {"a, b\n1, 2\n", "Tensor[(1, 2), int32] [[1, 2]]"},
      {"\"the first, x\",\"y\"\r\n\"1\",+2\r\n", "Tensor[(1, 2), int32] [[1, 2]]"},
      {"\xEF\xBB\xBF"
       "7\n\n8\n",
       "Tensor[(2, 1), int32] [[7], [8]]"},
      {"# 3 rows\n1 2\n  3\t 4 \n", "Tensor[(2, 2), int32] [[1, 2], [3, 4]]"},
      {"3000000000\n", "Tensor[(1, 1), int64] [[3000000000]]"},
      {"3000000000,0.5\n", "Tensor[(1, 2), float32] [[3000000000, 0.5]]"},
      {"nan,inf\n-inf,0.0\n", "Tensor[(2, 2), float32] (1 NaN, 2 Inf) [[nan, inf], [-inf, 0]]"},
      {"a,b\n", "Tensor[(0, 2), int32] []"},
  };
  for (const auto& [text, value] : cases) EXPECT_EQ(read_text(text), value) << text;
}

TEST_F(CsvFiles, SaysWhereItIsWrong) {
  expect_refused("", "it has no numbers");
  expect_refused("# nothing\n\n", "it has no numbers");
  expect_refused("a,b\n1,2\n1,x\n", "line 3, column 2: `x` is no number");
  expect_refused("1,x\n1,2\n", "line 1, column 2: `x` is no number");
  expect_refused(",\n1,2\n", "line 1, column 1: a number is missing");
  expect_refused("1,2\n\n3,\n", "line 3, column 2: a number is missing");
  expect_refused("1,2\n3\n", "line 2 has 1, and the first row has 2");
  expect_refused("1\n2 3\n", "line 2 has 2, and the first row has 1");
  expect_refused("1;2\n3;4\n", "line 2, column 1: `3;4` is no number");
  expect_refused("1,2\n3,1e999\n", "line 2, column 2: `1e999` is no number");
  expect_refused(std::string("1,2\n3,\0\x80 and more than fits into a message\n", 43),
                 "line 2, column 2: `?? and more than fits in…` is no number");
}

TEST_F(CsvFiles, IsReadAsWhatItHasToBe) {
  const auto read_as = [&](const std::string& text, DType dtype, size_t rank) {
    const auto file = open_tensor_file(put(text));
    const auto tensor = file ? (*file)->tensor_as(0, dtype, rank) : Result<TensorPtr>(file.error());
    return tensor ? to_string(**tensor) : tensor.error().message;
  };
  EXPECT_EQ(read_as("1\n2\n", DType::float64(), 2), "Tensor[(2, 1), float64] [[1], [2]]");
  EXPECT_EQ(read_as("1\n2\n", DType::uint8(), 1), "Tensor[(2,), uint8] [1, 2]");
  EXPECT_EQ(read_as("1,2\n", DType::uint8(), 1), "Tensor[(1, 2), uint8] [[1, 2]]");
  EXPECT_EQ(read_as("0\n1\n", DType::boolean(), 1), "Tensor[(2,), bool] [False, True]");
  EXPECT_EQ(read_as("18446744073709551615\n", DType{DTypeCode::UInt, 64}, 1),
            "Tensor[(1,), uint64] [18446744073709551615]");
  const std::string where = "Cannot read '" + path() + "': line 2, column 1: ";
  EXPECT_EQ(read_as("1\n2.5\n", DType::int32(), 1), where + "`2.5` is no int32.");
  EXPECT_EQ(read_as("1\n256\n", DType::uint8(), 1), where + "`256` is no uint8.");
  EXPECT_EQ(read_as("1\n-1\n", DType{DTypeCode::UInt, 64}, 1), where + "`-1` is no uint64.");
  EXPECT_EQ(read_as("1\n2\n", DType::boolean(), 1), where + "`2` is no bool.");
}

TEST_F(CsvFiles, ReadsWhatItWrites) {
  TensorPtr floats = numbered(DType::float32(), {3, 2});
  floats->elements<float>()[0] = 0.1F;
  floats->elements<float>()[1] = -1e-30F;
  TensorPtr doubles = numbered(DType::float64(), {2, 2});
  doubles->elements<double>()[0] = 0.1;
  for (const TensorPtr& tensor :
       {floats, doubles, numbered(DType::int32(), {4, 1}), numbered(DType::int64(), {5}),
        numbered(DType::boolean(), {4}), numbered(DType::bfloat16(), {2, 3}),
        numbered(DType::float32(), {0, 3}), numbered(DType::float32(), {0})}) {
    ASSERT_TRUE(write_tensors(path(), {{"", tensor}}));
    const auto file = open_tensor_file(path());
    ASSERT_TRUE(file) << file.error().message;
    const auto again = (*file)->tensor_as(0, tensor->dtype(), tensor->shape().size());
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(to_string(**again), to_string(*tensor));
  }
  ASSERT_TRUE(write_tensors(path(), {{"", floats}}));
  EXPECT_EQ(first_line(), "0.1,-1e-30");
  EXPECT_EQ(read_tensors(path())->at(0).second->dtype(), DType::float32());
}

}  // namespace
}  // namespace quern
