// Small graphs of TensorFlow (graph_cases.py), imported and run, against the results stored beside them.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>

#include "import/program/import_files.h"
#include "session/run/execution.h"
#include "tests/files.h"
#include "tests/import/graph_cases.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

using testing::ElementsAre;

void expect_equal(const HostTensor& found, const HostTensor& wanted) {
  ASSERT_EQ(found.dtype(), wanted.dtype());
  ASSERT_EQ(found.shape(), wanted.shape());
  for (int64_t i = 0; i < wanted.size(); ++i) {
    const double value = element_as_double(found, i), expected = element_as_double(wanted, i);
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(value)) << i;
    else
      EXPECT_NEAR(value, expected, 1e-5 * std::max(1.0, std::abs(expected))) << i;
  }
}

class Graphs : public testing::TestWithParam<std::tuple<GraphCase, bool>> {};

TEST_P(Graphs, HaveTheirResults) {
  const auto& [test, interprets] = GetParam();
  const TemporaryFolder folder;
  write_graph(test, folder / "graph.pb");
  ImportRequest request{folder / "graph.pb", folder / "graph.relay"};
  for (size_t i = 0; i < test.results.size(); ++i) request.results.push_back(fmt::format("result:{}", i));
  ASSERT_THAT(import_files(request), ElementsAre());
  const std::string text = read_file(folder / "graph.relay");
  SCOPED_TRACE(text);
  ExecutionOptions options;
  options.interpret = interprets;
  for (const auto& [name, tensor] : test.inputs) {
    options.inputs[name] = folder / (name + ".npy");
    ASSERT_TRUE(write_tensors(options.inputs[name], {{"", tensor}}));
  }
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "graph.relay", text, folder.path().string());
  ASSERT_FALSE(has_errors(session.check(source)));
  Execution execution(session, module, options, [](std::string_view) {});
  for (DeclarationId statement : session.statements(source)) ASSERT_FALSE(execution.run(statement).failure);
  const auto outcome = execution.run_entry("main");
  ASSERT_TRUE(outcome && outcome->value) << (outcome ? outcome->failure->message : "");
  for (size_t i = 0; i < test.results.size(); ++i) {
    const Value part = test.results.size() == 1 ? *outcome->value : (*outcome->value->fields())[i];
    expect_equal(*part.as_tensor(), *test.results[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Import, Graphs, testing::Combine(testing::ValuesIn(graph_cases()), testing::Bool()),
                         [](const auto& test) {
                           return fmt::format("{}_{}_{}", std::get<0>(test.param).family,
                                              std::get<0>(test.param).name,
                                              std::get<1>(test.param) ? "interpreted" : "compiled");
                         });

}  // namespace

}  // namespace quern::onnx
