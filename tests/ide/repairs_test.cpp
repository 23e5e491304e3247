// Repairs of calls whose arguments do not fit, names of dims, imports: tables of texts.

#include <filesystem>
#include <fstream>

#include "tests/ide/refactored.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

const RefactoringRow kArgumentRows[] = {
    {"def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%x, %w$0) }",
     "transpose `%w`",
     "def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%x, transpose(%w)) }"},
    {"def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%x, %w$0) }",
     "transpose `%x`", kNotOffered},
    {"def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 2), float32]) { nn.matmul(%x$0, %w) }",
     "swap the arguments of `nn.matmul`",
     "def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 2), float32]) { nn.matmul(%w, %x) }"},
    // With it the call would have a type, and its result would not fit.
    {"def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 2), float32]) -> Tensor[(9,), float32] {\n"
     "  nn.matmul(%x$0, %w)\n}",
     "swap the arguments of `nn.matmul`", kNotOffered},
    {"def @f(%x: Tensor[(5, 2, 3), float32], %y: Tensor[(5, 4, 3), float32]) {\n"
     "  nn.batch_matmul(%x, $0%y, transpose_b=False)\n}",
     "transpose `%y`",
     "def @f(%x: Tensor[(5, 2, 3), float32], %y: Tensor[(5, 4, 3), float32]) {\n"
     "  nn.batch_matmul(%x, transpose(%y, axes=[0, 2, 1]), transpose_b=False)\n}"},
    {"def @f(%x: float32, %n: int32) { %x * %n$0 }", "cast `%n` to float32",
     "def @f(%x: float32, %n: int32) { %x * cast(%n, dtype=\"float32\") }"},
    {"def @f(%x: Tensor[(2, 3), float32], %y: Tensor[(6,), float32]) { %x + %$0y }", "reshape `%y` to (2, 3)",
     "def @f(%x: Tensor[(2, 3), float32], %y: Tensor[(6,), float32]) { %x + reshape(%y, newshape=(2, 3)) }"},
    {"def @g(%x: Tensor[(6,), float32]) -> Tensor[(6,), float32] { %x }\n"
     "let %y: Tensor[(2, 3), float32] = ones((2, 3));\n@g($0%y)",
     "reshape `%y` to (6,)",
     "def @g(%x: Tensor[(6,), float32]) -> Tensor[(6,), float32] { %x }\n"
     "let %y: Tensor[(2, 3), float32] = ones((2, 3));\n@g(reshape(%y, newshape=(6,)))"},
    // What fits, and what nothing repairs.
    {"def @f(%x: Tensor[(2, 3), float32], %w: Tensor[(3, 3), float32]) { nn.dense(%x, %w$0) }",
     "transpose `%w`", kNotOffered},
    {"def @f(%x: Tensor[(2, 3), float32]) { nn.dense(%x, %nothing$0) }", "transpose `%x`", kNotOffered},
};

const RefactoringRow kDimRows[] = {
    {"def @f(%x: Tensor[($0?, 3), float32]) -> float32 { sum(%x) }", "name the dim `?`: `n`",
     "def @f[n](%x: Tensor[(n, 3), float32]) -> float32 { sum(%x) }"},
    {"def @f[n](%x: Tensor[(n, 8), float32], %w: Tensor[(4, $08), float32]) { nn.dense(%x, %w) }",
     "name the dim `8`: `m`",
     "def @f[n, m](%x: Tensor[(n, m), float32], %w: Tensor[(4, m), float32]) { nn.dense(%x, %w) }"},
    {"def @f(%x: Tensor[($03,), float32], %y: Tensor[(3,), float32]) -> Tensor[(3,), float32] { %x + %y }",
     "name the dim `3`: `n`",
     "def @f[n](%x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) -> Tensor[(n,), float32] { %x + %y }"},
    {"def @f(%x: Tensor[($03,), float32], %y: Tensor[(3,), float32]) { %x + %y + [1f, 2f, 3f] }",
     "name the dim `3`: `n`", kRefused},
    {"def @f(%x: Tensor[($03,), float32]) { %x }", "name the dim `3`: `n`", kNotOffered},
};

TEST(Repairs, Arguments) {
  for (const RefactoringRow& row : kArgumentRows) expect_row(row);
}
TEST(Repairs, Dims) {
  for (const RefactoringRow& row : kDimRows) expect_row(row);
}

struct ImportRow {
  const char *text, *title, *after;
};
const ImportRow kImportRows[] = {
    {"// A script.\nlet %x = @h$0elp(1f);\n%x", "import `@help` from \"lib/parts.relay\"",
     "// A script.\nimport \"lib/parts.relay\" as parts\nlet %x = @parts.help(1f);\n%x"},
    {"import \"lib/parts.relay\" as p\nlet %x = @help$0(1f);\n%x", "import `@help` from \"lib/parts.relay\"",
     "import \"lib/parts.relay\" as p\nlet %x = @p.help(1f);\n%x"},
    {"import \"lib/more.relay\" as more\n\nlet %x = @h$0elp(1f);\n@more.more(%x)",
     "import `@help` from \"lib/parts.relay\"",
     "import \"lib/more.relay\" as more\nimport \"lib/parts.relay\" as parts\n\nlet %x = @parts.help(1f);\n"
     "@more.more(%x)"},
    {"/// Its doc.\ndef @f(%s: Sh$0ade) { %s }", "import `Shade` from \"lib/parts.relay\"",
     "import \"lib/parts.relay\" as parts\n/// Its doc.\ndef @f(%s: parts.Shade) { %s }"},
    {"let %parts = 1f;\ntwi$0ce(%parts)", "import `twice` from \"lib/parts.relay\"",
     "import \"lib/parts.relay\" as parts\nlet %parts = 1f;\nparts.twice(%parts)"},
    {"@nowhere$0(1)", "import `@nowhere` from \"lib/parts.relay\"", nullptr},
};

TEST(Repairs, Imports) {
  const TemporaryFolder folder;
  const std::string parts =
      "def @help(%x: float32) -> float32 { %x }\ntype Shade { Light }\n"
      "op twice(%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => %x[..i] * 2 }\n";
  std::filesystem::create_directories(folder.path() / "lib");
  std::ofstream(folder.path() / "lib/parts.relay", std::ios::binary) << parts;
  std::ofstream(folder.path() / "lib/more.relay") << "def @more(%x: float32) -> float32 { %x }\n";
  const std::string own = (folder.path() / "script.relay").string();
  for (const ImportRow& row : kImportRows) {
    SCOPED_TRACE(row.text);
    const MarkedRanges marked = with_ranges(row.text);
    Session session;
    const SourceId source = session.open_file(own, marked.text);
    KnownHints hints;
    const RefactoringContext context{hints, [&](const auto& visit) {
                                       visit((folder.path() / "lib/parts.relay").string(), parts);
                                       visit(own, marked.text);
                                     }};
    const SelectedRange at{source, {marked.cursor, marked.cursor}};
    std::string after;
    for (const Refactoring& one : refactorings(session, at, context, [](auto) { return true; })) {
      if (one.title != row.title) continue;
      const auto edits = edits_of(session, at, context, one.name, one.title);
      after = edits ? edited(session.text(source), *edits) : edits.error().message;
    }
    EXPECT_EQ(after, row.after ? row.after : "");
  }
}

}  // namespace
}  // namespace quern::ide
