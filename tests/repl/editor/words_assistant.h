#pragma once
// A small language for tests of the editor: words, numbers, brackets, and `+`, which has a right operand.

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>
#include <vector>

#include "repl/editor/assistant.h"

namespace quern::editor {

class WordsAssistant final : public Assistant {
 public:
  bool needs_more(std::string_view text, bool blank_line) override {
    const auto open = std::ranges::count_if(text, [](char c) { return c == '(' || c == '{'; });
    const auto closed = std::ranges::count_if(text, [](char c) { return c == ')' || c == '}'; });
    return open > closed || (!blank_line && text.ends_with('+'));
  }
  std::vector<StyledRange> styles(std::string_view text, size_t) override {
    std::vector<StyledRange> styles;
    for (size_t i = 0; i < text.size(); ++i)
      if (std::isdigit(static_cast<unsigned char>(text[i]))) styles.push_back({i, i + 1, Style::Number});
    return styles;
  }
  Completions complete(std::string_view text, size_t cursor) override {
    size_t begin = cursor;
    while (begin > 0 && (std::isalnum(static_cast<unsigned char>(text[begin - 1])) || text[begin - 1] == '.'))
      --begin;
    Completions found{begin, cursor};
    for (const std::string_view word :
         {"nn.relu", "nn.conv2d", "nn.conv1d", "softmax", "sum", "日本", "日記"})
      if (word.starts_with(text.substr(begin, cursor - begin)))
        found.items.push_back({std::string(word), std::string(word), "fn (Tensor) -> Tensor"});
    return found;
  }
  std::vector<std::string> documentation(size_t item) override { return {"item " + std::to_string(item)}; }
  std::vector<StyledLine> hint(std::string_view text, size_t cursor) override {
    const size_t open = text.substr(0, cursor).rfind('(');
    if (open == std::string_view::npos ||
        text.substr(open, cursor - open).find(')') != std::string_view::npos)
      return {};
    return {{{"call of ", Style::Hint}, {std::string(text.substr(0, open)), Style::Strong}}};
  }
};

}  // namespace quern::editor
