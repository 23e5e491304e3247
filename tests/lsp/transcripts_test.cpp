// Transcripts as documents: outputs that differ are diagnostics, and edits write them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/lsp/client.h"
#include "tests/lsp/typed_document.h"
#include "tests/temporary_folder.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class OpenTranscript {
 public:
  OpenTranscript(std::string name, std::string text, bool pulls = true)
      : document{client, lsp::PositionEncoding::Utf8, "file://" + (folder / name).string(), std::move(text)} {
    json capabilities = {{"general", {{"positionEncodings", json::array({"utf-8"})}}}};
    if (pulls) capabilities["textDocument"]["diagnostic"] = json::object();
    client.initialize(capabilities);
    client.open(document.uri, 1, document.text);
  }

  json run() { return execute("quern.runTests", json::object()); }
  json execute(const std::string& command, json argument) {
    argument["uri"] = document.uri;
    return client.call("workspace/executeCommand",
                       {{"command", command}, {"arguments", json::array({argument})}});
  }
  void edit(const json& change) { client.change(document.uri, ++version_, json::array({change})); }
  /// Edits of the protocol, in the server's text and in this one.
  void take(const json& action) {
    const json edits = action["edit"]["changes"][document.uri];
    const std::string text = document.after(edits);
    for (auto at = edits.rbegin(); at != edits.rend(); ++at)
      edit({{"range", (*at)["range"]}, {"text", (*at)["newText"]}});
    document.text = text;
  }
  /// `[what it marks] message`, of each.
  std::vector<std::string> problems() {
    const json report = document.ask("textDocument/diagnostic", {{"previousResultId", ""}});
    std::vector<std::string> found;
    for (const json& item : report["items"])
      found.push_back("[" + document.at(item["range"]) + "] " + item["message"].get<std::string>());
    return found;
  }
  json lenses() { return document.ask("textDocument/codeLens", {{"x", 0}}); }
  std::string lens() {
    const json all = lenses();
    return all.empty() ? "" : all[0]["command"]["title"].get<std::string>();
  }
  json actions(const std::string& at) {
    const auto begin = static_cast<uint32_t>(document.text.find(at));
    return document.ask("textDocument/codeAction", {{"range", document.range(begin, begin)},
                                                    {"context", {{"diagnostics", json::array()}}}});
  }

  const TemporaryFolder folder;
  Client<json> client;
  TypedDocument<json> document;

 private:
  int version_ = 1;
};

using Lines = std::vector<std::string>;

TEST(LspTranscripts, OutputsThatDifferAreDiagnosticsAndAreWritten) {
  OpenTranscript open("a.transcript",
                      "Prose of a transcript.\n>>> let %x = 2\n>>> %x + 1\nint32 4\n>>> %x\nint32 2\n>>> "
                      "%x * 5\n>>> %y\nerror...\n....\n");
  EXPECT_EQ(open.lens(), "compare the outputs");
  EXPECT_EQ(open.lenses()[0]["range"]["start"]["line"], 1);
  EXPECT_EQ(open.problems(), Lines{});
  const json answer = open.run();
  ASSERT_EQ(answer["result"]["parts"].size(), 5u) << answer;
  EXPECT_EQ(answer["result"]["parts"][1]["passed"], false);
  EXPECT_EQ(answer["result"]["parts"][2]["passed"], true);
  EXPECT_EQ(open.problems(), (Lines{"[int32 4] this shows\nint32 3", "[>>> %x * 5] this shows\nint32 10"}));
  EXPECT_EQ(open.lens(), "outputs: 2 of 5 differ");
  EXPECT_EQ(open.actions("Prose"), json::array());
  // One output; what is known of the others is of an earlier text then.
  ASSERT_EQ(open.actions("int32 4")[0]["title"], "write this output");
  open.take(open.actions("int32 4")[0]);
  EXPECT_THAT(open.document.text, HasSubstr(">>> %x + 1\nint32 3\n>>> %x\n"));
  EXPECT_EQ(open.problems(), Lines{"[>>> %x * 5] this shows\nint32 10\n(of an earlier text)"});
  open.take(open.actions("%x * 5")[0]);
  EXPECT_EQ(open.problems(), Lines{});
  EXPECT_EQ(open.lens(), "compare the outputs");
  open.run();
  EXPECT_EQ(open.problems(), Lines{});
  EXPECT_EQ(open.lens(), "outputs: all match");
}

TEST(LspTranscripts, AllOutputsAreWrittenAtOnce) {
  OpenTranscript open("a.transcript", ">>> 1\n>>> 2\nold\n");
  open.run();
  const json actions = open.actions("old");
  ASSERT_EQ(actions.size(), 2u) << actions;
  EXPECT_EQ(actions[1]["title"], "write all 2 outputs that differ");
  open.take(actions[1]);
  EXPECT_EQ(open.document.text, ">>> 1\nint32 1\n>>> 2\nint32 2\n");
  EXPECT_EQ(open.problems(), Lines{});
}

TEST(LspTranscripts, AreBlocksOfMarkdownInTheirFolders) {
  OpenTranscript open("page.md",
                      "# Title\n>>> prose\n```quern\n>>> import \"a.relay\" as a\n>>> @a.f(1)\nint32 7\n```\n"
                      "```console\n$ quern check a.relay\nwhatever\n```\n```quern in=inside\n>>> :load "
                      "b.relay\n....\n>>> @g(1)\n```\n");
  std::filesystem::create_directory(open.folder / "inside");
  std::ofstream(open.folder / "inside" / "b.relay") << "def @g(%x: int32) -> int32 { %x }\n";
  // As it stands in the editor, not as on the disk.
  std::ofstream(open.folder / "a.relay") << "def @f(%x: int32) -> int32 { %x }\n";
  open.client.open("file://" + (open.folder / "a.relay").string(), 1,
                   "def @f(%x: int32) -> int32 { %x + 1 }");
  const json answer = open.run();
  ASSERT_EQ(answer["result"]["parts"].size(), 4u) << answer;
  EXPECT_EQ(open.problems(), (Lines{"[int32 7] this shows\nint32 2", "[>>> @g(1)] this shows\nint32 1"}));
}

TEST(LspTranscripts, AreNoPrograms) {
  const std::string text = "# Title\n\nlet %x = (\n  1); nothing of it is a program\n";
  OpenTranscript page("page.md", text);
  std::ofstream(page.folder / "page.md") << text;
  EXPECT_EQ(page.problems(), Lines{});
  EXPECT_EQ(page.lens(), "");
  EXPECT_TRUE(page.document.ask("textDocument/hover").is_null());
  EXPECT_EQ(page.document.ask("textDocument/foldingRange", {{"x", 0}}), json::array());
  EXPECT_TRUE(page.document.ask("textDocument/formatting", {{"options", {{"tabSize", 2}}}}).is_null());
  EXPECT_EQ(page.run()["result"]["parts"], json::array());
  const json refused = page.execute("quern.evaluateFile", json::object());
  EXPECT_THAT(refused["error"]["message"], HasSubstr("`quern.evaluateFile` is not for transcripts"));
}

TEST(LspTranscripts, ArePublishedToClientsThatDoNotAsk) {
  OpenTranscript open("a.transcript", ">>> 1 + 1\nint32 3\n", false);
  EXPECT_EQ(open.client.diagnostics(open.document.uri, 1)["diagnostics"], json::array());
  open.run();
  const json sent = open.client.diagnostics(open.document.uri, 1)["diagnostics"];
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(open.document.at(sent[0]["range"]), "int32 3");
  EXPECT_EQ(sent[0]["source"], "quern test");
}

TEST(LspTranscripts, FollowEdits) {
  OpenTranscript open("a.transcript", ">>> 1\nint32 3\n>>> 2\nold\n");
  open.run();
  // Above, within, and a line more at the end of an output.
  open.edit({{"range", open.document.range(0, 0)}, {"text", "Prose.\n"}});
  open.document.text = "Prose.\n" + open.document.text;
  EXPECT_EQ(open.problems(), (Lines{"[int32 3] this shows\nint32 1\n(of an earlier text)",
                                    "[old] this shows\nint32 2\n(of an earlier text)"}));
  const auto end = static_cast<uint32_t>(open.document.text.size());
  open.edit({{"range", open.document.range(end, end)}, {"text", "more\n"}});
  open.document.text += "more\n";
  EXPECT_EQ(open.problems(), Lines{"[int32 3] this shows\nint32 1\n(of an earlier text)"});
  open.edit({{"text", "nothing"}});
  open.document.text = "nothing";
  EXPECT_EQ(open.problems(), Lines{});
}

}  // namespace
}  // namespace quern::lsp_test
