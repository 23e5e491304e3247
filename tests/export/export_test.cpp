// Functions as models of ONNX: the nodes they become, that an import of them has the program's results, and what is refused.

#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <fstream>

#include "export/exporter.h"
#include "export/graph/write_model.h"
#include "export/operators/table.h"
#include "export/program/export_files.h"
#include "import/importer.h"
#include "ir/io/data_files.h"
#include "session/run/execution.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> problems_of(const std::string& text) {
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "main.relay", text);
  EXPECT_FALSE(has_errors(session.check(source))) << text;
  return export_function(session, {module, "main", {}}).problems;
}

Model model_of(const std::string& text) {
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "main.relay", text);
  for (const LocatedDiagnostic& diagnostic : session.check(source)) EXPECT_EQ(diagnostic.message, "") << text;
  Exported exported = export_function(session, {module, "main", {}});
  EXPECT_THAT(exported.problems, ElementsAre()) << text;
  return exported.model;
}

std::string nodes_of(const std::string& text) {
  std::vector<std::string> ops;
  for (const Node& node : model_of(text).graph->nodes) ops.push_back(node.op);
  return fmt::format("{}", fmt::join(ops, " "));
}

// --- nodes

struct Nodes {
  std::string text, nodes;
};

TEST(Export, WritesTheNodesOfAnOperatorOrItsDefinition) {
  const Nodes table[] = {
      {"def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }", "Relu"},
      {"def @main(%x: Tensor[(2, 3), float32]) { transpose(%x) }", "Transpose"},
      {"def @main(%x: Tensor[(2, 3), float32]) { %x[:, 1:] }", "Slice"},
      {"def @main(%x: Tensor[(2, 3), float32]) { flip(%x, axis=[1]) }", "Slice"},
      {"def @main(%x: Tensor[(2, 3), float32]) { %x[1] }", "Gather"},
      {"def @main(%x: Tensor[(2, 3), float32]) { reshape(%x, newshape=[3, 2]) }", "Reshape"},
      {"def @main(%x: Tensor[(2, 3), float32], %b: Tensor[(3,), float32]) { %x + %b }", "Add"},
      {"def @main(%x: Tensor[(3,), float32]) { broadcast_to(%x, shape=[2, 3]) }", "Unsqueeze Expand"},
      {"def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32]) { nn.dense(%x, %w) }", "Gemm"},
      {"def @main(%x: Tensor[(1, 8, 8, 3), float32], %w: Tensor[(3, 3, 3, 4), float32]) { nn.conv2d(%x, %w, "
       "data_layout=\"NHWC\", kernel_layout=\"HWIO\") }",
       "Transpose Transpose Conv Transpose"},
      {"def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(4,), float32]) { %b "
       "+ nn.dense(%x, %w) }",
       "Gemm"},
      {"def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %b: Tensor[(4,), float32]) { "
       "let %y = nn.dense(%x, %w); (nn.relu(%y), %y + %b) }",
       "Gemm Relu Gemm"},
      {"def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32], %b: Tensor[(4,), "
       "float32]) { "
       "nn.bias_add(nn.conv2d(%x, %w), %b) }",
       "Conv"},
      {"op scores(%q: Tensor[(n, d), t], %k: Tensor[(m, d), t]) -> Tensor[(n, m), t] { [i, j] => sum[e] "
       "%q[i, e] * %k[j, e] }\n"
       "def @main(%x: Tensor[(2, 3), float32]) { scores(%x, %x) }",
       "Einsum"},
      {"def @main(%t: Tensor[(5, 3), float32], %at: Tensor[(2,), int64]) { [i < 2, j < 3] => "
       "%t[index(%at[i]), j] }",
       "Gather"},
      {"def @twice(%x: Tensor[(2,), float32], %n: int32) -> Tensor[(2,), float32] { if (%n == 0) { %x } else "
       "{ @twice(%x * 2.0, %n - 1) } }\n"
       "def @main(%x: Tensor[(2,), float32]) { @twice(%x, 3) }",
       "Mul Mul Mul"},
      {"def @main(%c: bool, %x: float32) { if (%c) { exp(%x) } else { %x } }", "If"},
  };
  for (const Nodes& row : table) EXPECT_EQ(nodes_of(row.text), row.nodes) << row.text;
}

TEST(Export, NamesInputsByPathsAndDimsByTheirSymbols) {
  const Model model = model_of(
      "type Linear[i, o] { Linear(weight: Tensor[(o, i), float32], bias: Tensor[(o,), float32]) }\n"
      "def @main[n](%w: (Linear[2, 3], float32), %x: Tensor[(n, 2), float32]) { nn.dense(%x, %w.0.weight) + "
      "%w.0.bias * %w.1 }");
  std::vector<std::string> names;
  for (const Port& port : model.graph->inputs) names.push_back(port.name);
  EXPECT_THAT(names, ElementsAre("w.0.weight", "w.0.bias", "w.1", "x"));
  EXPECT_EQ(std::get<std::string>(model.graph->inputs[3].shape->at(0)), "n");
  EXPECT_EQ(std::get<std::string>(model.graph->outputs[0].shape->at(0)), "n");
  EXPECT_EQ(model.graph->outputs[0].name, "output");
}

// A parameter's record may come from another module; an `if` of records has a result for each field.
TEST(Export, TakesRecords) {
  const Model model = model_of(
      "import \"quern:models/layers.relay\" as layers\n"
      "def @main[n](%w: layers.Linear[2, 3], %x: Tensor[(n, 2), float32]) { @layers.linear(%w, %x) }");
  EXPECT_EQ(model.graph->inputs.size(), 3);
  const Model chosen = model_of(
      "type Pair { Pair(a: float32, b: float32) }\n"
      "def @main(%c: bool, %x: float32) { let %p = if (%c) { Pair(%x, %x * 2.0) } else { Pair(%x * 3.0, %x) "
      "}; "
      "%p.a - %p.b }");
  EXPECT_EQ(chosen.graph->nodes[0].op, "If");
  EXPECT_EQ(chosen.graph->nodes[0].outputs.size(), 2);
}

TEST(Export, HasRowsOfOperatorsAlone) {
  Session session;
  const ModuleId module = session.make_module();
  for (const auto& rows : {elementwise_rows(), layer_rows(), pool_rows(), product_rows(), reduction_rows(),
                           shape_rows(), index_rows()})
    for (const Row& row : rows)
      EXPECT_NE(session.find_operator(module, std::string(row.name)), 0) << row.name;
}

// --- results

/// The text of the import of an export.
std::string imported_again(const std::string& text, const fs::path& folder) {
  const std::string file = (folder / "model.onnx").string();
  EXPECT_TRUE(write_model(model_of(text), file));
  const auto model = read_model(file);
  EXPECT_TRUE(model) << text;
  const std::string weights = (folder / "weights.safetensors").string();
  Imported imported = import_model(*model, {{}, {}, "A test.", weights});
  EXPECT_THAT(imported.problems, ElementsAre()) << text;
  if (!imported.weights.empty()) {
    EXPECT_TRUE(write_tensors(weights, imported.weights));
  }
  return imported.text;
}

/// What `@main` of a text prints for random inputs, the same for each text.
std::string results_of(const std::string& text) {
  ExecutionOptions options;
  options.interpret = true;
  options.seed = 7;
  options.style.whole = true;
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "main.relay", text);
  for (const LocatedDiagnostic& diagnostic : session.check(source)) EXPECT_EQ(diagnostic.message, "") << text;
  Execution execution(session, module, options, [](std::string_view) {});
  for (const DeclarationId statement : session.statements(source)) execution.run(statement);
  const auto outcome = execution.run_entry("main");
  if (!outcome || !outcome->value) return "no value";
  return to_string(*outcome->value, options.style);
}

TEST(Export, KeepsTheResultsOfPrograms) {
  const char* programs[] = {
      "def @main(%x: Tensor[(4, 3), float32]) { [i < 4, j < 3] => %x[i, j] + (%x[i - 1, j] else 0) }",
      "def @main(%x: Tensor[(4, 4), float32]) { [i < 4] => %x[i, i] }",
      "def @main(%x: Tensor[(8,), float32]) { [i < 3] => %x[2 * i + 1] }",
      "def @main(%x: Tensor[(8,), float32]) { [i < 4, j < 2] => %x[7 - i] * %x[i / 2 + j] }",
      "def @main(%x: Tensor[(6,), float32]) { [i < 6] => if (i % 2 == 0) { %x[i] } else { (%x[i - 1] else 0) "
      "- "
      "cast<float32>(i) } }",
      "def @main(%x: Tensor[(4, 5), float32]) { [j < 5] => max[i] abs(%x[i, j]) * 2 }",
      "def @main(%x: Tensor[(4, 5), float32]) { argmax(%x) }",
      "def @main(%x: Tensor[(4, 5), float32]) { [i < 3] => sum[j < 5] %x[i, j] * %x[i + 1, j] }",
      "def @main(%x: Tensor[(4, 5), float32]) { (round(%x * 4.0), trunc(%x * 3.0), %x > 0.5, -%x) }",
      "def @main(%x: Tensor[(7,), float32]) { scan_over(fn (%c: float32, %r: float32) { (%c + %r, %c * %r) "
      "}, 0.0, %x, reverse=True) }",
      "def @row(%r: Tensor[(3,), float32]) { scan_over(fn (%c, %e) { (%c + %e, %c * %e) }, 0.0, %r) }\n"
      "def @main(%x: Tensor[(2, 3), float32]) { vmap(@row)(%x) }",
      "def @cubes(%y: Tensor[(3,), float32]) { sum(%y * %y * %y) }\n"
      "def @main(%x: Tensor[(3,), float32]) { let (%y, %d) = value_and_grad(@cubes)(%x); (%y, %d.0) }",
      "def @main(%c: float32, %x: Tensor[(3,), float32]) { if (%c > 0.5) { (%x, sum(%x)) } else { (%x * 2.0, "
      "1.0) } }",
      "def @main(%x: Tensor[(2, 3), float32]) { (std(%x), var_of(%x), softmax_of(%x)) }\n"
      "def var_of(%x: Tensor[s, t]) -> Tensor[(), t] { mean(%x * %x) - mean(%x) * mean(%x) }\n"
      "def softmax_of(%x: Tensor[s, t]) -> Tensor[s, t] { nn.softmax(%x, axis=0) }",
      "def @main(%x: Tensor[(2, 3, 4), float32]) { (split(%x, indices_or_sections=2, axis=2).1, tile(%x, "
      "reps=[1, 2, 1]), "
      "concatenate((%x, %x), axis=1)) }",
      "def @main(%x: Tensor[(1, 2, 6, 6), float32], %w: Tensor[(4, 1, 3, 3), float32]) { "
      "nn.max_pool2d(nn.conv2d(%x, %w, groups=2, padding=[1, 1], strides=[2, 1]), pool_size=[2, 2], "
      "strides=[1, 1]) }",
      "type Pair { Pair(a: float32, b: float32) }\n"
      "def @main(%c: float32) { let %p = if (%c > 0.5) { Pair(%c, %c * 2.0) } else { Pair(%c * 3.0, %c) }; "
      "%p.a - %p.b }",
      "def @main(%x: Tensor[(5, 2), float32]) { [i < 5, j < 2, k < 2] => select(j <= k, %x[i, j] - %x[i, k], "
      "0) }",
  };
  const TemporaryFolder folder;
  for (const char* program : programs) {
    const std::string text = imported_again(program, folder.path());
    EXPECT_EQ(results_of(text), results_of(program)) << program << "\n" << text;
  }
}

// --- refusals

TEST(Export, ReportsAllThatHasNoGraph) {
  EXPECT_THAT(problems_of("type Tree { Leaf(float32), Node(Tree, Tree) }\n"
                          "def @sum(%t: Tree) -> float32 { match (%t) { Leaf(%x) => %x, Node(%a, %b) => "
                          "@sum(%a) + @sum(%b) } }\n"
                          "def @main(%t: Tree) { @sum(%t) }"),
              ElementsAre(HasSubstr("ONNX has no inputs of the type `Tree`")));
  EXPECT_THAT(problems_of("def @main(%x: Tensor[(3,), float32]) {\n"
                          "  let %bits = bitwise_and(cast(%x, dtype=\"int32\"), 3);\n"
                          "  (%bits, unique(%x).0)\n"
                          "}"),
              ElementsAre("main.relay:2: `bitwise_and`: ONNX has no functions of bits before operator set 18",
                          "main.relay:3: `unique`: ONNX has no `unique`"));
  EXPECT_THAT(
      problems_of("def @halved(%x: float32) -> float32 { if (%x < 1.0) { %x } else { @halved(%x / 2.0) } }\n"
                  "def @main(%x: float32) { @halved(%x) }"),
      ElementsAre(HasSubstr("a function that calls itself")));
  EXPECT_THAT(problems_of("def @main(%x: Tensor[(4,), float32]) { 1 }\ndef @other() { 2 }"), ElementsAre());
}

class ExportFilesTest : public testing::Test {
 protected:
  std::vector<std::string> run(const std::string& text, ExportFiles request = {}) {
    request.text = (folder_ / "net.relay").string();
    std::ofstream(request.text) << text;
    request.output = (folder_ / "net.onnx").string();
    return export_files(request);
  }
  bool is_written() const { return fs::exists(folder_ / "net.onnx"); }

  TemporaryFolder folder_;
};

TEST_F(ExportFilesTest, TakesTopLevelVariablesAsConstants) {
  const std::string text =
      "let %w = [1.0, 2.0];\nprint(%w);\nlet %unused = 3;\n"
      "def @main(%w: Tensor[(2,), float32], %x: Tensor[(2,), float32]) { %w * %x }\n";
  EXPECT_THAT(run(text), ElementsAre());
  const auto model = read_model((folder_ / "net.onnx").string());
  ASSERT_TRUE(model);
  EXPECT_EQ(model->graph->inputs.size(), 1);
  EXPECT_EQ(model->graph->initializers.count("w"), 1);
  EXPECT_THAT(run(text), ElementsAre(HasSubstr("is there already")));
}

TEST_F(ExportFilesTest, WritesNothingWhereSomethingIsWrong) {
  const std::string text = "def @main(%x: Tensor[(2,), float32]) { %x }\n";
  EXPECT_THAT(run("def @main( {"), ElementsAre(HasSubstr("has errors")));
  EXPECT_THAT(run("def @f() { 1 }"), ElementsAre(HasSubstr("has no function `@main`")));
  ExportFiles request;
  request.constants = {"y=1"};
  EXPECT_THAT(run(text, request), ElementsAre("`@main` has no parameter `%y`"));
  request.constants = {"x"};
  EXPECT_THAT(run(text, request), ElementsAre(HasSubstr("has to be NAME=FILE")));
  request.constants = {"x=missing.npy"};
  EXPECT_THAT(run(text, request), ElementsAre(HasSubstr("missing.npy")));
  EXPECT_THAT(run("let %x: Tensor[(2,), float32] = load(\"missing.npy\");\n" + text),
              ElementsAre(HasSubstr("missing.npy")));
  EXPECT_FALSE(is_written());
}

}  // namespace

}  // namespace quern::onnx
