// Each pass has goldens of its own, in a folder of its name.

#include "passes/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

namespace quern {
namespace {

TEST(Pipeline, EachPassHasGoldens) {
  std::set<std::string> passes, folders;
  for (const Pass& pass : pipeline()) passes.emplace(pass.name);
  for (const Pass& pass : passes_on_demand()) passes.emplace(pass.name);
  namespace fs = std::filesystem;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / "tests/golden/passes"))
    if (entry.path().extension() == ".out") folders.insert(entry.path().parent_path().filename());
  EXPECT_THAT(folders, testing::ContainerEq(passes));
}

}  // namespace
}  // namespace quern
