// docs/onnx_operators.md and docs/tensorflow_operators.md: what each operator becomes, by the importer's tables and the texts of
// test models of one node (QUERN_UPDATE_GOLDENS=1 writes them).

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "import/operators/table.h"
#include "import/tensorflow/graph.h"
#include "import/tensorflow/model.h"
#include "import/tensorflow/operators/table.h"
#include "tests/files.h"
#include "tests/import/graph_cases.h"
#include "tests/import/onnx_data.h"
#include "tests/support/library.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {
namespace {

namespace fs = std::filesystem;

/// Characters of a text in a row; a longer one is left out.
constexpr size_t kLongest = 110;

constexpr const char* kOnnxHead = R"(# ONNX's operators

What `quern import` makes of each operator ([importing.md](importing.md)): the library's operators in the text of a small model,
and the text itself where it is short. That is one case of each; others have other attributes, or take more steps. Words of the
language (`if`, `scan_over`, `+`) are not listed, and a row with nothing has no such model.

| ONNX | operators | for example |
|---|---|---|
)";

constexpr const char* kTensorflowHead = R"(# TensorFlow's operators

What `quern import` makes of each operator of a frozen graph ([importing.md](importing.md#graphs-of-tensorflow)), as
[onnx_operators.md](onnx_operators.md) has it of ONNX's. One that is ONNX's under another name says so.

| TensorFlow | ONNX | operators | for example |
|---|---|---|---|
)";

/// What is between the braces of `@main`, on one line; "" where the text has other functions, or is a constant.
std::string body_of(const std::string& text) {
  const size_t head = text.find("def @main");
  if (head == std::string::npos || text.find("def @") != head) return "";
  const size_t open = text.find('{', head), close = text.rfind('}');
  std::istringstream words(text.substr(open + 1, close - open - 1));
  std::string body;
  for (std::string word; words >> word;) body += (body.empty() ? "" : " ") + word;
  for (const auto& [wide, narrow] : {std::pair("( ", "("), std::pair(" )", ")")})
    for (size_t at = 0; (at = body.find(wide, at)) != std::string::npos;) body.replace(at, 2, narrow);
  return body.find('%') == std::string::npos ? "" : body;
}

void keep_shortest(std::string& kept, const std::string& text) {
  if (kept.empty() || std::pair(text.size(), text) < std::pair(kept.size(), kept)) kept = text;
}

/// The shortest text among the test models that are one node of an operator, by the operator's name.
std::map<std::string, std::string> shortest_texts() {
  std::map<std::string, std::string> texts;
  for (const auto& entry : fs::directory_iterator(kOnnxData / "node")) {
    const auto model = read_model((entry.path() / "model.onnx").string());
    if (!model || model->graph->nodes.size() != 1 || !model->graph->nodes[0].domain.empty()) continue;
    const auto inputs = tensors_beside(entry.path(), "input_", input_names(*model->graph));
    if (!inputs) continue;
    ImportOptions options;
    const Imported imported = import_with_constants(*model, *inputs, options);
    if (!imported.problems.empty()) continue;
    keep_shortest(texts[model->graph->nodes[0].op], imported.text);
  }
  return texts;
}

/// The same of the graphs that have one node beside inputs and constants.
std::map<std::string, std::string> shortest_graph_texts() {
  std::map<std::string, std::string> texts;
  const TemporaryFolder folder;
  for (const GraphCase& test : graph_cases()) {
    write_graph(test, folder / "graph.pb");
    const auto file = tensorflow::read_graph(folder / "graph.pb");
    if (!file) continue;
    std::vector<std::string> ops;
    for (const auto& node : file->graph.nodes)
      if (node.node.op != "Const" && node.node.op != "Placeholder") ops.push_back(node.node.op);
    const auto model = tensorflow::read_model(folder / "graph.pb", {});
    if (ops.size() != 1 || !model) continue;
    const Imported imported = import_model(*model, {});
    if (imported.problems.empty()) keep_shortest(texts[ops[0]], imported.text);
  }
  return texts;
}

/// The library's operators that a text calls, as links to their documentation.
std::string operators_in(const std::string& text) {
  static const std::vector<std::string> all = numeric::operators_of(numeric::library_texts());
  std::vector<std::string> links;
  std::set<std::string> seen;
  const std::regex call("[A-Za-z_][A-Za-z_0-9.]*(?=\\()");
  for (std::sregex_iterator name(text.begin(), text.end(), call), end; name != end; ++name) {
    const std::string op = name->str();
    if (std::ranges::find(all, op) == all.end() || !seen.insert(op).second) continue;
    std::string anchor = op;
    std::erase(anchor, '.');
    links.push_back(fmt::format("[{}](operators.md#{})", op, anchor));
  }
  return fmt::format("{}", fmt::join(links, ", "));
}

/// `$0 + $1` as `%a + %b`.
std::string with_names(std::string expression) {
  for (size_t at = 0; (at = expression.find('$', at)) != std::string::npos;)
    expression.replace(at, 2, {'%', static_cast<char>('a' + expression[at + 1] - '0')});
  return expression;
}

/// "operators | for example |": by the row's expression, or else by a text.
std::string columns_of(const Operator* row, const std::string& text) {
  const std::string expression = row ? with_names(std::string(row->expression)) : "";
  const std::string body = expression.empty() ? body_of(text) : expression;
  return fmt::format("{} | {} |\n", operators_in(expression.empty() ? text : expression),
                     body.empty() || body.size() > kLongest ? "" : fmt::format("`{}`", body));
}

std::string written_page() {
  std::string page = kOnnxHead;
  std::map<std::string, std::string> texts = shortest_texts();
  for (const Operator* row : operators()) {
    const std::string name(row->name);
    page += fmt::format("| {} | {}", name, columns_of(row, texts[name]));
  }
  return page;
}

std::string written_tensorflow_page() {
  std::string page = kTensorflowHead;
  std::map<std::string, std::string> texts = shortest_graph_texts();
  for (const std::string_view each : tensorflow::operators()) {
    const std::string name(each);
    const tensorflow::Renamed* renamed = tensorflow::find_renamed(each);
    page += fmt::format("| {} | {} | {}", name, renamed ? renamed->onnx : "",
                        columns_of(tensorflow::find_operator(each), texts[name]));
  }
  return page;
}

void expect_page(const char* name, const std::string& written) {
  const std::string path = fmt::format("{}/docs/{}", QUERN_SOURCE_DIR, name);
  if (std::getenv("QUERN_UPDATE_GOLDENS")) std::ofstream(path) << written;
  EXPECT_EQ(written, read_file(path)) << "`./dev goldens` writes docs/" << name;
}

TEST(OnnxOperators, HaveAPage) {
  if (!fs::exists(kOnnxData)) GTEST_SKIP() << "libonnx-testdata is not installed";
  expect_page("onnx_operators.md", written_page());
}

TEST(TensorflowOperators, HaveAPage) { expect_page("tensorflow_operators.md", written_tensorflow_page()); }

// Each is in a graph whose results are stored.
TEST(TensorflowOperators, HaveACase) {
  std::set<std::string> seen = {"LayerNorm"};  // made by `with_layers`, which the text of BERT shows
  const TemporaryFolder folder;
  for (const GraphCase& test : graph_cases()) {
    write_graph(test, folder / "graph.pb");
    const auto file = tensorflow::read_graph(folder / "graph.pb");
    ASSERT_TRUE(file) << test.name;
    for (const auto& node : file->graph.nodes) seen.insert(node.node.op);
    for (const auto& [name, body] : file->functions)
      for (const auto& node : body.nodes) seen.insert(node.node.op);
  }
  for (const std::string_view name : tensorflow::operators())
    EXPECT_TRUE(seen.contains(std::string(name))) << name;
}

TEST(TensorflowOperators, ThatAreOnnxsAreKnown) {
  for (const tensorflow::Renamed& row : tensorflow::renamed_operators())
    EXPECT_NE(find_operator(row.onnx), nullptr) << row.name;
}

}  // namespace
}  // namespace quern::onnx
