// Index expressions that are done a row at a time (passes/fuse_rows): random ones against the interpreter, to
// the bit, and which of them become one kernel.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

constexpr uint64_t kBatches = 4, kProgramsInBatch = 32;

/// Bindings of rows and of numbers a row, each made of those before: `{ let %v0 = …; …; %v5 }`.
class RowPrograms {
 public:
  explicit RowPrograms(Random& random) : random_(random) {}

  std::string program() {
    std::string text = "{ ";
    const int64_t bindings = random_.integer(3, 8);
    for (int64_t k = 0; k < bindings; ++k) {
      const std::string name = fmt::format("%v{}", k);
      const bool reduces = random_.chance(0.5);
      text += fmt::format("let {} = {}; ", name, bounded(reduces ? reduction() : row()));
      (reduces ? numbers_ : rows_).push_back(name);
    }
    text += row() + " + %b - %a";
    for (int64_t k = 0; k < bindings; ++k)
      if (const std::string name = fmt::format("%v{}", k); !read_.contains(name)) text += " + " + name;
    return text + " }";
  }

 private:
  /// Sums and products stay exact.
  static std::string bounded(const std::string& x) { return fmt::format("maximum(minimum({}, 8), -8)", x); }

  std::string any(const std::vector<std::string>& names) {
    std::string name = random_.pick(names);
    read_.insert(name);
    return name;
  }
  std::string any_row() { return any(rows_); }
  std::string row() {
    std::string text = random_.chance(0.35) ? fmt::format("reverse({}, axis=-1)", any_row()) : any_row();
    if (random_.chance(0.7)) text += fmt::format(" * {}", any_row());
    if (!numbers_.empty() && random_.chance(0.8)) text += " - " + any(numbers_);
    return text;
  }
  std::string reduction() {
    static const std::vector<std::string> kReductions = {"sum", "max", "min"};
    const int64_t axis = random_.chance(0.85) ? -1 : -2;
    return fmt::format("{}({}, axis=[{}], keepdims=True)", random_.pick(kReductions), row(), axis);
  }

  Random& random_;
  std::vector<std::string> rows_{"%a", "%b"}, numbers_;
  std::set<std::string> read_;
};

struct Draws {
  std::vector<Case> cases;
  Entries<TensorPtr> tensors;
};

Draws draw(uint64_t batch, bool known) {
  Draws draws;
  for (uint64_t k = 0; k < kProgramsInBatch; ++k) {
    const uint64_t seed = 1000 * (batch + 1) + k;
    Random random(seed);
    const DType dtype =
        random.pick(std::vector<DType>{DType::float32(), DType::float32(), DType::float64(), DType::int32()});
    Shape shape;
    for (int64_t axes = random.integer(1, 2); axes > 0; --axes) shape.push_back(random.integer(1, 5));
    shape.push_back(random.integer(1, 70));
    Case one{fmt::format("seed {}", seed), RowPrograms(random).program(), {}};
    for (const char* variable : {"a", "b"}) {
      one.inputs.emplace_back(variable, fmt::format("{}{}_{}", variable, k, batch));
      draws.tensors.emplace_back(one.inputs.back().second,
                                 random.tensor(dtype, shape, Values::SmallIntegers));
    }
    draws.cases.push_back(known ? one : over_unknown_dims(one, draws.tensors, k));
  }
  return draws;
}

class Rows : public testing::TestWithParam<std::tuple<uint64_t, bool>> {};

TEST_P(Rows, AreAsInterpreted) {
  const auto [batch, known] = GetParam();
  const Draws draws = draw(batch, known);
  TemporaryFile file(fmt::format("rows{}_{}", batch, known));
  auto written = write_tensors(file.path(), draws.tensors);
  ASSERT_TRUE(written) << written.error().message;
  CaseSession session(file.path(), draws.cases, library_texts());
  const std::vector<Outcome> wanted = session.run(Evaluator::Interpreter);
  const std::vector<Outcome> got = session.run(known ? Evaluator::Checked : Evaluator::Compiled);
  for (size_t i = 0; i < wanted.size(); ++i) {
    ASSERT_EQ(wanted[i].problem + got[i].problem, "") << session.text(i);
    EXPECT_EQ(difference_in_ulps(*got[i].tensor, *wanted[i].tensor, 0, 0), "") << session.text(i);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, Rows,
                         testing::Combine(testing::Range<uint64_t>(0, kBatches), testing::Bool()),
                         [](const auto& info) {
                           return fmt::format("{}_{}",
                                              std::get<1>(info.param) ? "known_dims" : "unknown_dims",
                                              std::get<0>(info.param));
                         });

/// How many kernels a definition of @f becomes.
size_t kernels_of(const std::string& text) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "rows.relay", text);
  const Definition* definition = session.definition(module, "f");
  if (!definition) return 0;
  const auto stage = Compiler(session).stage_text(*definition, "lift_kernels");
  size_t count = 0;
  if (stage)
    for (size_t at = stage->find("/* kernel */"); at != std::string::npos;
         at = stage->find("/* kernel */", at + 1))
      ++count;
  return count;
}

TEST(RowKernels, AreOneForNormsAndSoftmax) {
  EXPECT_EQ(kernels_of("def @f(%x: Tensor[(4, 64), float32]) { nn.softmax(%x) }"), 1);
  EXPECT_EQ(kernels_of("def @f(%x: Tensor[(4, 64), float32]) { nn.log_softmax(%x) }"), 1);
  EXPECT_EQ(kernels_of("def @f[n, m](%x: Tensor[(n, 8, m), float32]) { nn.softmax(%x * 0.5) }"), 1);
  EXPECT_EQ(kernels_of("def @f(%x: Tensor[(4, 64), float32], %g: Tensor[(64,), float32],"
                       " %b: Tensor[(64,), float32]) { nn.layer_norm(%x, %g, %b) }"),
            1);
  EXPECT_EQ(kernels_of("def @f(%x: Tensor[(4, 64), float32]) { nn.l2_normalize(%x, eps=0.1, axis=[1]) }"), 1);
}

TEST(RowKernels, AreSeveralWhereRowsAreNotApart) {
  // Columns are reduced.
  EXPECT_GT(kernels_of("def @f(%x: Tensor[(4, 64), float32]) { nn.softmax(%x, axis=0) }"), 1);
  // A stage is used outside.
  EXPECT_GT(kernels_of("def @f(%x: Tensor[(4, 64), float32]) {"
                       " let %m = max(%x, axis=[1], keepdims=True); (%m, sum(exp(%x - %m), axis=[1])) }"),
            1);
  // The row's memory would be written over before it is read.
  EXPECT_GT(kernels_of("def @f(%x: Tensor[(4, 64), float32]) {"
                       " let %e = exp(%x - max(%x, axis=[1], keepdims=True));"
                       " reverse(%e, axis=1) / sum(%e, axis=[1], keepdims=True) }"),
            1);
  // Rows of a product want tiles.
  EXPECT_GT(kernels_of("def @f(%x: Tensor[(64, 64), float32], %w: Tensor[(64, 64), float32]) {"
                       " let %y = nn.dense(%x, %w); %y / sum(%y, axis=[1], keepdims=True) }"),
            1);
  // One long row: threads share the loops of a kernel a stage.
  EXPECT_GT(kernels_of("def @f(%x: Tensor[(1, 1000000), float32]) { nn.softmax(%x) }"), 1);
}

}  // namespace
}  // namespace quern::numeric
