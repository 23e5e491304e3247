// What is told of long work while it goes on.

#include "repl/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "ir/base/counted_work.h"
#include "ir/io/data_files.h"
#include "tests/repl/editor/screen_session.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

CountedWork::State state(std::string name, uint64_t done, uint64_t all,
                         CountedWork::Unit unit = CountedWork::Unit::Steps) {
  return {.name = std::move(name), .unit = unit, .done = done, .all = all};
}

TEST(Progress, HasARateAndTheTimeLeftWhereTheCountIsKnown) {
  EXPECT_EQ(progress_text(state("rounds", 45, 300), 1500ms), "rounds  45 of 300  15 %  30/s  8.50 s left");
  EXPECT_EQ(progress_text(state("rounds", 0, 300), 1500ms), "rounds");
  EXPECT_EQ(progress_text(state("rounds", 300, 300), 3s), "rounds  300 of 300  100 %  100/s");
  EXPECT_EQ(progress_text(state("rounds", 1500, 12345), 3500ms),
            "rounds  1500 of 12345  12 %  429/s  25.3 s left");
  EXPECT_EQ(progress_text(state("elements", 50, 0), 20s), "elements  50  2.5/s");
  EXPECT_EQ(progress_text(state("compiling kernel 3: dense", 0, 0), 2s), "compiling kernel 3: dense");
  EXPECT_EQ(progress_text(
                state("reading a.npz", uint64_t{1} << 30, uint64_t{1} << 32, CountedWork::Unit::Bytes), 2s),
            "reading a.npz  1.0 GiB of 4.0 GiB  25 %  512.0 MiB/s  6.00 s left");
  EXPECT_EQ(progress_text(state("", 5, 0), 2s), "");
  EXPECT_EQ(progress_text(state("", 5, 10), 2s), "5 of 10  50 %  2.5/s  2.00 s left");
}

TEST(CountedWork, IsWhatTheProgramReportsWhereNothingInsideHasAName) {
  {
    const CountedWork running;
    CountedWork::report("loss 1.0", 10, 100);
    CountedWork::report("loss 0.5", 30, 100);
    // A run that goes on at step 10 has not done these ten.
    EXPECT_EQ(progress_text(*CountedWork::innermost(), 2s), "loss 0.5  30 of 100  30 %  10/s  7.00 s left");
    {
      const CountedWork reading("reading", 1);
      EXPECT_EQ(CountedWork::innermost()->name, "reading");
    }
    CountedWork::report("again", 5, 100);
    EXPECT_EQ(progress_text(*CountedWork::innermost(), 2s), "again  5 of 100  5 %");
    CountedWork::report("", -3, 0);
    EXPECT_EQ(progress_text(*CountedWork::innermost(), 2s), "");
  }
  CountedWork::report("nobody works", 1, 2);
  const CountedWork next;
  EXPECT_EQ(CountedWork::innermost()->name, "");
}

TEST(CountedWork, IsThatWhichIsInnermost) {
  EXPECT_FALSE(CountedWork::innermost());
  {
    CountedWork outer("outer", 10);
    outer.advance(3);
    EXPECT_EQ(CountedWork::innermost()->name, "outer");
    EXPECT_EQ(CountedWork::innermost()->done, 3U);
    {
      const CountedWork inner("inner", 0);
      EXPECT_EQ(CountedWork::innermost()->name, "inner");
    }
    EXPECT_EQ(CountedWork::innermost()->name, "outer");
    // Bytes are of who counts bytes.
    CountedWork::advance_bytes(100);
    EXPECT_EQ(CountedWork::innermost()->done, 3U);
  }
  EXPECT_FALSE(CountedWork::innermost());
}

TEST(CountedWork, OfReadingATensorIsItsBytes) {
  const TemporaryFolder folder;
  const std::string path = (folder / "large.npy").string();
  // Bools are read and not mapped.
  const TensorPtr large = HostTensor::zeros(DType::boolean(), {24'000'000});
  ASSERT_TRUE(write_tensors(path, {{"", large}}));
  const CountedWork work("reading", large->bytes(), CountedWork::Unit::Bytes);
  ASSERT_TRUE(read_tensors(path));
  // The file has a header beside them.
  EXPECT_GE(CountedWork::innermost()->done, large->bytes());
  EXPECT_LT(CountedWork::innermost()->done, large->bytes() + 1000);
}

class ProgressAtThePrompt : public testing::Test {
 protected:
  static constexpr const char* kLong = ":bench sum([i < 20000, j < 1000] => sin(cast<float32>(i * j)))\r";

  void SetUp() override { ASSERT_TRUE(session_.wait_for_prompt()); }
  bool shows_progress() {
    return session_.wait_until(
        [&](const std::string&) { return session_.received().find(" left") != std::string::npos; });
  }
  editor::ScreenSession session_{"/tmp", "off", 80, 24};
};

TEST_F(ProgressAtThePrompt, IsALineThatGoesAway) {
  session_.type(kLong);
  ASSERT_TRUE(shows_progress()) << session_.received();
  ASSERT_TRUE(session_.wait_for("rounds in turns"));
  ASSERT_TRUE(session_.wait_for_prompt());
  EXPECT_THAT(session_.screen().text(), Not(HasSubstr(" left")));
  EXPECT_THAT(session_.screen().text(), testing::ContainsRegex("\n +median"));
  // Ten times a second at the most: it takes 1.5 seconds, one half of one without.
  size_t drawn = 0;
  for (size_t at = 0; (at = session_.received().find("\x1b[Krounds", at)) != std::string::npos; ++at) ++drawn;
  EXPECT_GE(drawn, 1U);
  EXPECT_LE(drawn, 60U);
}

TEST_F(ProgressAtThePrompt, EndsWithAnInterrupt) {
  session_.type(kLong);
  ASSERT_TRUE(shows_progress()) << session_.received();
  session_.type("\x03");
  ASSERT_TRUE(session_.wait_for("interrupted"));
  ASSERT_TRUE(session_.wait_for_prompt());
  EXPECT_THAT(session_.screen().text(), Not(HasSubstr(" left")));
  EXPECT_THAT(session_.screen().text(), HasSubstr("\nerror[Q0502]: interrupted\n"));
}

TEST_F(ProgressAtThePrompt, IsNotForShortWork) {
  session_.type("1 + 1\r");
  ASSERT_TRUE(session_.wait_for("int32 2"));
  ASSERT_TRUE(session_.wait_for_prompt());
  EXPECT_THAT(session_.received(), Not(HasSubstr("\r\x1b[K")));
}

}  // namespace
}  // namespace quern
