// What documents become, over the protocol: the map of lines, cancelling, what is refused.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/lsp/client.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const std::string kIrUri = "file:///nowhere/ir.relay";

json ir(const std::string& stage, const std::string& function = "") {
  return {{"uri", kIrUri}, {"stage", stage}, {"function", function}};
}

/// A text of which to compile each kernel takes many seconds.
std::string long_text() {
  std::string text;
  for (int i = 1; i < 4000; ++i) text += fmt::format("let %x{0} = nn.softmax(ones(({0}, 8)));\n", i);
  return text;
}

class IrServer : public testing::Test {
 protected:
  void start(const std::string& text, const json& options = nullptr) {
    json params = {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", json::object()}};
    if (!options.is_null()) params["initializationOptions"] = options;
    client.call("initialize", params);
    client.open(kIrUri, 7, text);
  }
  void change(const std::string& text) {
    client.change(kIrUri, ++version_, json::array({json{{"text", text}}}));
  }

  Client<json> client;

 private:
  int version_ = 7;
};

TEST_F(IrServer, MapsTheLinesOfBothTexts) {
  start("// é\r\ndef @f(%x: float32) -> float32 {\r\n  let %y = %x * 2f;\r\n  %y\r\n}\r\n@f(1f);\r\n");
  const json typed = client.call("quern/ir", ir("typed", "@f"))["result"];
  EXPECT_EQ(typed["version"], 7);
  EXPECT_EQ(typed["map"], json::parse(R"([{"lines": [0, 0], "source": [[1, 1]]},
                                          {"lines": [1, 1], "source": [[2, 2]]},
                                          {"lines": [2, 2], "source": [[3, 3]]}])"))
      << typed;
  const json shown = client.call("quern/virtualDocument",
                                 {{"uri", "quern:/ir/typed/f.relay?file%3A%2F%2F%2Fnowhere%2Fir.relay"}});
  EXPECT_EQ(shown["result"], typed) << shown;
  change("@g(1f)\ndef @g(%x: float32) -> float32 { %x }\n");
  const json second = client.call("quern/ir", ir("typed", "@g"))["result"];
  EXPECT_EQ(second["version"], 8);
  EXPECT_EQ(second["map"][0]["source"], json::parse("[[1, 1]]")) << second;
}

TEST_F(IrServer, AnswersOthersWhileOneIsMadeAndCancels) {
  // Under sanitizers the answer to the hover takes longer than an evaluation may.
  start(long_text(), {{"evaluation", {{"seconds", 300}}}});
  const int made = client.ask("quern/ir", ir("asm"));
  EXPECT_FALSE(client.hover(kIrUri, 0, 5).is_null());
  client.notify("$/cancelRequest", {{"id", made}});
  EXPECT_EQ(client.answer(made)["error"]["code"], -32800);
}

TEST_F(IrServer, AnEditOvertakesThemAll) {
  start(long_text());
  const int first = client.ask("quern/ir", ir("asm"));
  const int second = client.ask("quern/virtualDocument",
                                {{"uri", "quern:/ir/asm/.relay?file%3A%2F%2F%2Fnowhere%2Fir.relay"}});
  change("let %x = 1;\n");
  for (const int overtaken : {first, second}) {
    const json answer = client.answer(overtaken);
    EXPECT_EQ(answer["error"]["code"], -32802) << answer;
    EXPECT_EQ(answer["error"]["data"]["retriggerRequest"], true);
  }
  EXPECT_THAT(client.call("quern/ir", ir("typed"))["result"]["text"], HasSubstr("let %x: int32 = 1;"));
}

TEST_F(IrServer, EndsWhenItsTimeIsOver) {
  start(long_text(), {{"evaluation", {{"seconds", 0.5}}}});
  EXPECT_THAT(client.call("quern/ir", ir("asm"))["error"]["message"],
              HasSubstr("to compile it took longer than 0.5"));
}

TEST_F(IrServer, SeesUnsavedImports) {
  start("import \"other.relay\" as o\n@o.f(1)\n");
  client.open("file:///nowhere/other.relay", 1, "def @f(%x: int32) -> int32 { %x + 41 }");
  const json made = client.call("quern/ir", ir("inline"))["result"];
  // What comes from another file comes from its call here.
  EXPECT_THAT(made["text"], HasSubstr("41"));
  EXPECT_EQ(made["map"], json::parse(R"([{"lines": [0, 0], "source": [[1, 1]]}])")) << made;
}

TEST_F(IrServer, RefusesWhatIsNotTheClients) {
  start("let %x = 1;\n");
  const std::string nn = "quern:/library/nn.relay";
  client.open(nn, 1, client.call("quern/virtualDocument", {{"uri", nn}})["result"]["text"]);
  EXPECT_THAT(client.call("quern/ir", {{"uri", nn}})["error"]["message"], HasSubstr("is read only"));
  EXPECT_EQ(client.call("quern/ir", {{"stage", "typed"}})["error"]["code"], -32602);
  EXPECT_EQ(client.call("quern/ir", {{"uri", kIrUri}, {"stage", 7}})["error"]["code"], -32602);
}

}  // namespace
}  // namespace quern::lsp_test
