// Settings in files: what they set, and what is said of what they cannot.

#include "repl/settings/settings_file.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "tests/repl/terminal.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

TEST(SettingsFile, SetsWhatItNames) {
  Settings settings;
  EXPECT_TRUE(
      read_settings("# Of mine.\nprecision = 4\ntiming = true\nwidth = 60\n", "f.toml", settings).empty());
  EXPECT_EQ(settings.precision, 4);
  EXPECT_TRUE(settings.timing);
  EXPECT_EQ(settings.width, 60);
  EXPECT_TRUE(read_settings("pictures = \"sixel\"", "f.toml", settings).empty());
  EXPECT_EQ(settings.pictures, "sixel");
  EXPECT_EQ(settings.threshold, Settings().threshold);
  EXPECT_EQ(origin_text(settings, *find_setting("precision")), "f.toml:2");
  EXPECT_EQ(origin_text(settings, *find_setting("timing")), "f.toml:3");
  EXPECT_EQ(origin_text(settings, *find_setting("threshold")), "default");
  // The later file counts.
  EXPECT_TRUE(read_settings("precision = 5", "g.toml", settings).empty());
  EXPECT_EQ(settings.precision, 5);
  EXPECT_EQ(origin_text(settings, *find_setting("precision")), "g.toml:1");
}

TEST(SettingsFile, TellsWhatIsWrongWithItsPlace) {
  const struct {
    std::string text;
    std::vector<std::string> told;
  } table[] = {
      {"", {}},
      {"treshold = 4", {"f.toml:1:1: there is no setting `treshold`; did you mean `threshold`?"}},
      {"\n  fancy = 1",
       {"f.toml:2:3: there is no setting `fancy`; they are precision, threshold, width, timing, colour, "
        "pictures"}},
      {"precision = 18", {"f.toml:1:1: `precision` is a number from 0 to 17, not `18`"}},
      {"precision = -1", {"f.toml:1:1: `precision` is a number from 0 to 17, not `-1`"}},
      {"precision = 2.5", {"f.toml:1:1: `precision` is a number from 0 to 17, not `2.5`"}},
      {"precision = \"4\"", {"f.toml:1:1: `precision` is a number from 0 to 17, not `\"4\"`"}},
      {"precision = true", {"f.toml:1:1: `precision` is a number from 0 to 17, not `true`"}},
      {"precision = [4]", {"f.toml:1:1: `precision` is a number from 0 to 17, not an array"}},
      {"precision = 1979-05-27", {"f.toml:1:1: `precision` is a number from 0 to 17, not a date or a time"}},
      {"timing = 1", {"f.toml:1:1: `timing` is `true` or `false`, not `1`"}},
      {"timing = \"on\"", {"f.toml:1:1: `timing` is `true` or `false`, not `\"on\"`"}},
      {"timing.much = true", {"f.toml:1:1: `timing` is `true` or `false`, not a table"}},
      {"[prompt]\nwidth = 3",
       {"f.toml:1:2: there is no setting `prompt`; they are precision, threshold, width, timing, colour, "
        "pictures"}},
      {"pictures = \"art\"", {"f.toml:1:1: `pictures` is auto, blocks, sixel or kitty, not `\"art\"`"}},
      {"pictures = 1", {"f.toml:1:1: `pictures` is auto, blocks, sixel or kitty, not `1`"}},
      {"width = 9\ncolor = true\ntiming = 0",
       {"f.toml:2:1: there is no setting `color`; did you mean `colour`?",
        "f.toml:3:1: `timing` is `true` or `false`, not `0`"}},
  };
  for (const auto& [text, told] : table) {
    Settings settings;
    EXPECT_EQ(read_settings(text, "f.toml", settings), told) << text;
    EXPECT_EQ(settings.width, text.starts_with("width") ? 9 : 0);
  }
  // In TOML's own words.
  for (const std::string text :
       {"width", "width = ", "width = 3 4", "timing = on", "width = 1\nwidth = 2", "\xff"}) {
    Settings settings;
    const auto told = read_settings(text, "f.toml", settings);
    ASSERT_EQ(told.size(), 1U) << text;
    EXPECT_TRUE(told[0].starts_with(text.find('\n') == std::string::npos ? "f.toml:1:" : "f.toml:2:"))
        << told[0];
    EXPECT_TRUE(settings.set_by.empty());
  }
}

TEST(SettingsFile, TheUsersComesBeforeTheProjects) {
  const TemporaryFolder config, work;
  std::filesystem::create_directory(config.path() / "quern");
  std::ofstream(config.path() / "quern" / "config.toml") << "precision = 2\nthreshold = 7\n";
  std::ofstream(work.path() / "quern.toml") << "precision = 4\nfoo = 1\n";
  setenv("XDG_CONFIG_HOME", config.path().c_str(), 1);
  Terminal terminal(QUERN_BINARY, work.path().string());
  unsetenv("XDG_CONFIG_HOME");
  const std::string greeting = terminal.read_to_prompt();
  EXPECT_NE(greeting.find("quern.toml:2:1: there is no setting `foo`"), std::string::npos) << greeting;
  terminal.type(":set\n");
  const std::string shown = terminal.read_to_prompt();
  EXPECT_NE(shown.find("precision  4     quern.toml:1"), std::string::npos) << shown;
  EXPECT_NE(shown.find("threshold  7     " + (config.path() / "quern" / "config.toml:2").string()),
            std::string::npos)
      << shown;
  terminal.type("1.0 / 3.0\n");
  EXPECT_NE(terminal.read_to_prompt().find("float32 0.3333\n"), std::string::npos);
}

}  // namespace
}  // namespace quern
