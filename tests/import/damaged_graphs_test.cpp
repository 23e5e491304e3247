// Stored graphs of TensorFlow, damaged at random: each is refused or has a text that the checker accepts, and nothing breaks.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <random>
#include <set>

#include "import/importer.h"
#include "import/tensorflow/model.h"
#include "tests/import/graph_cases.h"
#include "tests/import/graphs.h"
#include "tests/temporary_folder.h"

namespace quern::tensorflow {

namespace {

using Random = std::mt19937;

size_t below(Random& random, size_t count) { return count == 0 ? 0 : random() % count; }

/// One change of a byte, or an end that is cut off.
std::string with_damaged_bytes(std::string bytes, Random& random) {
  if (bytes.empty()) return bytes;
  if (below(random, 4) == 0) {
    bytes.resize(below(random, bytes.size()));
    return bytes;
  }
  for (size_t i = 0, count = 1 + below(random, 4); i < count; ++i)
    bytes[below(random, bytes.size())] = static_cast<char>(random());
  return bytes;
}

/// Some name of a value of the graph, which may be one that there is not.
std::string some_value(const format::GraphDef& graph, Random& random) {
  const std::string& name =
      graph.node(static_cast<int>(below(random, static_cast<size_t>(graph.node_size())))).name();
  switch (below(random, 6)) {
    case 0: return name + ":1";
    case 1: return "^" + name;
    case 2: return name + ":7";
    case 3: return "nothing";
    default: return name;
  }
}

void damage_attribute(format::NodeDef& node, Random& random) {
  if (node.attr().empty()) return;
  auto attribute = node.mutable_attr()->begin();
  std::advance(attribute, below(random, node.attr().size()));
  static constexpr int64_t kNumbers[] = {-1, 0, 1, 2, 1000, INT64_MIN, INT64_MAX};
  const int64_t number = kNumbers[below(random, std::size(kNumbers))];
  auto& value = attribute->second;
  switch (below(random, 6)) {
    case 0: value.set_i(number); break;
    case 1: value.set_s("SAME"); break;
    case 2: value.clear_value(); break;
    case 3: value.mutable_list()->add_i(number); break;
    case 4: value.set_type(format::DataType(below(random, 24))); break;
    default:
      if (value.has_tensor() && value.tensor().tensor_shape().dim_size() > 0)
        value.mutable_tensor()->mutable_tensor_shape()->mutable_dim(0)->set_size(number);
      else
        value.set_f(0.5);
  }
}

/// A sound message of a graph that is none.
std::string with_damaged_nodes(const std::string& bytes, Random& random) {
  format::GraphDef graph;
  if (!graph.ParseFromString(bytes) || graph.node_size() == 0) return bytes;
  for (size_t i = 0, count = 1 + below(random, 3); i < count; ++i) {
    const auto at = [&] { return static_cast<int>(below(random, static_cast<size_t>(graph.node_size()))); };
    auto& node = *graph.mutable_node(at());
    switch (below(random, 7)) {
      case 0: node.set_op(graph.node(at()).op()); break;
      case 1: node.set_name(graph.node(at()).name()); break;
      case 2: damage_attribute(node, random); break;
      case 3: node.add_input(some_value(graph, random)); break;
      case 4: node.clear_input(); break;
      case 5: graph.mutable_node()->SwapElements(at(), at()); break;
      default:
        if (node.input_size() > 0)
          node.set_input(static_cast<int>(below(random, static_cast<size_t>(node.input_size()))),
                         some_value(graph, random));
    }
  }
  return graph.SerializeAsString();
}

/// The cases of a family, each damaged some times, those of control flow more often.
class DamagedGraphs : public testing::TestWithParam<const char*> {};

TEST_P(DamagedGraphs, AreRefusedOrSound) {
  const bool is_flow = std::set<std::string>{"branches", "functions", "loops"}.contains(GetParam());
  const int times = is_flow ? 40 : 5;
  const TemporaryFolder folder;
  const std::string path = folder / "graph.pb";
  for (const onnx::GraphCase& test : onnx::graph_cases()) {
    if (test.family != GetParam()) continue;
    const std::string whole(reinterpret_cast<const char*>(test.graph->data()), test.graph->bytes());
    for (int time = 0; time < times; ++time) {
      SCOPED_TRACE(fmt::format("{}, time {}", test.name, time));
      Random random(static_cast<unsigned>(std::hash<std::string>()(test.name)) + static_cast<unsigned>(time));
      std::ofstream(path, std::ios::binary)
          << (time % 2 == 0 ? with_damaged_bytes(whole, random) : with_damaged_nodes(whole, random));
      const auto model = read_model(path, {});
      if (!model) {
        EXPECT_FALSE(model.error().message.empty());
        continue;
      }
      for (const std::string& problem : onnx::import_model(*model, {}).problems)
        EXPECT_THAT(problem, testing::Not(testing::HasSubstr("a bug of Quern")));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Import, DamagedGraphs,
                         testing::Values("branches", "functions", "images", "indices", "layers", "loops",
                                         "products", "shapes"),
                         [](const auto& test) { return std::string(test.param); });

}  // namespace

}  // namespace quern::tensorflow
