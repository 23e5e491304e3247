#pragma once
// Documents with a cursor, `$0`, as clients with each encoding and each end of line type them.

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lsp/positions.h"
#include "tests/lsp/client.h"

namespace quern::lsp_test {

/// A document that a client has open, and what it asks about it.
template <class Json>
struct TypedDocument {
  Client<Json>& client;
  lsp::PositionEncoding encoding;
  std::string uri, text;
  uint32_t cursor = 0;  ///< where `$0` was

  Json document() const { return {{"uri", uri}}; }
  Json position(uint32_t offset) const {
    const lsp::Position at = lsp::Positions(text, encoding).position(offset);
    return {{"line", at.line}, {"character", at.character}};
  }
  Json range(uint32_t begin, uint32_t end) const {
    return {{"start", position(begin)}, {"end", position(end)}};
  }
  Range bytes(const Json& range) const {
    const lsp::Positions positions(text, encoding);
    auto offset = [&](const Json& at) { return positions.offset({at.at("line"), at.at("character")}); };
    return {offset(range.at("start")), offset(range.at("end"))};
  }
  std::string at(const Json& range) const {
    const Range where = bytes(range);
    return text.substr(where.begin, where.end - where.begin);
  }
  /// The result of a request about the document; at the cursor, where no other params are given.
  Json ask(std::string_view method, Json params = Json::object()) const {
    params["textDocument"] = document();
    if (params.size() == 1) params["position"] = position(cursor);
    const Json answer = client.call(method, params);
    EXPECT_TRUE(answer.contains("result")) << method << ": " << answer;
    return answer.value("result", Json());
  }
  /// The text after edits that do not touch each other.
  std::string after(const Json& edits) const {
    std::vector<std::pair<Range, std::string>> all;
    for (const Json& edit : edits)
      all.emplace_back(bytes(edit.at("range")), edit.at("newText").template get<std::string>());
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first.begin < b.first.begin; });
    std::string result = text;
    for (auto edit = all.rbegin(); edit != all.rend(); ++edit)
      result.replace(edit->first.begin, edit->first.end - edit->first.begin, edit->second);
    return result;
  }
};

/// A text with other ends of lines.
inline std::string with_ends(std::string_view text, std::string_view end) {
  std::string result;
  for (const char c : text) c == '\n' ? result += end : result += c;
  return result;
}

/// Opens texts as clients of each encoding with each end of line, and calls `check(document, end of line)`.
template <class Json>
class EachClient {
 public:
  explicit EachClient(Json capabilities = Json::object()) : capabilities_(std::move(capabilities)) {}

  void open(const std::vector<std::string>& texts,
            const std::function<void(const TypedDocument<Json>&, size_t, const std::string&)>& check) const {
    using lsp::PositionEncoding;
    for (const auto encoding : {PositionEncoding::Utf8, PositionEncoding::Utf16, PositionEncoding::Utf32})
      for (const std::string end : {"\n", "\r\n", "\r"}) {
        SCOPED_TRACE(std::string(name_of(encoding)) + ", a line ends with " + Json(end).dump());
        Json capabilities = capabilities_;
        capabilities["general"]["positionEncodings"] = Json::array({name_of(encoding)});
        Client<Json> client;
        client.initialize(capabilities);
        for (size_t i = 0; i < texts.size(); ++i) {
          SCOPED_TRACE(texts[i]);
          std::string text = with_ends(texts[i], end);
          const size_t cursor = text.find("$0");
          if (cursor != std::string::npos) text.erase(cursor, 2);
          TypedDocument<Json> document{client, encoding, "untitled:" + std::to_string(i), text,
                                       cursor == std::string::npos ? 0 : static_cast<uint32_t>(cursor)};
          client.open(document.uri, 1, text);
          check(document, i, end);
          client.close(document.uri);
        }
      }
  }

 private:
  Json capabilities_;
};

}  // namespace quern::lsp_test
