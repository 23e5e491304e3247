// docs/repl.md has every key, setting and command of the prompt.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "repl/commands/commands.h"
#include "repl/editor/editor.h"
#include "repl/settings/settings.h"
#include "tests/files.h"

namespace quern {
namespace {

using testing::HasSubstr;

class DocumentationOfThePrompt : public testing::Test {
 protected:
  const std::string page_ = read_file(QUERN_SOURCE_DIR "/docs/repl.md");
};

/// A text with `to` wherever `from` stands.
std::string with(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool is_there = text.substr(at).starts_with(from);
    out += is_there ? to : text.substr(at, 1);
    at += is_there ? from.size() : 1;
  }
  return out;
}

TEST_F(DocumentationOfThePrompt, HasEveryKey) {
  for (const editor::Binding& binding : editor::bindings())
    EXPECT_THAT(page_,
                HasSubstr(fmt::format("| `{}` | {} |\n", with(binding.keys, ", ", "`, `"), binding.help)));
}

TEST_F(DocumentationOfThePrompt, HasEverySetting) {
  for (const Setting& setting : all_settings())
    EXPECT_THAT(page_, HasSubstr(fmt::format("| `{}` | {} | {} |\n", setting.name, values_text(setting),
                                             setting.help)));
}

TEST_F(DocumentationOfThePrompt, HasEveryCommand) {
  for (const ReplCommand& command : repl_commands()) {
    const std::string head = fmt::format("{} {}", command.name, command.arguments);
    EXPECT_THAT(page_, HasSubstr(fmt::format("| `{}` | {} |\n",
                                             with(head.substr(0, head.find_last_not_of(' ') + 1), "|", "\\|"),
                                             command.help)));
  }
}

}  // namespace
}  // namespace quern
