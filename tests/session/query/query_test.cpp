#include "session/query/define_query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>

#include "ir/dim/arena.h"

namespace quern {
namespace {

// text -> length -> is it even: three layers, so that a change of the text that keeps the length cuts off.
struct ByNumber : KeySpace<int> {};

struct Layers : Tables {
  Input<ByNumber, std::string> text{*this, "texts"};
  Query<ByNumber, size_t> length{*this, "length", &Layers::count, std::equal_to<>()};
  Query<ByNumber, bool> even{*this, "even", &Layers::is_even, std::equal_to<>()};

  size_t count(int k) { return text.get(k).size(); }
  bool is_even(int k) { return length(k) % 2 == 0; }
};

TEST(Query, ComputesOnceUntilAnInputChanges) {
  Layers q;
  q.text.set(1, "ab");
  EXPECT_TRUE(q.even(1));
  EXPECT_TRUE(q.even(1));
  EXPECT_EQ(q.engine.computed["even"], 1u);
  q.text.set(1, "abc");
  EXPECT_FALSE(q.even(1));
  EXPECT_EQ(q.engine.computed["even"], 2u);
}

TEST(Query, CutsOffWhereARecomputedValueIsEqual) {
  Layers q;
  q.text.set(1, "ab");
  q.even(1);
  q.text.set(1, "cd");
  EXPECT_TRUE(q.even(1));
  EXPECT_EQ(q.engine.computed["length"], 2u);
  EXPECT_EQ(q.engine.computed["even"], 1u);
}

struct Named : Tables {
  const MemoryRow of_names{*this, "names"};
  InternTable<ByNumber, std::string> names{*this, "names"};
};

TEST(InternTable, KeepsTheFirstValueOfAKeyUntilItIsDropped) {
  Named q;
  EXPECT_EQ(q.names.find(1), nullptr);
  q.names.intern(1, "one");
  q.names.intern(1, "another");
  q.names.intern(2, std::string(1000, 'a'));
  ASSERT_NE(q.names.find(1), nullptr);
  EXPECT_EQ(*q.names.find(1), "one");
  EXPECT_EQ(q.names.size(), 2u);
  ASSERT_EQ(q.memory().size(), 1u);
  EXPECT_GE(q.memory()[0].bytes, 1000u);
  q.drop<ByNumber>(2);
  EXPECT_EQ(q.names.find(2), nullptr);
  EXPECT_LT(q.memory()[0].bytes, 1000u);
}

TEST(Query, AnotherKeysInputIsNoDependency) {
  Layers q;
  q.text.set(1, "ab");
  q.text.set(2, "abc");
  q.even(1);
  q.even(2);
  q.text.set(2, "abcd");
  q.even(1);
  EXPECT_EQ(q.engine.computed["length"], 2u);
  EXPECT_TRUE(q.even(2));
  EXPECT_EQ(q.engine.computed["length"], 3u);
}

TEST(Query, SettingAnEqualInputChangesNothing) {
  Layers q;
  q.text.set(1, "ab");
  q.even(1);
  uint64_t before = q.engine.revision();
  q.text.set(1, "ab");
  EXPECT_EQ(q.engine.revision(), before);
}

TEST(Query, TellsOnceWhatMayBeOutOfDate) {
  Layers q;
  std::vector<int> told;
  q.even.when_outdated([&](int k) { told.push_back(k); });
  for (const int k : {1, 2}) {
    q.text.set(k, "ab");
    q.even(k);
  }
  EXPECT_TRUE(told.empty());
  q.text.set(2, "abc");
  q.text.set(2, "abcd");
  EXPECT_THAT(told, testing::ElementsAre(2));
  q.even(2);
  q.text.set(2, "abc");
  EXPECT_THAT(told, testing::ElementsAre(2, 2));
}

TEST(Query, AQueryThatAsksForItselfGetsAnEmptyValue) {
  Tables tables;
  Query<ByNumber, std::string>* self = nullptr;
  Query<ByNumber, std::string> circular(tables, "circular", [&](int k) { return "(" + (*self)(k) + ")"; });
  self = &circular;
  EXPECT_EQ(circular(1), "()");
}

TEST(Query, AnEmptyValueItIsAlsoWhereAnInputHasChanged) {
  Tables tables;
  Input<ByNumber, std::string> text{tables, "texts"};
  Query<ByNumber, std::string>* self = nullptr;
  Query<ByNumber, std::string> circular(tables, "circular",
                                        [&](int k) { return text.get(k) + "(" + (*self)(k) + ")"; });
  self = &circular;
  text.set(1, "a");
  EXPECT_EQ(circular(1), "a()");
  text.set(1, "b");
  EXPECT_EQ(circular(1), "b()");
}

// What a query keeps outlives the computation that asked for it.
TEST(Query, MakesItsDimsOutsideOfTheArenaOfWhoAsks) {
  Tables tables;
  Query<ByNumber, bool> in_arena(tables, "in_arena", [](int) { return bool(dim_var("n")->in_arena); });
  DimArena arena;
  const DimArena::Use use(arena);
  EXPECT_FALSE(in_arena(1));
  EXPECT_TRUE(dim_var("n")->in_arena);
}

// A bug in a computation: who asked for it is told, and asking again computes it again.
TEST(Query, KeepsWhatIsAskedForAgainAndAsMuchOfTheRest) {
  constexpr int kAgain = 20, kTurns = 2000;
  Layers q;
  q.length.keeping(8, 4, true);
  size_t most = 0;
  for (int turn = 1; turn <= kTurns; ++turn) {
    q.text.set(0, std::to_string(turn));
    for (int k = 1; k <= kAgain; ++k) q.length(k);
    q.length(kAgain + turn);
    q.bound();
    most = std::max(most, q.length.size());
  }
  EXPECT_LE(most, 3 * kAgain + 1u);
  EXPECT_EQ(q.engine.computed["length"], size_t{kAgain + kTurns});
}

TEST(Query, AComputationThatFailsIsDoneAgain) {
  Tables tables;
  Input<ByNumber, int> number(tables, "number");
  Query<ByNumber, int> checked(tables, "checked", [&](int k) {
    QUERN_CHECK(number.get(k) != 0);
    return number.get(k);
  });
  Query<ByNumber, int> doubled(
      tables, "doubled", [&](int k) { return 2 * checked(k); }, std::equal_to<>());
  tables.set_subject<ByNumber>([](int) { return Subject{7, "@seven"}; });
  number.set(1, 3);
  EXPECT_EQ(doubled(1), 6);
  number.set(1, 0);
  for (int times = 0; times < 2; ++times) {
    auto bug = failure_of([&] { doubled(1); });
    ASSERT_TRUE(bug);
    EXPECT_EQ(bug->stage, "checked");
    EXPECT_EQ(bug->origin.declaration, 7u);
    EXPECT_THAT(bug->what(),
                testing::StartsWith("`number.get(k) != 0` does not hold, in the stage `checked` of `@seven` "
                                    "(tests/session/query/query_test.cpp:"));
    EXPECT_TRUE(tables.engine.idle());
  }
  number.set(1, 4);
  EXPECT_EQ(doubled(1), 8);
}

TEST(Query, DependenciesAreThoseOfTheLastRun) {
  Tables tables;
  Input<ByNumber, int> number(tables, "number");
  number.set(0, 1);
  number.set(1, 10);
  number.set(2, 20);
  Query<ByNumber, int> chosen(
      tables, "chosen", [&](int) { return number.get(number.get(0)); }, std::equal_to<>());
  EXPECT_EQ(chosen(0), 10);
  number.set(0, 2);
  EXPECT_EQ(chosen(0), 20);
  number.set(1, 11);  // not read any more
  chosen(0);
  EXPECT_EQ(tables.engine.computed["chosen"], 2u);
}

// A file whose reading is cancelled is read again.
TEST(Query, ALoadThatIsCancelledIsNotKept) {
  struct Loaded : Tables {
    Input<ByNumber, std::string> file{*this, "files", [this](int) {
                                        ++loads;
                                        return std::string(is_interrupted() ? "a part" : "the whole");
                                      }};
    Query<ByNumber, size_t> length{*this, "length", &Loaded::count, std::equal_to<>()};
    size_t count(int k) { return file.get(k).size(); }
    int loads = 0;
  } q;
  std::atomic<bool> stop = true;
  {
    const CancellableWork work(q.engine, &stop);
    EXPECT_EQ(q.length(1), std::string("a part").size());
  }
  EXPECT_EQ(q.file.size(), 0U);
  EXPECT_EQ(q.length(1), std::string("the whole").size());
  EXPECT_EQ(q.file.get(1), "the whole");
  EXPECT_EQ(q.loads, 2);
}

// What polls the process's interrupt stops by the flag of the work that asked for it, on its thread alone.
TEST(Query, CancellableWorkStopsItsThread) {
  Tables q;
  std::atomic<bool> stop = false;
  {
    const CancellableWork work(q.engine, &stop);
    EXPECT_FALSE(is_interrupted());
    stop = true;
    EXPECT_TRUE(is_interrupted());
    bool other = true;
    std::thread([&other] { other = is_interrupted(); }).join();
    EXPECT_FALSE(other);
    const CancellableWork inner(q.engine, nullptr);
    EXPECT_TRUE(is_interrupted());
  }
  EXPECT_FALSE(is_interrupted());
}

}  // namespace
}  // namespace quern
