// Tensors of vectors, interpreted and compiled, against the same program over tensors of their lanes, which
// are one more axis there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

/// An expression over vectors, and what it is over lanes where that is another text. Both see %a and %b of
/// shape (5, 3), %r of rank 0, and, of numbers in both, %s of shape (5, 3) and %i of shape (4,). `$V` is the
/// vector dtype, `$T` that of a lane, `$L` their number.
struct Row {
  std::string name, over_vectors, over_lanes = "";
};

const std::vector<Row> kRows = {
    {"arithmetic", "%a + %b * %a - %b"},
    {"rank 0", "%a * %r"},
    {"rank 0 alone", "%r * %r + %r"},
    {"row", "%a - %b[0]"},
    {"column", "%a * %b[:, 1:2]"},
    {"number", "2 * %a + 1"},
    {"list", "%a - [1, 2, 3]", R"(%a - reshape(cast([1, 2, 3], dtype="$T"), newshape=[3, 1]))"},
    {"unary", "abs(%a) + nn.relu(-%b) + sign(%a)"},
    {"clip", "clip(%a, a_min=-1, a_max=2)"},
    {"extremes of two", "minimum(maximum(%a, %r), %b)"},
    {"sum", "sum(%a)", "sum(%a, axis=[0, 1])"},
    {"sum of columns", "sum(%a * %b, axis=[0])"},
    {"sum of rows", "sum(%a + %r, axis=[1])"},
    {"extremes", "max(%a, axis=[0]) - min(%b)", "max(%a, axis=[0]) - min(%b, axis=[0, 1])"},
    {"product", "prod(%a[:2], axis=[0])"},
    {"transpose", "transpose(%a)", "transpose(%a, axes=[1, 0, 2])"},
    {"reshape", "reshape(%a, newshape=[3, 5])", "reshape(%a, newshape=[3, 5, $L])"},
    {"flat", "nn.batch_flatten(expand_dims(%a, axis=0))", "reshape(%a, newshape=[1, 15, $L])"},
    {"take", "take(%a, %i, axis=0)"},
    {"take of rows", R"(take(%a, %i, axis=1, mode="wrap"))"},
    {"take of all", "take(%a, %i)", "take(reshape(%a, newshape=[15, $L]), %i, axis=0)"},
    {"concatenate", "concatenate((%a, %b, %a), axis=1)"},
    {"slice", "%a[1:4, ::-1]"},
    {"element", "%a[1, 2]"},
    {"chosen element", "%a[%i[1]]"},
    {"reverse", "reverse(%a, axis=1)"},
    {"tile", "tile(%a, reps=[2, 1])", "tile(%a, reps=[2, 1, 1])"},
    {"to int16", R"(cast(%a, dtype="int16x$L"))", R"(cast(%a, dtype="int16"))"},
    {"to float32", R"(cast(%a, dtype="float32x$L") * 0.5)", R"(cast(%a, dtype="float32") * 0.5)"},
    {"from numbers", R"(cast(%s, dtype="$V"))", "broadcast_to(expand_dims(%s, axis=2), shape=[5, 3, $L])"},
    {"beside numbers", R"(%a * cast(%s, dtype="$V"))", "%a * expand_dims(%s, axis=2)"},
    {"where", "where(%s > 0, %a, %b)", "where(expand_dims(%s > 0, axis=2), %a, %b)"},
    {"ones", R"(zeros((5, 3), dtype="$V") + ones_like(%a))", R"(ones((5, 3, $L), dtype="$T"))"},
    {"full", "full(%r, shape=[2, 3])", "broadcast_to(%r, shape=[2, 3, $L])"},
    {"running sum", "cumsum(%a, axis=0)"},
    {"running sum before", "cumsum(%a, axis=1, exclusive=True)"},
    {"scatter", R"(scatter_nd(%a, reshape(%i, newshape=[1, 4]), %b[:4], mode="add"))"},
    {"scatter of the last", "scatter_nd(%a, reshape(%i, newshape=[1, 4]), %b[:4])"},
    {"index expression", "[i < 3, j < 5] => { let %e = %a[j, i]; %e * %e - cast<$V>(i) }",
     "[i < 3, j < 5, l < $L] => { let %e = %a[j, i, l]; %e * %e - cast<$T>(i) }"},
    {"other lanes that are not used", "[i < 5] => { let %_e = cast<int32x7>(%i[0]); %a[i, 0] }", "%a[:, 0]"},
    {"reduction", "[i < 5] => sum[k < 3] %a[i, k] * %b[i, k]",
     "[i < 5, l < $L] => sum[k < 3] %a[i, k, l] * %b[i, k, l]"},
    {"condition", "if (%s[0, 0] > 100) { %r } else { %r + %r }"},
    {"closure", "{ let %f = fn (%p) { %p * %r }; %f(%a[0, 0]) + %f(%r) }"},
    {"data", "@foldl(fn (%p, %q) { %p + %q }, %r, Cons(%a[0, 0], Cons(%r, Nil)))"},
    {"reference", "{ let %c = ref(%r); %c := !%c + %a[0, 1]; !%c }"},
    {"none", "%a[0:0] * %r + %b[0:0]"},
    {"sum of none", "sum(%a[0:0], axis=[0]) + max(%a[:, 0:0] + %r, axis=[1])[:3]"},
    {"unknown dims", "@general(%a, %r, 2)"},
    {"unknown dims, none", "@general(%a[0:0], %r, 1)"},
    {"rank 0 as an argument", "@fibonacci(5, %r, %a[1, 1])"},
    {"functions of floats", R"(exp(cast(%a, dtype="float32x$L")) * sigmoid(cast(%r, dtype="float32x$L")))",
     R"(exp(cast(%a, dtype="float32")) * sigmoid(cast(%r, dtype="float32")))"},
};

/// Functions that call themselves are not inlined: dims are known at run time only, and a rank-0 vector is an
/// argument.
constexpr const char* kOverVectors =
    "def @general[n, m](%p: Tensor[(n, m), $V], %q: $V, %c: int32) -> Tensor[(m, 2 * n), $V] {"
    " if (%c > 0) { @general(%p + %q, %q, %c - 1) } else { transpose(concatenate((%p, %p * %q))) } }\n"
    "def @fibonacci(%n: int32, %p: $V, %q: $V) -> $V {"
    " if (%n == 0) { %p } else { @fibonacci(%n - 1, %q, %p + %q) } }";
constexpr const char* kOverLanes =
    "def @general[n, m](%p: Tensor[(n, m, $L), $T], %q: Tensor[($L,), $T], %c: int32)"
    " -> Tensor[(m, 2 * n, $L), $T] { if (%c > 0) { @general(%p + %q, %q, %c - 1) }"
    " else { transpose(concatenate((%p, %p * %q)), axes=[1, 0, 2]) } }\n"
    "def @fibonacci(%n: int32, %p: Tensor[($L,), $T], %q: Tensor[($L,), $T]) -> Tensor[($L,), $T] {"
    " if (%n == 0) { %p } else { @fibonacci(%n - 1, %q, %p + %q) } }";

class Vectors : public testing::TestWithParam<const char*> {
 protected:
  const DType vector = *parse_dtype(GetParam());
  TemporaryFile file{std::string("vectors_") + GetParam()};

  void SetUp() override {
    Random random(17);
    const int64_t lanes = vector.lanes;
    auto drawn = [&](Shape shape) {
      return random.tensor(vector.lane(), std::move(shape), Values::SmallIntegers);
    };
    std::vector<int32_t> indices = {4, 0, 3, 4};
    auto written =
        write_tensors(file.path(), {{"a", drawn({5, 3, lanes})},
                                    {"b", drawn({5, 3, lanes})},
                                    {"r", drawn({lanes})},
                                    {"s", drawn({5, 3})},
                                    {"i", HostTensor::from<int32_t>(DType::int32(), {4}, indices)}});
    ASSERT_TRUE(written) << written.error().message;
  }

  std::string settled(std::string text) const {
    for (auto& [name, meaning] :
         {std::pair("$V", to_string(vector)), std::pair("$T", to_string(vector.lane())),
          std::pair("$L", std::to_string(vector.lanes))})
      for (size_t at = text.find(name); at != std::string::npos; at = text.find(name))
        text.replace(at, 2, meaning);
    return text;
  }

  /// The expression with the tensors that it names bound before it.
  Case over(bool vectors, const std::string& name, const std::string& text) const {
    const char* matrix = vectors ? "Tensor[(5, 3), $V]" : "Tensor[(5, 3, $L), $T]";
    std::string path = std::filesystem::path(file.path()).filename().string(), tensors;
    for (auto& [variable, type] :
         {std::pair("a", matrix), std::pair("b", matrix),
          std::pair("r", vectors ? "$V" : "Tensor[($L,), $T]"), std::pair("s", "Tensor[(5, 3), $T]"),
          std::pair("i", "Tensor[(4,), int32]")})
      if (text.find(std::string("%") + variable) != std::string::npos)
        tensors += fmt::format("let %{0}: {1} = load(\"{2}\", \"{0}\"); ", variable, type, path);
    return {name, settled("{ " + tensors + text + " }"), {}};
  }

  std::vector<Case> cases(bool vectors) const {
    std::vector<Case> list;
    list.reserve(kRows.size());
    for (const Row& row : kRows)
      list.push_back(
          over(vectors, row.name, vectors || row.over_lanes.empty() ? row.over_vectors : row.over_lanes));
    list.front().definition = settled(vectors ? kOverVectors : kOverLanes);
    return list;
  }
};

TEST_P(Vectors, AreTheirLanes) {
  CaseSession over_vectors(file.path(), cases(true), library_texts());
  CaseSession over_lanes(file.path(), cases(false), library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> got = over_vectors.run(evaluator), wanted = over_lanes.run(evaluator);
    for (size_t k = 0; k < kRows.size(); ++k) {
      SCOPED_TRACE(fmt::format("{}, {}: {}", to_string(evaluator), kRows[k].name, kRows[k].over_vectors));
      ASSERT_TRUE(got[k].tensor) << got[k].problem;
      ASSERT_TRUE(wanted[k].tensor) << wanted[k].problem;
      EXPECT_EQ(got[k].tensor->dtype().lanes, vector.lanes);
      EXPECT_EQ(difference(*HostTensor::lanes_of(got[k].tensor), *wanted[k].tensor, {}), "");
    }
  }
}

TEST_P(Vectors, StopWhereTheirTensorEnds) {
  Case outside = over(true, "outside", R"(take(%a, %i + 1, axis=0, mode="fast"))");
  CaseSession session(file.path(), {outside}, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    Outcome outcome = session.run(evaluator)[0];
    EXPECT_NE(outcome.problem.find("index 5 is out of bounds for axis 0 with extent 5"), std::string::npos)
        << to_string(evaluator) << outcome.problem;
  }
}

INSTANTIATE_TEST_SUITE_P(Each, Vectors,
                         testing::Values("int8x4", "uint8x2", "float32x4", "float16x2", "int64x3",
                                         "float64x16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace quern::numeric
