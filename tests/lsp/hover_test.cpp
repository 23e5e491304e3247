// Hover on fixtures: each tests/lsp/hover/*.relay is a text with markers `$0`, `$1`, … and, in lines that are
// not part of the text, what hovering there shows:
//
//     //$0 %x => Tensor[(2, 3), float32]      the text that the hover is about => a part of its Markdown
//     //$1 nothing
//
// Each is tried with every encoding and every end of line.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lsp/positions.h"
#include "tests/lsp/client.h"

namespace quern::lsp_test {
namespace {

using lsp::PositionEncoding;
using lsp::Positions;
using nlohmann::json;

struct Expected {
  std::string about, markdown;
};
struct Fixture {
  std::string text;
  std::map<char, uint32_t> markers;                             ///< offsets in the text
  std::vector<std::pair<char, std::optional<Expected>>> table;  ///< no value: nothing is shown
};

void add_expectation(Fixture& fixture, const std::string& line) {
  constexpr std::string_view kArrow = " => ";
  std::string rest = line.substr(5);
  size_t arrow = rest.find(kArrow);
  std::optional<Expected> expected;
  if (rest != "nothing")
    expected = Expected{rest.substr(0, arrow),
                        arrow == std::string::npos ? "?" : rest.substr(arrow + kArrow.size())};
  fixture.table.emplace_back(line[3], expected);
}

Fixture read_fixture(const std::filesystem::path& path, const std::string& end_of_line) {
  Fixture fixture;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("//$")) {
      add_expectation(fixture, line);
      continue;
    }
    for (size_t i = 0; i < line.size(); ++i) {
      if (line[i] == '$' && i + 1 < line.size() && std::isdigit(static_cast<unsigned char>(line[i + 1])))
        fixture.markers[line[++i]] = static_cast<uint32_t>(fixture.text.size());
      else
        fixture.text += line[i];
    }
    fixture.text += end_of_line;
  }
  return fixture;
}

void check_fixture(const std::filesystem::path& path, PositionEncoding encoding,
                   const std::string& end_of_line) {
  Fixture fixture = read_fixture(path, end_of_line);
  ASSERT_FALSE(fixture.table.empty());
  const std::string uri = "file://" + path.string();
  Positions positions(fixture.text, encoding);
  Client<json> client;
  client.initialize({{"general", {{"positionEncodings", {name_of(encoding)}}}}});
  client.open(uri, 1, fixture.text);
  for (auto& [marker, expected] : fixture.table) {
    SCOPED_TRACE(std::string("$") + marker);
    ASSERT_TRUE(fixture.markers.contains(marker));
    lsp::Position at = positions.position(fixture.markers[marker]);
    json found = client.hover(uri, static_cast<int>(at.line), static_cast<int>(at.character));
    ASSERT_EQ(found.is_null(), !expected) << found;
    if (!expected) continue;
    EXPECT_EQ(found["contents"]["kind"], "markdown");
    EXPECT_THAT(found["contents"]["value"].get<std::string>(), ::testing::HasSubstr(expected->markdown));
    auto offset = [&](const json& p) { return positions.offset({p["line"], p["character"]}); };
    uint32_t begin = offset(found["range"]["start"]), end = offset(found["range"]["end"]);
    EXPECT_EQ(fixture.text.substr(begin, end - begin), expected->about);
  }
}

std::vector<std::filesystem::path> fixtures() {
  std::vector<std::filesystem::path> paths;
  for (auto& entry : std::filesystem::directory_iterator(QUERN_SOURCE_DIR "/tests/lsp/hover"))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

class Hover : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(Hover, ShowsWhatTheFixtureSays) {
  for (auto encoding : {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32}) {
    for (const std::string end : {"\n", "\r\n", "\r"}) {
      SCOPED_TRACE(std::string(name_of(encoding)) + ", a line ends with " + json(end).dump());
      check_fixture(GetParam(), encoding, end);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, Hover, ::testing::ValuesIn(fixtures()),
                         [](const auto& fixture) { return fixture.param.stem().string(); });

}  // namespace
}  // namespace quern::lsp_test
