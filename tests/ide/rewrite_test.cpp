// Further rewritings: gradients and schedules written out, types. And whatever a text is, what is offered
// in it leaves it as it was, and makes no new mistakes.

#include "tests/files.h"
#include "tests/ide/refactored.h"

namespace quern::ide {
namespace {

const RefactoringRow kRewriteRows[] = {
    {"/// A loss.\ndef @loss(%x: float32) -> float32 { %x * %x }\nlet %g = gr$0ad(@loss)(3f);\n%g",
     "write `grad(@loss)` out",
     "/// A loss.\ndef @loss(%x: float32) -> float32 { %x * %x }\n"
     "def @grad_loss(%x: float32) -> (float32,) {\n  let %d_x: float32 = [.._ < ()] => 1f * %x + 1f * %x;\n"
     "  (%d_x,)\n}\n\nlet %g = @grad_loss(3f);\n%g"},
    {"let %g = gr$0ad(fn (%x: float32) { %x })(3f);\n%g", "write `grad(@loss)` out", kNotOffered},
    {"let %g = gr$0ad(@nothing)(3f);\n%g", "write `grad(@nothing)` out", kNotOffered},
    {"def @f[n](%x: Tensor[(n, 256), float32], %w: Tensor[(128, 256), float32], %b: Tensor[(128,), float32]) "
     "{\n"
     "  [|nn.relu(nn.dense(%x, %w) + %b)|]\n}",
     "fuse into one index expression",
     "def @f[n](%x: Tensor[(n, 256), float32], %w: Tensor[(128, 256), float32], %b: Tensor[(128,), float32]) "
     "{\n"
     "  [i0 < n, i1 < 128] => max(0f, sum[r < 256] %x[i0, r] * %w[i1, r] + %b[i1])\n}"},
    {"def @f[i0](%x: Tensor[(i0,), float32]) { [|exp(%x * 2f)|] + 1f }", "fuse into one index expression",
     "def @f[i0](%x: Tensor[(i0,), float32]) { ([i0_1 < i0] => exp(%x[i0_1] * 2f)) + 1f }"},
    {"def @f(%x: Tensor[(3, 4), float32]) { [|nn.softmax(exp(%x))|] }", "fuse into one index expression",
     kNotOffered},
    {"def @f(%x: Tensor[(3,), float32]) { [|exp(%x)|] }", "fuse into one index expression", kNotOffered},
    {"let %x$0 = 1;\n\nlet %y = 2;", "write every type of the file",
     "let %x: int32 = 1;\n\nlet %y: int32 = 2;"},
    {"let %x$0 = 1;", "write every type of the file", kNotOffered},
    {"let %x$0 = 1f; exp(%x)", "write the schedule of `exp`", kNotOffered},
};

TEST(Rewrite, Table) {
  for (const RefactoringRow& row : kRewriteRows) expect_row(row);
}

// Its numbers are the machine's.
TEST(Rewrite, ScheduleOfACall) {
  const std::string text =
      "// 😀\r\ndef @f(%x: Tensor[(64, 256), float32], %w: Tensor[(128, 256), float32]) {\r\n"
      "  nn.relu(nn.dense(%x, %w))\r\n}\r\n";
  Refactored document(text);
  const auto at = static_cast<uint32_t>(text.find("dense"));
  const std::string after = document.after({at, at}, "write the schedule of `nn.dense`");
  const size_t begin = after.find("nn.relu((nn.dense(%x, %w) schedule {\r\n    "),
               end = after.find("\r\n  }))\r\n}");
  EXPECT_NE(begin, std::string::npos) << after;
  EXPECT_NE(end, std::string::npos) << after;
  Refactored again(after);
  EXPECT_FALSE(has_errors(again.session().check(again.source()))) << after;
  EXPECT_EQ(again.after({at, at}, "write the schedule of `nn.dense`"), "");
}

TEST(Rewrite, TextsWithMistakes) {
  Session session;
  for (const std::string& file : relay_files({"tests/golden/diagnostics"})) {
    SCOPED_TRACE(file);
    const std::string text = read_file(QUERN_SOURCE_DIR "/" + file);
    const SourceId source = session.add_source(session.make_module(), file, text);
    KnownHints hints;
    const RefactoringContext context{hints, nullptr};
    const size_t mistakes = count_errors(session, source);
    const auto size = static_cast<uint32_t>(text.size());
    for (uint32_t at = 0; at <= size; at += size / 5 + 1)
      for (const Range range : {Range{at, at}, Range{at, std::min(size, at + size / 7)}, Range{0, size}}) {
        const SelectedRange selected{source, range};
        for (const Refactoring& one : refactorings(session, selected, context, [](auto) { return true; })) {
          const auto edits = edits_of(session, selected, context, one.name, one.title);
          ASSERT_EQ(session.text(source), text) << one.title;
          if (!edits) continue;
          // What an added arm is to give is for somebody to write.
          const std::string ignored = one.name == "add missing arms" ? "%todo" : "";
          with_text(session, source, edited(text, *edits), [&] {
            EXPECT_LE(count_errors(session, source, ignored), mistakes) << one.title << "\n"
                                                                        << session.text(source);
          });
        }
      }
  }
}

}  // namespace
}  // namespace quern::ide
