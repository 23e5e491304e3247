#pragma once
// The language as the line editor sees it: the answers of ide/ and the table of commands, as styled text.

#include <string>
#include <string_view>
#include <vector>

#include "ide/completion.h"
#include "repl/editor/assistant.h"

namespace quern {

class Workspace;

class LanguageAssistant final : public editor::Assistant {
 public:
  explicit LanguageAssistant(Workspace& workspace) : workspace_(workspace) {}

  bool needs_more(std::string_view text, bool blank_line) override;
  std::vector<editor::StyledRange> styles(std::string_view text, size_t cursor) override;
  editor::Completions complete(std::string_view text, size_t cursor) override;
  std::vector<std::string> documentation(size_t item) override;
  std::vector<editor::StyledLine> hint(std::string_view text, size_t cursor) override;

 private:
  Workspace& workspace_;
  std::vector<ide::CompletionItem> latest_;  ///< the last answer; empty for commands
  std::vector<std::string> commands_help_;   ///< of commands
};

}  // namespace quern
