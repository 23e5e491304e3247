// Index expressions whose schedule is stated, against the interpreter: sums are of small integers, so that
// every order gives the same.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "session/run/compiler.h"
#include "session/session.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

constexpr const char* kDense =
    "op my.dense(%x: Tensor[(n, k), float32], %w: Tensor[(m, k), float32]) -> Tensor[(n, m), float32] "
    "schedule { io, ii = split(i, 6); jo, ji = split(j, 32 | 64); pack(w, 32; ; j; r); "
    "reorder(io, jo, r, ii, ji); unroll(ii); vectorize(ji, ?); parallel(io) } "
    "{ [i, j] => sum[r] %x[i, r] * %w[j, r] }";

/// Over %a and %b of shape (23, 37).
struct Program {
  const char* name;
  const char* expression;
  const char* definition = "";
  bool of_known_dims = false;  ///< extents are written
};

const Program kPrograms[] = {
    {"op", "my.dense(%a, %b)", kDense},
    {"one_tensor_twice", "my.dense(%a, %a)", kDense},
    {"one_tensor_by_two_names", "@same(%a, %a) + @named(%a)",
     "def @same[n, k](%p: Tensor[(n, k), float32], %q: Tensor[(n, k), float32]) -> Tensor[(n, n), float32] "
     "{ ([i < n, j < n] => sum[r < k] %p[i, r] * %q[j, r]) schedule { pack(q, 8; ; j; r); vectorize(j, 8) } "
     "} "
     "def @named[n, k](%p: Tensor[(n, k), float32]) -> Tensor[(n, n), float32] { let %q = %p; "
     "([i < n, j < n] => sum[r < k] %p[i, r] * %q[j, r]) schedule { pack(q, 8; ; j; r); vectorize(j, 8) } }"},
    {"neighbours", "nn.relu(my.dense(%a + 1, %b)) * 2", kDense},
    {"in_a_function", "@twice(%a, %b)",
     "op my.dense(%x: Tensor[(n, k), float32], %w: Tensor[(m, k), float32]) -> Tensor[(n, m), float32] "
     "schedule { vectorize(r, ?) } { [i, j] => sum[r] %x[i, r] * %w[j, r] } "
     "def @twice[n, m, k](%p: Tensor[(n, k), float32], %q: Tensor[(m, k), float32]) "
     "-> Tensor[(n, m), float32] { my.dense(%p, %q) + (my.dense(%p, %q) schedule { vectorize(j, 4) }) }"},
    {"gradient", "grad(fn (%p: Tensor[(23, 37), float32]) { sum(my.dense(%p, %b)) })(%a)", kDense, true},
    {"gradient_of_a_call",
     "grad(fn (%p: Tensor[(23, 37), float32]) { sum((exp(%p) schedule { vectorize(i1, 8) }) * %b) })(%a)", "",
     true},
    {"call",
     "nn.dense(%a, %b) schedule { io, ii = split(i0, 4); jo, ji = split(j, ?); pack(weight, 16; ; j; r); "
     "reorder(io, jo, r, ii, ji); unroll(ii, ?); vectorize(ji, ?) }"},
    {"elementwise_call", "(%a + %b) schedule { f = fuse(i0, i1); o, l = split(f, 64); vectorize(l, 16) }"},
    {"index_expression",
     "([i < 23, j < 37] => %a[i, j] * 2 - %b[22 - i, j]) schedule { jo, ji = split(j, ?); unroll(ji, ?); "
     "reorder(jo, i, ji) }",
     "", true},
    {"turned_write",
     "([j < 37, i < 23] => sum[r < 20] %a[i, r] * %b[j % 23, r]) schedule { jo, ji = split(j, 5); io, ii = "
     "split(i, 16); reorder(jo, io, r, ji, ii); vectorize(ii, 16); turn_write(ji, ii) }",
     "", true},
    {"padding",
     "([i < 23, j < 37] => sum[r < 3] (%a[i, j + r - 1] else 0) * %b[r, j]) schedule { jo, ji = split(j, 8); "
     "io, ii = split(i, 4); reorder(io, jo, r, ii, ji); unroll(ii); unroll(r); vectorize(ji, 8) }",
     "", true},
    {"residues",
     "([i < 46, j < 37] => sum[r < 2] (%a[(i + 1) / 2 - r, j] else 0) * (%b[2 * r + (i + 1) % 2, j] else 0)) "
     "schedule { io, ii = split(i, 4); jo, ji = split(j, 16); reorder(io, jo, r, ii, ji); unroll(ii); "
     "vectorize(ji, 8); parallel(io) }",
     "", true},
    {"divided_loop", "([i < 46, j < 37] => %a[i / 2, j]) schedule { io, ii = split(i, 3); vectorize(j, 4) }",
     "", true},
    {"blocks_of_packed_rows",
     "([u < 37, v < 35] => 2 * (sum[i < 23] %a[i, u] * %b[i, v + 2])) schedule { pack(b, 16; ; v; i); "
     "pack(a, 6; ; u; i); vo, vi = split(v, 16); uo, ui = split(u, 12); uio, uii = split(ui, 6); "
     "reorder(uo, vo, uio, i, uii, vi); unroll(uii); vectorize(vi, 8); unroll(i, 2); parallel(vo) }",
     "", true},
    {"one_step", "([i < 1, j < 37] => %a[i, j]) schedule { f = fuse(i, j); vectorize(f, 8) }", "", true},
    {"number", "([.._ < ()] => sum[i < 23, j < 37] %a[i, j] * %b[i, j]) schedule { vectorize(j, ?) }", "",
     true},
    {"row_after_row", "(max(%a + 1, axis=[1], keepdims=True) schedule { vectorize(r0, 8) }) - %b"},
};

class StatedSchedules : public testing::TestWithParam<std::tuple<Evaluator, bool>> {};

TEST_P(StatedSchedules, AreAsInterpreted) {
  const auto [evaluator, known] = GetParam();
  Random random(11);
  Entries<TensorPtr> tensors;
  for (const char* name : {"a", "b"})
    tensors.emplace_back(name, random.tensor(DType::float32(), {23, 37}, Values::SmallIntegers));
  TemporaryFile file(fmt::format("stated{}_{}", static_cast<int>(evaluator), known));
  const auto written = write_tensors(file.path(), tensors);
  ASSERT_TRUE(written) << written.error().message;
  for (const Program& program : kPrograms) {
    if (program.of_known_dims && !known) continue;
    Case one{program.name, program.expression, {{"a", "a"}, {"b", "b"}}};
    if (!known) one = over_unknown_dims(one, tensors, 0);
    one.definition = std::string(program.definition) + " " + one.definition;
    CaseSession session(file.path(), {one}, library_texts());
    const Outcome wanted = session.run(Evaluator::Interpreter)[0], got = session.run(evaluator)[0];
    EXPECT_EQ(wanted.problem + got.problem, "") << session.text(0);
    if (!wanted.tensor || !got.tensor) continue;
    EXPECT_EQ(difference_in_ulps(*got.tensor, *wanted.tensor, 0, 0), "") << session.text(0);
  }
}

INSTANTIATE_TEST_SUITE_P(Programs, StatedSchedules,
                         testing::Combine(testing::Values(Evaluator::Compiled, Evaluator::Checked),
                                          testing::Bool()),
                         [](const auto& info) {
                           const bool checked = std::get<0>(info.param) == Evaluator::Checked;
                           return fmt::format("{}_{}_dims", checked ? "checked" : "compiled",
                                              std::get<1>(info.param) ? "known" : "unknown");
                         });

std::string stage(const std::string& text, const std::string& stage) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "stated.relay", text);
  const Definition* definition = session.definition(module, "f");
  if (!definition) return "";
  const auto shown = Compiler(session).stage_text(*definition, stage);
  return shown ? *shown : shown.error().message;
}

size_t count(const std::string& text, std::string_view word) {
  size_t found = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(StatedSchedule, IsAKernelByItself) {
  const std::string plain = "def @f(%a: Tensor[(8, 64), float32]) { nn.relu(exp(%a + 1)) * 2 }";
  const std::string stated =
      "def @f(%a: Tensor[(8, 64), float32]) { let %e = exp(%a + 1) schedule { vectorize(i1, 8) }; "
      "nn.relu(%e) * 2 }";
  EXPECT_EQ(count(stage(plain, "lift_kernels"), "/* kernel */"), 1);
  EXPECT_EQ(count(stage(stated, "lift_kernels"), "/* kernel */"), 3);
  // Neither a part of rows, nor cut into parts.
  EXPECT_EQ(count(stage("def @f(%a: Tensor[(8, 64), float32]) { let %m = max(%a, axis=[1], keepdims=True) "
                        "schedule { vectorize(r0, 8) }; %a - %m }",
                        "lift_kernels"),
                  "/* kernel */"),
            2);
  EXPECT_EQ(count(stage("def @f(%a: Tensor[(2000000,), float32]) { sum(%a) schedule { vectorize(r0, 8) } }",
                        "lift_kernels"),
                  "/* kernel */"),
            1);
}

TEST(StatedSchedule, RunsAsWritten) {
  const std::string loops = stage(
      "def @f(%a: Tensor[(8, 64), float32]) { exp(%a) schedule { o, l = split(i1, 16); reorder(o, i0, l); "
      "vectorize(l, 4) } }",
      "loops");
  EXPECT_NE(loops.find("for o"), std::string::npos) << loops;
  EXPECT_LT(loops.find("for o"), loops.find("for i0")) << loops;
}

TEST(StatedSchedule, ReplacesThatOfTheOperator) {
  const std::string op =
      "op my.twice(%a: Tensor[s, float32]) -> Tensor[s, float32] schedule { unroll(i0, 3) } "
      "{ [..i] => %a[..i] * 2 } ";
  const std::string own = stage(op + "def @f(%a: Tensor[(8,), float32]) { my.twice(%a) }", "lift_kernels");
  const std::string called =
      stage(op + "def @f(%a: Tensor[(8,), float32]) { my.twice(%a) schedule { vectorize(i0, 4) } }",
            "lift_kernels");
  EXPECT_NE(own.find("unroll(i0, 3)"), std::string::npos) << own;
  EXPECT_EQ(called.find("unroll"), std::string::npos) << called;
  EXPECT_NE(called.find("vectorize(i0, 4)"), std::string::npos) << called;
}

TEST(StatedSchedule, OfARuleMakesTheSameLoops) {
  const std::string head = "def @f(%a: Tensor[(64, 48), float32], %b: Tensor[(32, 48), float32]) { ";
  const std::string plain = head + "nn.dense(%a, %b) }";
  std::string schedule = stage(plain, "schedule");
  schedule = schedule.substr(schedule.find("schedule {"));
  EXPECT_EQ(stage(head + "nn.dense(%a, %b) " + schedule + " }", "loops"), stage(plain, "loops")) << schedule;
}

}  // namespace
}  // namespace quern::numeric
