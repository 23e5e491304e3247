#pragma once
// Messages between a language server and the prompts that attach to it, as JSON-RPC notifications.
//
//     quern/attach  the prompt's first message: the token of the socket
//     quern/texts   the server: texts of open documents that are new or changed, and paths of those closed
//     quern/values  the prompt: what the statements of a file, or of an input, evaluated to

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ide/evaluation.h"

namespace quern::lsp {

struct OpenTexts {
  std::map<std::string, std::string> changed;  ///< by path
  std::vector<std::string> closed;
};
struct ValuesOfFile {
  /// The text that was evaluated, and the path of its file: "" for what was typed, of which a part without a value was
  /// taken back.
  std::string path, text;
  ide::Evaluation evaluation;
};

std::string encode_attach(std::string_view token);
std::string encode(const OpenTexts& texts);
std::string encode(const ValuesOfFile& values);

/// Nothing for any other message.
std::optional<std::string> decode_attach(std::string_view message);
std::optional<OpenTexts> decode_texts(std::string_view message);
std::optional<ValuesOfFile> decode_values(std::string_view message);

}  // namespace quern::lsp
