// Variables known by their names.

#include "ir/type/named.h"

#include <gtest/gtest.h>

#include "ir/base/series.h"
#include "ir/dim/arena.h"

namespace quern {
namespace {

TEST(Named, IsOneForEachName) {
  EXPECT_EQ(named_dim("named n"), named_dim("named n"));
  EXPECT_NE(named_dim("named n"), named_dim("named m"));
  EXPECT_EQ(named_type("NamedA"), named_type("NamedA"));
  EXPECT_NE(named_type("NamedA"), named_type("NamedB"));
  EXPECT_EQ(named_dim("named n")->name, "named n");
  EXPECT_EQ(named_type("NamedA")->name, "NamedA");
}

TEST(Named, IsNoneOfAQuery) {
  Series series;
  Dim dim = nullptr;
  Type type = nullptr;
  {
    const Series::Turn turn(series);
    dim = named_dim("in a query");
    type = named_type("InAQuery");
  }
  const Series::Turn again(series);
  EXPECT_NE(dim_var("in a query"), dim);
  EXPECT_NE(type_var("InAQuery"), type);
}

TEST(Named, OutlivesTheArenaInWhichItIsAskedFor) {
  DimArena arena;
  const DimArena::Use use(arena);
  EXPECT_FALSE(named_dim("in an arena")->in_arena);
}

}  // namespace
}  // namespace quern
