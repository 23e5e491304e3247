#include "session/snapshot.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "session/session.h"

namespace quern {
namespace {

std::string text_with(int number) {
  std::string text;
  for (int i = 0; i < 40; ++i)
    text +=
        fmt::format("def @f{}[n](%x: Tensor[({}, n), float32]) {{ nn.relu(%x) * {}f }}\n", i, i + 1, number);
  return text + fmt::format("let %last = zeros(({}, 2));\n", number);
}

/// What a reader makes of a snapshot: the text and each type, whole.
size_t read(const Snapshot& snapshot) {
  size_t read = snapshot.text->size();
  for (const DeclarationSnapshot& declared : snapshot.declarations) {
    read += snapshot.text->substr(declared.range.begin, declared.range.end - declared.range.begin).size();
    if (declared.parsed) read += declared.parsed->spans.size();
    if (declared.inferred && declared.inferred->definition.scheme.type)
      read += to_string(declared.inferred->definition.scheme.type).size();
  }
  return read;
}

TEST(SnapshotTest, IsOfItsMoment) {
  Session session;
  const SourceId source = session.add_source(session.make_module(), "a.relay", text_with(2));
  EXPECT_EQ(session.snapshot(source).declarations.size(), 41u);
  EXPECT_EQ(session.snapshot(source).declarations[0].inferred, nullptr) << "nothing was asked for";
  ASSERT_TRUE(session.check(source).empty());
  const Snapshot before = session.snapshot(source);
  ASSERT_TRUE(before.declarations[3].inferred);
  EXPECT_TRUE(before.declarations[3].is_current);
  const std::string type = to_string(before.declarations[3].inferred->definition.scheme.type);
  session.set_text(source, "def @f3(%x: int32) { %x }");
  const Snapshot edited = session.snapshot(source);
  ASSERT_EQ(edited.declarations.size(), 1u);
  EXPECT_FALSE(edited.declarations[0].is_current);
  session.check(source);
  EXPECT_TRUE(session.snapshot(source).declarations[0].is_current);
  EXPECT_EQ(*before.text, text_with(2));
  EXPECT_EQ(to_string(before.declarations[3].inferred->definition.scheme.type), type);
}

// Readers on other threads, while one thread edits and checks.
TEST(SnapshotTest, IsReadOnOtherThreads) {
  Session session;
  const SourceId source = session.add_source(session.make_module(), "a.relay", text_with(1));
  session.check(source);
  std::mutex mutex;
  Snapshot shared = session.snapshot(source);
  std::atomic<bool> done = false;
  std::atomic<size_t> reads = 0;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i)
    readers.emplace_back([&] {
      while (!done) {
        const Snapshot snapshot = [&] {
          std::lock_guard lock(mutex);
          return shared;
        }();
        EXPECT_GT(read(snapshot), snapshot.text->size());
        ++reads;
      }
    });
  for (int number = 2; number < 30 || reads < 100; ++number) {
    session.set_text(source, text_with(number));
    EXPECT_TRUE(session.check(source).empty());
    std::lock_guard lock(mutex);
    shared = session.snapshot(source);
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace quern
