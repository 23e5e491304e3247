// Evaluating parts of a document, in a process of its own: results, failures, limits, and what is shown of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fmt/format.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "tests/lsp/client.h"
#include "tests/lsp/typed_document.h"

namespace quern::lsp_test {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

const std::string kUri = "file:///nowhere/evaluated.relay";

const json kEverything = {
    {"textDocument", {{"diagnostic", json::object()}}},
    {"workspace", {{"inlayHint", {{"refreshSupport", true}}}, {"codeLens", {{"refreshSupport", true}}}}},
    {"window", {{"showDocument", {{"support", true}}}, {"workDoneProgress", true}}}};

class Evaluating {
 public:
  explicit Evaluating(std::string text, const json& capabilities = kEverything, const json& options = nullptr)
      : document{client, lsp::PositionEncoding::Utf8, kUri, std::move(text)} {
    json params = {{"processId", nullptr}, {"rootUri", nullptr}, {"capabilities", capabilities}};
    params["capabilities"]["general"]["positionEncodings"] = json::array({"utf-8"});
    if (!options.is_null()) params["initializationOptions"] = options;
    client.call("initialize", params);
    const size_t cursor = document.text.find("$0");
    if (cursor != std::string::npos) document.text.erase(cursor, 2);
    document.cursor = cursor == std::string::npos ? 0 : static_cast<uint32_t>(cursor);
    client.open(kUri, 1, document.text);
  }

  json execute(const std::string& command, json argument = json::object()) {
    argument["uri"] = kUri;
    return client.call("workspace/executeCommand",
                       {{"command", command}, {"arguments", json::array({argument})}});
  }
  json evaluate(const json& range) { return execute("quern.evaluate", {{"range", range}}); }
  json evaluate_at_cursor() { return evaluate(document.range(document.cursor, document.cursor)); }
  void edit(const std::string& text) {
    document.text = text;
    client.change(kUri, ++version_, json::array({json{{"text", text}}}));
  }
  json hints() { return document.ask("textDocument/inlayHint", {{"range", document.range(0, 1'000'000)}}); }
  std::vector<std::string> values_shown() {
    std::vector<std::string> labels;
    for (const json& hint : hints())
      if (!hint.contains("data")) labels.push_back(hint.at("label"));
    return labels;
  }

  Client<json> client;
  TypedDocument<json> document;

 private:
  int version_ = 1;
};

/// The one value, or what went wrong.
std::string outcome(const json& answer) {
  if (answer.contains("error")) return "error: " + answer["error"]["message"].get<std::string>();
  const json& result = answer["result"];
  if (!result["problems"].empty()) return "problem: " + result["problems"][0]["message"].get<std::string>();
  if (result["parts"].empty()) return "nothing";
  const json& part = result["parts"].back();
  if (part.contains("failure")) return "failure: " + part["failure"]["message"].get<std::string>();
  return part.contains("text") ? part["text"].get<std::string>() + ": " + part["type"].get<std::string>()
                               : "()";
}

struct EvaluationRow {
  const char *name, *text, *outcome;
};
void PrintTo(const EvaluationRow& row, std::ostream* out) { *out << row.name; }

const EvaluationRow kEvaluations[] = {
    {"a_comment", "let %x = [1.0, 2.0];\n// >>> sum(%x)$0\nlet %x = 7;\n", "3: float32"},
    {"what_stands_above_counts", "let %x = 1;\n// >>> %x + 1$0\nlet %x = 10;\n// >>> %x\n", "2: int32"},
    {"a_comment_at_the_end", "let %x = 2;\n// >>> %x * 3 $0", "6: int32"},
    {"a_definition_below", "// >>> @f(2.0)$0\ndef @f(%x: float32) -> float32 { %x * 2.0 }\n", "4: float32"},
    {"the_statement_before_has_no_end", "let %x = 5\n// >>> %x$0", "5: int32"},
    {"a_statement", "let %x = 5;\nlet %y$0 = %x + 1;\nlet %z = %y;\n", "6: int32"},
    {"a_graph_variable", "%0 = 5;\n%1$0 = %0 + 1;\n%1\n", "6: int32"},
    {"crlf", "let %x = 5;\r\n// >>> %x$0\r\nlet %z = 1;\r\n", "5: int32"},
    {"other_characters", "let %x = 5; // ü😀\n// >>> %x$0\n", "5: int32"},
    {"a_mistake_elsewhere", "let %x = 5;\n// >>> %x$0\nlet %y = %nothing;\ndef @f() { %z }\n", "5: int32"},
    {"a_mistake_in_it", "// >>> %nothing$0\n", "problem: unknown variable `%nothing`"},
    {"a_mistake_above", "let %y = %nothing;\n// >>> 1$0\n", "problem: unknown variable `%nothing`"},
    {"half_typed", "// >>> 1 + $0\n", "problem: "},
    {"a_failure", "// >>> [1.0, 2.0][index(5)]$0\n", ""},
    {"nothing_there", "$0\nlet %x = 1;\n", "error: there is nothing to evaluate here"},
    {"behind_a_statement", "let %x = 1;  // one$0\nlet %y = 2;\n", "1: int32"},
    {"a_part_of_a_function",
     "print(1 / 0);\ndef @f(%x: float32) -> float32 {\n  let %w = [1.0, 2.0];\n  let %y = %x * 2.0;\n"
     "  let %z = sum(%w)$0;\n  %y + %z\n}\n",
     "3: float32"},
    {"a_mistake_in_a_part", "def @f(%x: int32) {\n  let %w = 1;\n  let %y = %w + %missing$0;\n  %x\n}\n",
     "problem: unknown variable `%missing`"},
    {"a_function_without_parameters", "def @main$0() { print(\"hello\"); 7 }\n", "7: int32"},
    {"a_parameter", "def @f(%x: int32) -> int32 { %x$0 + 1 }\n", "error: this depends on %x of `@f`"},
    {"saving", "// >>> save(\"/nowhere/x.npy\", [1.0])$0\n", "failure: nothing is saved here"},
    {"no_value", "let %r = ref(1);\n// >>> %r := 2$0\n", "()"},
};

class Evaluation : public testing::TestWithParam<EvaluationRow> {};

TEST_P(Evaluation, IsThatOfItsPlace) {
  Evaluating evaluating(GetParam().text);
  EXPECT_THAT(outcome(evaluating.evaluate_at_cursor()), HasSubstr(GetParam().outcome));
}

INSTANTIATE_TEST_SUITE_P(Places, Evaluation, testing::ValuesIn(kEvaluations),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(LspEvaluation, OfASelectionIsOfItsText) {
  Evaluating evaluating("let %x = [1.0, 2.0];\nlet %y = exp(%x) + 1.0;\n");
  const auto begin = static_cast<uint32_t>(evaluating.document.text.find("exp"));
  EXPECT_THAT(outcome(evaluating.evaluate(evaluating.document.range(begin, begin + 7))), HasSubstr("2.718"));
}

TEST(LspEvaluation, OfATestRunsIt) {
  Evaluating evaluating("test \"one\" { assert_equal(1, 1) }\ntest \"two\" { assert_equal($01, 2) }\n");
  const json answer = evaluating.evaluate_at_cursor();
  ASSERT_EQ(answer["result"]["parts"].size(), 1u) << answer;
  EXPECT_EQ(answer["result"]["parts"][0]["name"], "two");
  EXPECT_EQ(answer["result"]["parts"][0]["passed"], false);
}

TEST(LspEvaluation, AValueInAFunctionStandsInItsLine) {
  Evaluating evaluating(
      "def @f(%x: int32) {\n  let %w = 3;\n  let %y = %w * 2$0;\n  let %z = match? Cons(%y, Nil) { Nil => 0 "
      "};\n  %x\n}\n");
  const json answer = evaluating.evaluate_at_cursor();
  ASSERT_EQ(answer["result"]["parts"].size(), 1u) << answer;
  EXPECT_EQ(evaluating.document.at(answer["result"]["parts"][0]["range"]), "%w * 2");
  EXPECT_EQ(evaluating.values_shown(), std::vector<std::string>{"= 6"});
  const auto at = static_cast<uint32_t>(evaluating.document.text.find("match?"));
  const json failed = evaluating.evaluate(evaluating.document.range(at, at + 33));
  ASSERT_EQ(failed["result"]["parts"].size(), 1u) << failed;
  EXPECT_EQ(evaluating.document.at(failed["result"]["parts"][0]["failure"]["range"]),
            "match? Cons(%y, Nil) { Nil => 0 }")
      << failed;
}

TEST(LspEvaluation, FailuresStandInTheDocument) {
  Evaluating evaluating("let %x = [1, 2];\n// >>> %x + %missing$0\n");
  const json answer = evaluating.evaluate_at_cursor();
  EXPECT_EQ(evaluating.document.at(answer["result"]["problems"][0]["range"]), "%missing");
}

TEST(LspEvaluation, ShowsValuesAsHintsAndHovers) {
  Evaluating evaluating("let %x = [1.0, 2.0, 4.0];\nprint(\"hello\");\n// >>> sum(%x)\n");
  const json answer = evaluating.execute("quern.evaluateFile");
  EXPECT_EQ(answer["result"]["output"], "hello\n");
  EXPECT_EQ(evaluating.values_shown(), std::vector<std::string>{"= [1, 2, 4]"});
  const json hover = evaluating.client.hover(kUri, 0, 5);
  EXPECT_THAT(hover["contents"]["value"], HasSubstr("min 1, mean 2.333, max 4"));
  // An edit leaves what it does not touch, and says that it is older.
  evaluating.edit("let %a = 1;\nlet %x = [1.0, 2.0, 4.0];\nprint(\"hello\");\n// >>> sum(%x)\n");
  EXPECT_EQ(evaluating.values_shown(), std::vector<std::string>{"= [1, 2, 4] (of an earlier text)"});
  evaluating.edit("let %a = 1;\nlet %x = [1.0, 2.5, 4.0];\nprint(\"hello\");\n// >>> sum(%x)\n");
  EXPECT_EQ(evaluating.values_shown(), std::vector<std::string>{});
}

TEST(LspEvaluation, OnlyTheVariableOfAStatementHasItsValue) {
  const std::string text = "let %x = { let %inner = 1; %inner + 1 };\nlet (%a, %b) = (3, 4);\n";
  Evaluating evaluating(text);
  evaluating.execute("quern.evaluateFile");
  const auto hover = [&](const char* at) {
    const json asked = evaluating.document.position(static_cast<uint32_t>(text.find(at)) + 1);
    return evaluating.document.ask("textDocument/hover", {{"position", asked}})["contents"]["value"];
  };
  EXPECT_THAT(hover("%x"), HasSubstr("Value:"));
  for (const char* other : {"%inner", "%a", "%b"})
    EXPECT_THAT(hover(other), testing::Not(HasSubstr("Value:"))) << other;
}

TEST(LspEvaluation, AsksForWhatItChangedAgain) {
  Evaluating evaluating("// >>> 1$0\n");
  evaluating.evaluate_at_cursor();
  EXPECT_FALSE(evaluating.client.next("workspace/inlayHint/refresh").is_null());
  EXPECT_FALSE(evaluating.client.next("workspace/codeLens/refresh").is_null());
}

TEST(LspEvaluation, SeesUnsavedImports) {
  Evaluating evaluating("import \"other.relay\" as o\n// >>> @o.f(1)$0\n");
  evaluating.client.open("file:///nowhere/other.relay", 1, "def @f(%x: int32) -> int32 { %x + 41 }");
  EXPECT_EQ(outcome(evaluating.evaluate_at_cursor()), "42: int32");
}

TEST(LspEvaluation, FailedTestsAreDiagnostics) {
  Evaluating evaluating("test \"good\" { assert_equal(1, 1) }\ntest \"bad\" { assert_equal(1, 2) }\n");
  const json answer = evaluating.execute("quern.runTests");
  ASSERT_EQ(answer["result"]["parts"].size(), 2u) << answer;
  EXPECT_EQ(answer["result"]["parts"][0]["passed"], true);
  EXPECT_EQ(answer["result"]["parts"][1]["passed"], false);
  const json report = evaluating.document.ask("textDocument/diagnostic", {{"previousResultId", ""}});
  ASSERT_EQ(report["items"].size(), 1u) << report;
  EXPECT_EQ(report["items"][0]["source"], "quern test");
  EXPECT_EQ(report["items"][0]["range"]["start"]["line"], 1);
  std::vector<std::string> titles;
  for (const json& lens : evaluating.document.ask("textDocument/codeLens", {{"x", 0}}))
    titles.push_back(lens["command"]["title"]);
  EXPECT_EQ(titles, (std::vector<std::string>{"all tests", "test: passed", "test: failed"}));
  EXPECT_EQ(evaluating.execute("quern.runTests", {{"name", "good"}})["result"]["parts"].size(), 1u);
}

TEST(LspEvaluation, TimesCallsWithRandomArguments) {
  Evaluating evaluating(
      "def @f(%x: Tensor[(8, 8), float32]) -> float32 { sum(%x) }\ndef @g[n](%x: Tensor[(n,), float32]) { %x "
      "}\n");
  const json answer = evaluating.execute("quern.time", {{"function", "f"}});
  EXPECT_THAT(answer["result"]["parts"][0]["note"], HasSubstr(" a call (median of ")) << answer;
  EXPECT_THAT(outcome(evaluating.execute("quern.time", {{"function", "g"}})),
              HasSubstr("failure: no random"));
  EXPECT_FALSE(evaluating.execute("quern.time", {{"function", "@f"}})["result"]["parts"].empty());
}

TEST(LspEvaluation, NamesThatThereAreNotAreProblems) {
  Evaluating evaluating("def @f() -> int32 { 1 }\ntest \"t\" { assert_equal(1, 1) }\n");
  const auto problem = [&](const char* command, const json& argument) -> std::string {
    return evaluating.execute(command, argument)["result"]["problems"].at(0)["message"];
  };
  EXPECT_EQ(problem("quern.time", {{"function", "@g"}}), "there is no function `@g`");
  EXPECT_EQ(problem("quern.runTests", {{"name", "u"}}), "there is no test \"u\"");
}

TEST(LspEvaluation, HoversShowWhatWasMeasured) {
  Evaluating evaluating(
      "def @f(%x: Tensor[(8, 8), float32]) -> float32 { sum(%x) }\nlet %y = @f(ones((8, 8)));\n");
  const auto shown = [&](int line, int column) {
    return evaluating.client.hover(kUri, line, column)["contents"]["value"].get<std::string>();
  };
  EXPECT_THAT(shown(0, 5), HasSubstr("Cost: 64 FLOP, 260 bytes, 0.25 FLOP/byte"));
  EXPECT_THAT(shown(0, 5), Not(HasSubstr("Measured")));
  evaluating.execute("quern.time", {{"function", "f"}});
  EXPECT_THAT(shown(0, 5), HasSubstr("Measured: "));
  EXPECT_THAT(shown(1, 10), HasSubstr(" a call (median of "));
  evaluating.edit("let %a = 1;\n" + evaluating.document.text);
  EXPECT_THAT(shown(1, 5), HasSubstr("Measured, with an earlier text: "));
  evaluating.edit("def @f(%x: Tensor[(8, 8), float32]) -> float32 { sum(%x * %x) }\n");
  EXPECT_THAT(shown(0, 5), Not(HasSubstr("Measured")));
  // A process measures the machine from the first time on that a cost is shown.
  constexpr int kMostTries = 600;
  for (int i = 0; i < kMostTries && shown(0, 5).find("at the machine's peaks") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_THAT(shown(0, 5), HasSubstr("Cost: 128 FLOP, 260 bytes, 0.49 FLOP/byte, about "));
}

TEST(LspEvaluation, TheMachineIsMeasuredAgainAfterAFailure) {
  Evaluating evaluating("def @f(%x: Tensor[(8, 8), float32]) -> float32 { sum(%x) }\n", kEverything,
                        {{"evaluation", {{"seconds", 0.001}}}});
  const auto shown = [&] {
    return evaluating.client.hover(kUri, 0, 5)["contents"]["value"].get<std::string>();
  };
  EXPECT_THAT(shown(), HasSubstr("Cost: 64 FLOP"));
  // The first measurement has ended, as what is asked for with the same limit has.
  EXPECT_THAT(outcome(evaluating.execute("quern.runTests")), HasSubstr("took longer"));
  EXPECT_THAT(shown(), Not(HasSubstr("peaks")));
  evaluating.client.notify("workspace/didChangeConfiguration",
                           {{"settings", {{"evaluation", {{"seconds", 60}}}}}});
  constexpr int kMostTries = 600;
  for (int i = 0; i < kMostTries && shown().find("at the machine's peaks") == std::string::npos; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_THAT(shown(), HasSubstr("at the machine's peaks"));
}

TEST(LspEvaluation, LensesShowGradientsAndStages) {
  Evaluating evaluating("def @f(%x: Tensor[(3,), float32]) -> float32 { sum(%x * %x) }\n");
  evaluating.document.ask("textDocument/diagnostic", {{"previousResultId", ""}});
  std::vector<std::string> titles;
  for (const json& lens : evaluating.document.ask("textDocument/codeLens", {{"x", 0}})) {
    titles.push_back(lens["command"]["title"]);
    if (lens["command"]["command"] != "quern.show") continue;
    EXPECT_TRUE(evaluating.client
                    .call("workspace/executeCommand", {{"command", lens["command"]["command"]},
                                                       {"arguments", lens["command"]["arguments"]}})
                    .contains("result"));
    const json shown = evaluating.client.next("window/showDocument");
    const json text = evaluating.client.call("quern/virtualDocument", {{"uri", shown["params"]["uri"]}});
    EXPECT_THAT(text["result"]["text"], HasSubstr(titles.back() == "gradient" ? "def @grad_f" : "def @f"))
        << text;
  }
  EXPECT_EQ(titles, (std::vector<std::string>{"IR", "time", "gradient"}));
}

// A recursion without an end that nothing in the program stops.
const std::string kEndless =
    "def @spin(%n: int32) -> int32 { if (%n < 0) { %n } else { @spin((%n + 1) % 1000) } }\n// >>> "
    "@spin(0)$0\n";

TEST(LspEvaluation, EndsWhenItsTimeIsOver) {
  Evaluating evaluating(kEndless, kEverything, {{"evaluation", {{"seconds", 0.5}}}});
  EXPECT_THAT(outcome(evaluating.evaluate_at_cursor()),
              HasSubstr("error: the evaluation took longer than 0.5"));
  EXPECT_EQ(outcome(evaluating.execute("quern.runTests")), "nothing");
}

TEST(LspEvaluation, EndsWhenItIsCancelledWhileTheServerAnswersOthers) {
  Evaluating evaluating(kEndless);
  const json range = evaluating.document.range(evaluating.document.cursor, evaluating.document.cursor);
  const json argument = {{"uri", kUri}, {"range", range}};
  evaluating.client.process.write_message(json({{"jsonrpc", "2.0"},
                                                {"id", "endless"},
                                                {"method", "workspace/executeCommand"},
                                                {"params",
                                                 {{"command", "quern.evaluate"},
                                                  {"arguments", json::array({argument})},
                                                  {"workDoneToken", "token"}}}})
                                              .dump());
  EXPECT_EQ(evaluating.client.next("$/progress")["params"]["value"]["kind"], "begin");
  EXPECT_FALSE(evaluating.client.hover(kUri, 0, 5).is_null());
  evaluating.client.notify("$/cancelRequest", {{"id", "endless"}});
  EXPECT_EQ(evaluating.client.answer("endless")["error"]["code"], -32800);
}

/// Whether a process runs; one that has ended may wait to be asked how.
bool runs(pid_t process) {
  std::ifstream stat(fmt::format("/proc/{}/stat", process));
  std::string text;
  std::getline(stat, text);
  const size_t state = text.rfind(')');
  return state != std::string::npos && text.substr(state, 3) != ") Z";
}

const std::string kBegunAndEndless = "print(\"begun\");\n" + kEndless;

/// The process that evaluates that, once it has begun; 0 where there is none.
pid_t process_of(Evaluating& evaluating) {
  const json range = evaluating.document.range(evaluating.document.cursor, evaluating.document.cursor);
  evaluating.client.ask("workspace/executeCommand",
                        {{"command", "quern.evaluate"},
                         {"arguments", json::array({json{{"uri", kUri}, {"range", range}}})},
                         {"workDoneToken", "token"}});
  while (evaluating.client.next("$/progress")["params"]["value"].value("message", "") != "begun") {
  }
  const std::vector<pid_t> children = evaluating.client.process.children();
  EXPECT_EQ(children.size(), 1u);
  return children.empty() ? 0 : children[0];
}

TEST(LspEvaluation, EndsWithAServerThatIsKilled) {
  Evaluating evaluating(kBegunAndEndless, kEverything, {{"evaluation", {{"seconds", 60}}}});
  const pid_t child = process_of(evaluating);
  ASSERT_NE(child, 0);
  ASSERT_TRUE(runs(child));
  evaluating.client.process.send(SIGKILL);
  for (int waited = 0; waited < 2000 && runs(child); ++waited)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const bool still_runs = runs(child);
  EXPECT_FALSE(still_runs);
  if (still_runs) kill(child, SIGKILL);
}

/// The pipes that a process has open, but for those of its standard files.
std::set<std::string> pipes_of(pid_t process) {
  std::set<std::string> pipes;
  for (const auto& file : std::filesystem::directory_iterator(fmt::format("/proc/{}/fd", process))) {
    std::error_code gone;
    const std::string target = std::filesystem::read_symlink(file.path(), gone).string();
    if (std::stoi(file.path().filename()) > 2 && target.starts_with("pipe:")) pipes.insert(target);
  }
  return pipes;
}

// A client would not see the end of a server whose output is open elsewhere.
TEST(LspEvaluation, HasNoPipeOfTheClient) {
  const std::set<std::string> of_all = pipes_of(getpid());
  Evaluating evaluating(kBegunAndEndless);
  const pid_t child = process_of(evaluating);
  ASSERT_NE(child, 0);
  std::set<std::string> of_client = pipes_of(getpid());
  for (const std::string& pipe : of_all) of_client.erase(pipe);
  EXPECT_EQ(of_client.size(), 2u);
  for (const std::string& pipe : pipes_of(child)) EXPECT_FALSE(of_client.contains(pipe)) << pipe;
}

// Under sanitizers it is not.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(LspEvaluation, MemoryIsLimited) {
  Evaluating evaluating("// >>> ones((40000, 40000))$0\n", kEverything,
                        {{"evaluation", {{"memoryMiB", 3000}}}});
  EXPECT_THAT(outcome(evaluating.evaluate_at_cursor()),
              testing::AnyOf(HasSubstr("memory"), HasSubstr("failed")));
}

#endif

TEST(LspEvaluation, WrongOrdersAreRefused) {
  Evaluating evaluating("let %x = 1;\n");
  auto code = [](const json& answer) {
    return answer.contains("error") ? answer["error"]["code"].get<int>() : 0;
  };
  EXPECT_EQ(code(evaluating.execute("quern.nothing")), -32803);
  EXPECT_EQ(code(evaluating.execute("quern.evaluate")), -32602);
  EXPECT_EQ(code(evaluating.evaluate("here")), -32602);
  EXPECT_EQ(code(evaluating.client.call("workspace/executeCommand", {{"command", "quern.evaluateFile"}})),
            -32602);
  EXPECT_EQ(code(evaluating.client.call("workspace/executeCommand",
                                        {{"command", "quern.evaluateFile"},
                                         {"arguments", json::array({{{"uri", "file:///not/open"}}})}})),
            -32803);
  evaluating.client.notify("workspace/didChangeConfiguration",
                           {{"settings", {{"evaluation", {{"seconds", -1}}}}}});
  EXPECT_THAT(evaluating.client.next("window/showMessage")["params"]["message"],
              HasSubstr("quern.evaluation.seconds"));
}

}  // namespace
}  // namespace quern::lsp_test
