// Files that a program names by its values, and files that it draws.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/files.h"
#include "tests/golden/run_program.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using testing::HasSubstr;

/// Runs a program in a folder, compiled or interpreted.
class SavedFiles : public testing::TestWithParam<const char*> {
 protected:
  ProgramOutcome run(const std::string& program) const {
    const std::string file = (folder / "program.relay").string();
    std::ofstream(file) << program;
    std::vector<std::string> command{QUERN_BINARY, "run", file};
    if (*GetParam() != '\0') command.emplace_back(GetParam());
    return run_program(command, folder.path().string());
  }
  bool has(const std::string& name) const { return std::filesystem::exists(folder / name); }

  const TemporaryFolder folder;
};
INSTANTIATE_TEST_SUITE_P(Ways, SavedFiles, testing::Values("", "--interpret"),
                         [](const auto& info) { return *info.param ? "Interpreted" : "Compiled"; });

TEST_P(SavedFiles, AreNamedByValues) {
  const ProgramOutcome outcome = run(R"(
    def @write(%k: int32) -> int32 {
      if (%k == 3) { %k } else { save("part{%k}.npy", [%k, %k * %k]); @write(%k + 1) }
    }
    def @sum_of_parts(%k: int32) -> int32 {
      if (%k == 3) { 0 } else {
        let %x: Tensor[(2,), int32] = load("part{%k}.npy");
        sum(%x) + @sum_of_parts(%k + 1)
      }
    }
    let %n = @write(0);
    save("{{{%n:3}}} {0.5:.2f}.npz", (1.0, 2.0));
    let %kept = restore("none{%n}.npy", 7);
    (@sum_of_parts(0), %kept, restore("part{%n - 1}.npy", [0, 0])))");
  EXPECT_EQ(outcome.out, "(int32 8, int32 7, Tensor[(2,), int32] [2, 4])\n") << outcome.err;
  EXPECT_TRUE(has("part2.npy"));
  EXPECT_FALSE(has("part3.npy"));
  EXPECT_TRUE(has("{  3} 0.50.npz"));
}

// What is to the left is evaluated before.
TEST_P(SavedFiles, AreNamedBeforeTheirValuesAreComputed) {
  const ProgramOutcome outcome = run(R"(
    let %r = ref(1);
    save("at{!%r}.npy", { %r := 2; !%r });
    let %x: int32 = load("at{!%r - 1}.npy");
    %x)");
  EXPECT_EQ(outcome.out, "int32 2\n") << outcome.err;
  EXPECT_TRUE(has("at1.npy"));
}

TEST_P(SavedFiles, AreHeldAgainstTheAnnotation) {
  const ProgramOutcome outcome = run(R"(
    let %k = 1;
    save("part{%k}.npy", [1.0, 2.0]);
    let %x: Tensor[(3,), float32] = load("part{%k}.npy");
    %x)");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_THAT(outcome.err,
              HasSubstr("error[Q0501]: the tensor in `part1.npy` is Tensor[(2,), float32], but the "
                        "value is declared as Tensor[(3,), float32]"));
}

// The call of a function with dims of its own knows a part of the type.
TEST_P(SavedFiles, GiveTheDimsThatACallLeavesOpen) {
  ASSERT_EQ(run(R"(save("x.npy", [[1f, 2f], [3f, 4f], [5f, 6f]]))").code, 0);
  const auto rows = [&](const std::string& columns, const std::string& file) {
    return run("def @rows[n](%x: Tensor[(n, " + columns +
               "), float32]) -> Tensor[(n,), float32] { sum(%x, axis=[1]) }\n@rows(load(\"" + file + "\"))");
  };
  EXPECT_EQ(rows("2", "x.npy").out, "Tensor[(3,), float32] [3, 7, 11]\n") << rows("2", "x.npy").err;
  EXPECT_THAT(rows("4", "x.npy").err, HasSubstr("the file has Tensor[(3, 2), float32]"));
  EXPECT_THAT(rows("2", "y.npy").err, HasSubstr("y.npy"));
}

TEST_P(SavedFiles, ThatAreMissingAreNamedInFull) {
  const ProgramOutcome outcome = run("let %k = 5; let %x: float32 = load(\"part{%k}.npy\"); %x");
  EXPECT_THAT(outcome.err, HasSubstr("part5.npy': there is no such file."));
}

TEST_P(SavedFiles, OfPicturesShowCurves) {
  const ProgramOutcome outcome = run(R"(
    type Losses { Losses(train: Tensor[(4,), float32], test: Tensor[(3,), float32]) }
    let %l = Losses([4.0, 2.0, 1.0, 0.5], [4.5, 3.0, 2.5]);
    save("loss.svg", %l);
    save("one.svg", %l.train);
    save("rows{2}.svg", [[1, 2, 3], [3, 2, 1]]);
    save("loss.png", (%l.train, %l.test));)");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  const std::string loss = read_file(folder / "loss.svg"), one = read_file(folder / "one.svg");
  EXPECT_THAT(loss, testing::AllOf(testing::StartsWith("<svg"), HasSubstr(">train<"), HasSubstr(">test<")));
  EXPECT_THAT(one, testing::Not(HasSubstr(">train<")));
  EXPECT_THAT(read_file(folder / "rows2.svg"), testing::AllOf(HasSubstr(">0<"), HasSubstr(">1<")));
  EXPECT_THAT(read_file(folder / "loss.png"), testing::StartsWith("\x89PNG"));
}

TEST_P(SavedFiles, OfPicturesAreRefusedWhereNothingCanBeDrawn) {
  EXPECT_THAT(run("save(\"a.svg\", [0.0, 1.0] / [0.0, 0.0])").err, HasSubstr("Cannot draw '"));
  EXPECT_THAT(run("save(\"no_folder/a.svg\", [0.0, 1.0])").err, HasSubstr("cannot be written"));
  EXPECT_THAT(run("let %k = 1; save(\"a.svg\", [0.0, 1.0]); let %x: float32 = load(\"a.{%k}.svg\"); %x").err,
              HasSubstr("a.1.svg': it is a picture, and holds no numbers."));
  EXPECT_FALSE(has("no_folder"));
}

TEST_P(SavedFiles, AreImagesOfPixels) {
  EXPECT_EQ(run("save(\"a.png\", cast([[0, 255], [7, 1]], dtype=\"uint8\"))").err, "");
  const auto again = run("let %x = load(\"a.png\"); print(%x)");
  EXPECT_EQ(again.err, "");
  EXPECT_EQ(again.out, "[[[0], [255]], [[7], [1]]]\n");
  // The same numbers of another dtype are curves.
  EXPECT_EQ(run("save(\"b.png\", [[0, 255], [7, 1]])").err, "");
  EXPECT_EQ(run("print(shape_of(load(\"b.png\"))[0] > 100)").out, "True\n");
  EXPECT_THAT(run("save(\"c.png\", ones((2, 2, 3)))").err, HasSubstr("an image is of uint8 or uint16"));
  EXPECT_THAT(run("save(\"c.bin\", [1, 2])").err, HasSubstr("a .bin is only read"));
}

TEST_P(SavedFiles, OfTextAreTokens) {
  std::ofstream(folder / "vocab.json") << R"({"a": 5, "b": 6, "ab": 7, "\n": 8})";
  std::ofstream(folder / "a.txt") << "abba\n";
  EXPECT_EQ(run("print(load(\"a.txt\"))").out, "[97, 98, 98, 97, 10]\n");
  EXPECT_EQ(run("print(load(\"a.txt\", tokens=\"vocab.json\"))").out, "[7, 6, 5, 8]\n");
  const std::string f = "def @f() { let %t = load(\"a.txt\", tokens=\"vocab.json\"); sum(%t) } print(@f());";
  EXPECT_EQ(run(f).out, "26\n");
  const std::string annotated = "let %t: Tensor[(4,), int32] = load(\"a.txt\", tokens=\"vocab.json\"); ";
  EXPECT_EQ(run(annotated + "save(\"b.txt\", %t[1:], tokens=\"vocab.json\")").err, "");
  EXPECT_EQ(read_file(folder / "b.txt"), "ba\n");
  EXPECT_THAT(run("let %t: Tensor[(5,), int32] = load(\"a.txt\", tokens=\"vocab.json\"); print(%t)").err,
              HasSubstr("5"));
  EXPECT_THAT(run("print(load(\"a.txt\", tokens=\"none.json\"))").err,
              HasSubstr("none.json': there is no such file"));
  EXPECT_THAT(run("print(load(\"none.txt\", tokens=\"vocab.json\"))").err,
              HasSubstr("none.txt': there is no such file"));
  EXPECT_THAT(run("save(\"c.txt\", [5, 9], tokens=\"vocab.json\")").err,
              HasSubstr("element 1 is 9, which is no id of the vocabulary"));
  std::ofstream(folder / "a.txt") << "ab\nac";
  EXPECT_THAT(run("print(load(\"a.txt\", tokens=\"vocab.json\"))").err,
              HasSubstr("line 2, column 2: `c` is not in the vocabulary"));
}

}  // namespace
}  // namespace quern
