// Models of real size in the text that TVM prints (tests/models/make_models.py): each is read without a
// diagnostic, and every type in its comments is the one that inference finds.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <map>
#include <regex>
#include <sstream>

#include "frontend/text/render.h"
#include "session/session.h"
#include "tests/files.h"

namespace quern {
namespace {

// A type as TVM writes it, `Tensor[(64), float32]`, as Quern writes it.
std::string as_printed(const std::string& type) {
  return std::regex_replace(type, std::regex(R"(\[\((\d+)\), )"), "[($1,), ");
}

/// The types that comments give graph variables: `%3 = … /* ty=Tensor[(1, 64), float32] */;`.
std::map<std::string, std::string> commented_types(const std::string& text) {
  std::map<std::string, std::string> types;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    size_t equals = line.find(" = "), comment = line.rfind("/* ty="), end = line.rfind(" */;");
    bool binds =
        line.starts_with("  %") && equals != std::string::npos && !line.substr(equals + 3).starts_with("(");
    if (binds && comment != std::string::npos && end != std::string::npos && end > comment)
      types[line.substr(3, equals - 3)] = as_printed(line.substr(comment + 6, end - comment - 6));
  }
  return types;
}

class Models : public testing::TestWithParam<std::string> {};

TEST_P(Models, HaveTheTypesThatTheirCommentsSay) {
  const std::string path = QUERN_SOURCE_DIR "/" + GetParam(), text = read_file(path);
  Session session;
  SourceId source = session.open_file(path, text);
  auto begin = std::chrono::steady_clock::now();
  std::vector<LocatedDiagnostic> found = session.check(source);
  auto milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  RecordProperty("check_ms", fmt::format("{:.1f}", milliseconds));
  fmt::print("{}: {} lines, checked in {:.1f} ms\n", std::filesystem::path(GetParam()).stem().string(),
             std::count(text.begin(), text.end(), '\n'), milliseconds);
  for (const LocatedDiagnostic& d : found) ADD_FAILURE() << render_terminal(d, false);
  const Definition* main = session.definition(session.module_of(source), "main");
  ASSERT_TRUE(main);
  std::map<std::string, std::string> wanted = commented_types(text);
  size_t compared = 0;
  auto* block = as<BlockExpr>(as<FnExpr>(main->body)->body);
  ASSERT_TRUE(block);
  for (const Binding& binding : block->bindings) {
    auto known = wanted.find(std::string(binding.variable->name));
    if (known == wanted.end()) continue;
    EXPECT_EQ(to_string(binding.variable->type), known->second) << "%" << known->first;
    ++compared;
  }
  EXPECT_EQ(compared, wanted.size());
  EXPECT_GE(compared, 10u);
}

INSTANTIATE_TEST_SUITE_P(Files, Models, testing::ValuesIn(relay_files({"tests/models"})),
                         [](const auto& info) { return std::filesystem::path(info.param).stem().string(); });

TEST(ModelFiles, AreAtLeastTwenty) { EXPECT_GE(relay_files({"tests/models"}).size(), 20u); }

}  // namespace
}  // namespace quern
