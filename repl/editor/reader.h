#pragma once
// Inputs from a terminal, through the editor.

#include <deque>
#include <optional>
#include <string>

#include "repl/editor/editor.h"
#include "repl/editor/terminal.h"

namespace quern::editor {

class Reader {
 public:
  Reader(int in, int out, Assistant& assistant, History& history, Colours colours);

  /// The next input that is not blank; nothing at the end. Between inputs, Ctrl-C sends SIGINT.
  std::optional<std::string> next();
  /// Sets the initial text of the next input.
  void prefill(std::string text) { prefilled_ = std::move(text); }

 private:
  void fill();
  void resize();
  /// Whether the input has ended.
  bool take(const Key& key);

  Terminal terminal_;
  History& history_;
  Editor editor_;
  KeyDecoder decoder_;
  std::deque<Key> keys_;  ///< not processed yet
  std::string prefilled_;
  bool ended_ = false;
};

}  // namespace quern::editor
