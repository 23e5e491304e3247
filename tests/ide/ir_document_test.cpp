// Which lines of the source the lines of what it becomes come from, at each stage.

#include "ide/ir_document.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/text/source.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using LinesOfText = std::vector<std::string>;

/// A text, and what it becomes.
class Made {
 public:
  explicit Made(const std::string& text, const std::string& path = "a.relay")
      : source_(session_.open_file(path, text)), compiler_(session_) {}

  const IrDocument& at(const std::string& stage, const std::string& function) {
    auto made = ir_document(session_, compiler_, source_, function, stage);
    EXPECT_TRUE(made) << made.error().message;
    document_ = made ? *made : IrDocument{};
    return document_;
  }
  std::string failure(const std::string& stage, const std::string& function) {
    const auto made = ir_document(session_, compiler_, source_, function, stage);
    return made ? "" : made.error().message;
  }
  /// The lines of the source, without their indentation, that the first line with `part` comes from.
  LinesOfText from(std::string_view part) {
    const size_t found = document_.text.find(part);
    EXPECT_NE(found, std::string::npos) << part << " is not in\n" << document_.text;
    const uint32_t line = LineIndex(document_.text).locate(static_cast<uint32_t>(found)).line - 1;
    LinesOfText lines;
    for (const MappedLines& mapped : document_.map)
      if (mapped.shown.first <= line && line <= mapped.shown.last)
        for (const Lines& each : mapped.source)
          for (uint32_t k = each.first; k <= each.last; ++k) lines.push_back(line_of_source(k));
    return lines;
  }

 private:
  std::string line_of_source(uint32_t line) {
    const std::string_view text = LineIndex(session_.text(source_)).line(line + 1);
    return std::string(text.substr(std::min(text.find_first_not_of(' '), text.size())));
  }

  Session session_;
  SourceId source_;
  Compiler compiler_;
  IrDocument document_;
};

const std::string kNet =
    "/// Adds products.\n"
    "op scaled(%a: Tensor[s, t]) -> Tensor[s, t] {\n"
    "  [..i] => %a[..i] * 3\n"
    "}\n"
    "def @layer[n](%x: Tensor[(n, 8), float32], %w: Tensor[(4, 8), float32]) -> Tensor[(n, 4), float32] {\n"
    "  let %product = nn.dense(%x, %w);\n"
    "  nn.relu(\n"
    "    %product)\n"
    "}\n"
    "def @net[n](%x: Tensor[(n, 8), float32], %w: Tensor[(4, 8), float32]) {\n"
    "  let %hidden = scaled(@layer(%x, %w));\n"
    "  if (sum(%hidden) > 0f) {\n"
    "    nn.softmax(%hidden)\n"
    "  } else {\n"
    "    exp(%hidden)\n"
    "  }\n"
    "}\n"
    "let %y = @net(ones((2, 8)), ones((4, 8)));\n"
    "print(%y)\n";

struct IrRow {
  const char *stage, *function, *shown;
  LinesOfText from;
};

const char* const kNetLayer =
    "def @layer[n](%x: Tensor[(n, 8), float32], %w: Tensor[(4, 8), float32]) -> Tensor[(n, 4), float32] {";
const LinesOfText kBoth = {"let %product = nn.dense(%x, %w);", "nn.relu("};
const LinesOfText kFused = {"[..i] => %a[..i] * 3", "let %product = nn.dense(%x, %w);", "nn.relu(",
                            "let %hidden = scaled(@layer(%x, %w));"};
const LinesOfText kSoftmax = {"nn.softmax(%hidden)"};

const IrRow kIrRows[] = {
    {"ast", "", "Op `scaled`", {"op scaled(%a: Tensor[s, t]) -> Tensor[s, t] {"}},
    {"ast", "", "Let `product`", {"let %product = nn.dense(%x, %w);"}},
    {"ast", "net", "Name `nn.softmax`", kSoftmax},
    // As it is written.
    {"typed",
     "",
     "op scaled",
     {"op scaled(%a: Tensor[s, t]) -> Tensor[s, t] {", "[..i] => %a[..i] * 3", "}"}},
    {"typed", "", "/// Adds", {}},
    {"typed", "", "let %hidden", {"let %hidden = scaled(@layer(%x, %w));"}},
    {"typed", "", "print(", {"print(%y)"}},
    {"typed", "", "// contraction", {}},
    {"typed", "layer", "nn.relu(", {"nn.relu(", "%product)"}},
    {"typed", "net", "if (", {"if (sum(%hidden) > 0f) {", "nn.softmax(%hidden)", "exp(%hidden)"}},
    {"effects", "", "prints", {"print(%y)"}},
    // What is inlined comes from where it is and from its call.
    {"inline",
     "net",
     "let %product",
     {"let %product = nn.dense(%x, %w);", "let %hidden = scaled(@layer(%x, %w));"}},
    {"inline",
     "",
     "let %hidden: Tensor[(2, 4)",
     {"let %hidden = scaled(@layer(%x, %w));", "let %y = @net(ones((2, 8)), ones((4, 8)));"}},
    {"instantiate_ops", "net", "%a[i0, i1] * 3f", {kFused[0], kNetLayer, kFused[3]}},
    {"instantiate_ops", "net", "=> exp(%a", kSoftmax},
    {"gradient", "net", "=> max(0f, %product", {"nn.relu(", "%product)", kFused[3]}},
    {"to_anf", "layer", "let %product", {"let %product = nn.dense(%x, %w);"}},
    {"fuse", "net", "max(0f, sum", kFused},
    {"fuse", "net", "} else {", {}},
    {"lift_kernels", "layer", "max(0f, sum", kBoth},
    {"fused", "layer", "max(0f, sum", kBoth},
    {"fused", "net", "let %e", kSoftmax},
    {"bytecode", "net", "kernel #2", kSoftmax},
    {"bytecode", "net", "kernel #6", {"exp(%hidden)"}},
    {"bytecode", "net", "fn0", {}},
    {"schedule", "net", "// greater", {"if (sum(%hidden) > 0f) {"}},
    {"schedule", "layer", "// nn.relu", kBoth},
    {"loops", "layer", "for r", kBoth},
    {"loops", "net", "kernel(", kFused},
    {"loops", "net", "exp(hidden[", kSoftmax},
    {"llvm", "layer", "define ", kBoth},
    {"asm", "layer", ".text", kBoth},
};

TEST(IrMap, LinesOfEachStage) {
  Made made(kNet);
  for (const IrRow& row : kIrRows) {
    SCOPED_TRACE(fmt::format("{} of `{}` at {}", row.shown, row.function, row.stage));
    made.at(row.stage, row.function);
    EXPECT_EQ(made.from(row.shown), row.from);
  }
}

// Of every stage the entries are in order, do not overlap and are of lines that there are; those of the source too.
TEST(IrMap, EntriesAreInOrder) {
  Made made(kNet);
  const uint32_t most = LineIndex(kNet).line_count();
  for (const std::string& stage : Compiler::stages()) {
    SCOPED_TRACE(stage);
    const IrDocument& document = made.at(stage, "");
    EXPECT_FALSE(document.map.empty());
    uint32_t next = 0;
    for (const auto& [shown, source] : document.map) {
      EXPECT_LE(next, shown.first);
      EXPECT_LE(shown.first, shown.last);
      next = shown.last + 1;
      ASSERT_FALSE(source.empty());
      for (size_t i = 0; i < source.size(); ++i) {
        EXPECT_LE(source[i].first, source[i].last);
        EXPECT_LT(source[i].last, most);
        if (i > 0) {
          EXPECT_GT(source[i].first, source[i - 1].last + 1);
        }
      }
    }
    EXPECT_LE(next, LineIndex(document.text).line_count());
  }
}

// One line end closes the text of each stage, and one blank line parts what is in it.
TEST(IrMap, NoBlankLineClosesAText) {
  Made made(kNet);
  for (const std::string& stage : Compiler::stages())
    for (const char* function : {"", "layer"}) {
      SCOPED_TRACE(stage);
      const std::string& text = made.at(stage, function).text;
      EXPECT_TRUE(text.ends_with('\n'));
      EXPECT_FALSE(text.ends_with("\n\n"));
      if (stage != "llvm" && stage != "asm") {
        EXPECT_THAT(text, testing::Not(HasSubstr("\n\n\n")));
      }
    }
}

TEST(IrMap, LinesOfOtherFilesAreThoseOfTheirUses) {
  const TemporaryFolder folder;
  std::ofstream(folder / "net.relay") << "\n\n\ndef @twice(%x: float32) {\n  %x + %x\n}\n";
  Made made("import \"net.relay\" as net\n// the use\nlet %y = @net.twice(1f);\n",
            (folder / "main.relay").string());
  made.at("inline", "");
  EXPECT_THAT(made.from("add("), ElementsAre("let %y = @net.twice(1f);"));
}

TEST(IrMap, LinesOfOtherEndsAndOfBodiesInChunks) {
  std::string text = "def @f(%p: float32) {\r\n";
  for (int i = 0; i < 2000; ++i) text += fmt::format("  let %x{} = %p + {}f;\r\n", i, i);
  text += "  %x7 + %x1999\r\n}\r\n";
  Made made(text);
  made.at("typed", "f");
  EXPECT_THAT(made.from("let %x1234"), ElementsAre("let %x1234 = %p + 1234f;"));
  EXPECT_THAT(made.from("add(%x7"), ElementsAre("%x7 + %x1999"));
  EXPECT_EQ(made.at("ast", "f").map.size(), 1u);
  EXPECT_EQ(made.from("Let `x5`").size(), 2003u);
}

TEST(IrMap, DerivativesComeFromNowhere) {
  Made made("def @f(%x: float32) -> float32 { %x * %x }\n");
  EXPECT_THAT(made.at(kDerivative, "@f").text, HasSubstr("def @grad_f"));
  EXPECT_THAT(made.at(kDerivative, "@f").map, IsEmpty());
}

TEST(IrMap, WhatBecomesNothing) {
  Made made("def @f(%x: float32) -> float32 { %x }\n"), wrong("%missing\n");
  EXPECT_THAT(made.failure("lops", "f"), HasSubstr("there is no stage `lops`"));
  EXPECT_THAT(made.failure("typed", "g"), HasSubstr("there is no definition `@g`"));
  EXPECT_THAT(made.failure(kDerivative, "g"), HasSubstr("there is no definition `@g`"));
  EXPECT_THAT(wrong.failure("typed", ""), HasSubstr("the text has errors, the first: unknown variable"));
  EXPECT_EQ(wrong.failure("ast", ""), "");
}

// A function is shown whatever else is wrong in the file, but for what it needs.
TEST(IrMap, MistakesElsewhereDoNotMatterToAFunction) {
  const std::string text =
      "op broken(%a: Tensor[s, t]) -> Tensor[s, t] { [..i] => %b[..i] }\n"
      "def @intact(%x: float32) -> float32 { %x * 2f }\n"
      "def @caller(%x: float32) -> float32 { @intact(%x) }\n"
      "def @wrong(%x: float32) -> float32 { %missing }\n"
      "def @of_wrong(%x: float32) -> float32 { @caller(@wrong(%x)) }\n"
      "def @of_broken(%x: float32) -> float32 { broken(%x) }\n"
      "let %y = %nothing;\n"
      "def @half(\n";
  Made made(text);
  for (const std::string& stage : Compiler::stages()) {
    SCOPED_TRACE(stage);
    EXPECT_EQ(made.failure(stage, "intact"), "");
    EXPECT_EQ(made.failure(stage, "@caller"), "");
  }
  EXPECT_EQ(made.failure(kDerivative, "caller"), "");
  const char* const missing = "has errors, the first: unknown variable `%missing`";
  EXPECT_THAT(made.failure("typed", "wrong"), HasSubstr(missing));
  EXPECT_THAT(made.failure("loops", "of_wrong"), HasSubstr(missing));
  EXPECT_THAT(made.failure("loops", "of_broken"), HasSubstr("`@of_broken`, or what it needs, has errors"));
  EXPECT_THAT(made.failure("typed", ""), HasSubstr("the text has errors"));
}

}  // namespace
}  // namespace quern::ide
