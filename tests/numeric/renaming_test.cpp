// No C++ knows an operator by its name: under another name it gives the same results through the same
// kernels.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "frontend/text/render.h"
#include "session/run/compiler.h"
#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

const std::string kOld = "nn.conv2d", kNew = "nn.zap2d";

std::vector<Session::LibraryFile> renamed_library() {
  std::vector<Session::LibraryFile> texts = library_texts();
  for (Session::LibraryFile& file : texts) file = {file.name, replaced(file.text, kOld, kNew)};
  return texts;
}

std::vector<Case> convolutions(const std::string& name) {
  std::vector<std::string> calls = {
      name + "(%a, %b)",
      name + "(%a, %b, strides=[2, 1], padding=[1, 2, 0, 1])",
      "nn.relu(" + name + "(%a, %b, padding=[1]) + 1f)",
  };
  std::vector<Case> cases;
  cases.reserve(calls.size());
  for (const std::string& call : calls) cases.push_back({call, call, {{"a", "a"}, {"b", "b"}}});
  return cases;
}

/// The loops of a small program of convolutions under this library, or why there are none.
std::string loops_of(const std::string& name, std::vector<Session::LibraryFile> library) {
  std::string text = fmt::format(
      "def @net(%x: Tensor[(2, 4, 9, 10), float32], %w: Tensor[(6, 2, 3, 3), float32], %v: Tensor[(3, 6, 2, "
      "2), float32]) {{\n"
      "  let %h = nn.relu({0}(%x, %w, padding=[1, 1], groups=2));\n"
      "  {0}(%h, %v, strides=[2, 2]) + 1f\n"
      "}}\n",
      name);
  Session session(std::move(library));
  ModuleId module = session.make_module();
  SourceId source = session.add_source(module, "net.relay", text);
  for (const LocatedDiagnostic& diagnostic : session.check(source)) return render_terminal(diagnostic, false);
  const Definition* net = session.definition(module, "net");
  if (!net) return "no @net";
  auto loops = Compiler(session).stage_text(*net, "loops");
  return loops ? *loops : loops.error().message;
}

TEST(Renaming, ChangesNoResult) {
  Random random(7);
  TemporaryFile file("renaming");
  auto written =
      write_tensors(file.path(), {{"a", random.tensor(DType::float32(), {2, 3, 9, 10}, Values::Moderate)},
                                  {"b", random.tensor(DType::float32(), {4, 3, 3, 3}, Values::Moderate)}});
  ASSERT_TRUE(written) << written.error().message;
  CaseSession before(file.path(), convolutions(kOld), library_texts());
  CaseSession after(file.path(), convolutions(kNew), renamed_library());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> wanted = before.run(evaluator), got = after.run(evaluator);
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(wanted[i].problem + got[i].problem, "") << to_string(evaluator) << ": " << before.text(i);
      if (!wanted[i].tensor || !got[i].tensor) continue;
      EXPECT_EQ(difference_in_ulps(*got[i].tensor, *wanted[i].tensor, 0, 0), "")
          << to_string(evaluator) << ": " << before.text(i);
    }
  }
}

TEST(Renaming, ChangesNoKernel) {
  std::string before = loops_of(kOld, library_texts());
  EXPECT_NE(before.find("kernel"), std::string::npos) << before;
  EXPECT_EQ(before.find("conv"), std::string::npos) << "a kernel knows its operator's name:\n" << before;
  EXPECT_EQ(loops_of(kNew, renamed_library()), before);
}

TEST(Renaming, LeavesTheOldNameUnknown) {
  std::string problem = loops_of(kOld, renamed_library());
  EXPECT_NE(problem.find(kOld), std::string::npos) << problem;
}

}  // namespace
}  // namespace quern::numeric
