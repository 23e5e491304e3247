#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "session/db/database.h"
#include "session/db/owned_bytes.h"

namespace quern {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Mentions : public testing::Test {
 protected:
  /// The declarations that mention a definition, by where they stand.
  std::vector<uint32_t> of(const std::string& name) {
    std::vector<uint32_t> places;
    const auto& all = db_.mentioned_by(module_);
    if (auto found = all.find(name); found != all.end())
      for (DeclarationId id : found->second) places.push_back(db_.index_of[id]);
    return places;
  }

  Database db_;
  ModuleId library_ = db_.make_module();  // the first one, whose text does not change
  ModuleId module_ = db_.make_module();
  SourceId source_ =
      db_.add_source(module_, "a.relay", "def @a() { 1 }\ndef @b() { @a() + @a() }\n@a() + @b()", "", "");
};

TEST_F(Mentions, AreInTheOrderOfTheText) {
  EXPECT_THAT(of("a"), ElementsAre(1, 2));
  EXPECT_THAT(of("b"), ElementsAre(2));
  EXPECT_THAT(of("c"), IsEmpty());
}

TEST_F(Mentions, FollowEdits) {
  EXPECT_THAT(of("b"), ElementsAre(2));
  db_.set_text(source_, "def @a() { @c() }\ndef @b() { 2 }\n@a() + @b();\n@b()");
  EXPECT_THAT(of("a"), ElementsAre(2));
  EXPECT_THAT(of("b"), ElementsAre(2, 3));
  EXPECT_THAT(of("c"), ElementsAre(0));
}

}  // namespace
}  // namespace quern
