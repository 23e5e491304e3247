// Files that are no sound graphs of TensorFlow, and graphs that have no text: one clear line each, and nothing is written.

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>

#include "import/program/import_files.h"
#include "ir/io/data_files.h"
#include "tests/files.h"
#include "tests/import/graphs.h"
#include "tests/temporary_folder.h"

namespace quern::tensorflow {

namespace {

namespace fs = std::filesystem;
using onnx::import_files;
using onnx::ImportRequest;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class BadGraphs : public testing::Test {
 protected:
  BadGraphs() { add_input(graph_, "x", {2, 3}); }

  std::vector<std::string> problems(ImportRequest request = {}) {
    request.model = saved(graph_, folder_ / "graph.pb");
    return problems_of(request);
  }
  std::vector<std::string> problems_of(ImportRequest request) {
    request.output = (folder_ / "out.relay").string();
    auto found = import_files(request);
    if (!found.empty()) {
      EXPECT_FALSE(fs::exists(folder_ / "out.relay"));
      EXPECT_FALSE(fs::exists(folder_ / "out.safetensors"));
    }
    return found;
  }
  std::vector<std::string> problems_of_file(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return problems_of({(folder_ / name).string(), ""});
  }

  /// The nodes of a loop over `x`, whose states are `state`, `state2` and so on.
  void add_loop(const std::string& frame, const std::string& first, const std::string& prefix) {
    auto& enter = add_node(graph_, "Enter", prefix + "enter", {first});
    (*enter.mutable_attr())["frame_name"].set_s(frame);
    add_node(graph_, "Merge", prefix + "merge", {prefix + "enter", prefix + "next"});
    add_node(graph_, "IsFinite", prefix + "less", {prefix + "merge"});
    add_node(graph_, "LoopCond", prefix + "cond", {prefix + "less"});
    add_node(graph_, "Switch", prefix + "switch", {prefix + "merge", prefix + "cond"});
    add_node(graph_, "Relu", prefix + "body", {prefix + "switch:1"});
    add_node(graph_, "NextIteration", prefix + "next", {prefix + "body"});
    add_node(graph_, "Exit", prefix + "exit", {prefix + "switch"});
  }
  format::NodeDef& node(const std::string& name) {
    for (auto& each : *graph_.mutable_node())
      if (each.name() == name) return each;
    ADD_FAILURE() << "there is no " << name;
    return *graph_.mutable_node(0);
  }

  TemporaryFolder folder_;
  format::GraphDef graph_;
};

TEST_F(BadGraphs, ASoundOneIsWritten) {
  add_node(graph_, "Relu", "y", {"x"});
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_TRUE(fs::exists(folder_ / "out.relay"));
}

// As text the same graph is the same.
TEST_F(BadGraphs, ASoundOneAsText) {
  add_constant(graph_, "w", {3}, {1, 2, 3});
  add_node(graph_, "Add", "y", {"x", "w"});
  EXPECT_THAT(problems(), ElementsAre());
  const std::string text = read_file(folder_ / "out.relay");
  std::string written;
  google::protobuf::TextFormat::PrintToString(graph_, &written);
  std::ofstream(folder_ / "graph.pbtxt") << written;
  ImportRequest request{(folder_ / "graph.pbtxt").string(), (folder_ / "out.relay").string()};
  request.overwrites = true;
  EXPECT_THAT(import_files(request), ElementsAre());
  const std::string again = read_file(folder_ / "out.relay");
  EXPECT_EQ(again.substr(again.find('\n')), text.substr(text.find('\n')));
}

TEST_F(BadGraphs, AFileThatIsCut) {
  add_constant(graph_, "w", {3}, {1, 2, 3});
  const std::string path = saved(graph_, folder_ / "graph.pb");
  fs::resize_file(path, fs::file_size(path) - 5);
  EXPECT_THAT(problems_of({path, ""}),
              ElementsAre(HasSubstr("is no graph of TensorFlow, or only a part of one")));
}

TEST_F(BadGraphs, FilesOfOtherKinds) {
  EXPECT_THAT(problems_of_file("graph.pb", "def @main() { 1 }"),
              ElementsAre(HasSubstr("is no graph of TensorFlow")));
  EXPECT_THAT(problems_of_file("graph.pb", ""),
              ElementsAre(HasSubstr("is no graph of TensorFlow: it has no nodes")));
  EXPECT_THAT(problems_of_file("graph.pbtxt", "node { name: \"x\" op }"),
              ElementsAre(HasSubstr("is no graph of TensorFlow as text: line 1: ")));
  EXPECT_THAT(
      problems_of_file("graph.h5", ""),
      ElementsAre(HasSubstr("ends with neither .onnx (a model of ONNX), .pb or .pbtxt (a frozen graph of "
                            "TensorFlow) nor .json (a module of TVM)")));
}

TEST_F(BadGraphs, TextThatStandsTooDeep) {
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "library { function { node_def { attr { value { list {";
  EXPECT_THAT(problems_of_file("graph.pbtxt", text),
              ElementsAre(HasSubstr("is no graph of TensorFlow as text")));
}

TEST_F(BadGraphs, ASavedModel) {
  format::SavedModel model;
  model.set_saved_model_schema_version(1);
  model.add_meta_graphs(graph_.SerializeAsString());
  EXPECT_THAT(problems_of({saved(model, folder_ / "saved_model.pb"), ""}),
              ElementsAre(HasSubstr("is a saved model, whose weights are in other files: freeze it first")));
}

TEST_F(BadGraphs, TensorsThatLieAboutTheirSizes) {
  auto& tensor = add_constant(graph_, "w", {1000, 1000}, {1, 2});
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr(
                  "Const `w`: its `value` has 8 bytes for the shape of Tensor[(1000, 1000), float32]")));
  const auto shape = [&](const std::vector<int64_t>& extents) {
    tensor.mutable_tensor_shape()->clear_dim();
    set_shape(*tensor.mutable_tensor_shape(), extents);
  };
  shape({-2});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("its `value` has the negative extent -2")));
  shape({int64_t{1} << 40, int64_t{1} << 40, 0});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("has more elements than can be addressed")));
  shape({2});
  tensor.clear_tensor_content();
  for (float element : {1, 2, 3}) tensor.add_float_val(element);
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("has 3 elements for the shape of Tensor[(2,), float32]")));
  shape({int64_t{1} << 40});
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("has 3 elements for the shape of Tensor[(1099511627776,), float32]")));
}

// One element stands for all, and the last one of a list for the rest.
TEST_F(BadGraphs, ShortListsAreFilled) {
  auto& tensor = add_constant(graph_, "w", {3}, {});
  tensor.add_float_val(1);
  tensor.add_float_val(5);
  add_node(graph_, "Add", "y", {"x", "w"});
  EXPECT_THAT(problems(), ElementsAre());
  const auto weights = read_tensors((folder_ / "out.safetensors").string());
  ASSERT_TRUE(weights);
  EXPECT_THAT(weights->front().second->elements<float>(), ElementsAre(1, 5, 5));
}

TEST_F(BadGraphs, AConstantOfStrings) {
  add_constant(graph_, "w", {1}, {}).set_dtype(format::DT_STRING);
  add_node(graph_, "Add", "y", {"x", "w"});
  EXPECT_THAT(problems(), ElementsAre("Const `w`: has elements of a dtype that has no counterpart"));
}

TEST_F(BadGraphs, InputsThatAreMissing) {
  add_node(graph_, "Relu", "y", {"nothing"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Relu `y`: no node computes `nothing`")));
  node("y").set_input(0, "x:y:z:0");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Relu `y`: no node computes `x:y:z:0`")));
  node("y").clear_input();
  EXPECT_THAT(problems(), ElementsAre("Relu `y`: lacks its input 0"));
}

TEST_F(BadGraphs, AnOutputThatThereIsNot) {
  add_node(graph_, "Relu", "r", {"x"});
  add_node(graph_, "Neg", "y", {"r:5"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Neg `y`: reads output 5 of Relu `r`, which has 1")));
  auto& split = node("r");
  split.set_op("Split");
  (*split.mutable_attr())["num_split"].set_i(3);
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Neg `y`: reads output 5 of Split `r`, which has 3")));
  (*split.mutable_attr())["num_split"].set_i(-1);
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Neg `y`: reads output 5 of Split `r`, which has 0")));
  node("y").set_input(0, "r:99999999999999999999");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("no node computes")));
}

TEST_F(BadGraphs, NamesOfNodes) {
  add_node(graph_, "Relu", "y", {"x"});
  add_node(graph_, "Neg", "y", {"x"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("there are two nodes `y`")));
  node("y").set_name("");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("`` is no name of a node")));
  node("").set_name("a:1");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("`a:1` is no name of a node")));
}

TEST_F(BadGraphs, AllUnknownOperatorsAreListed) {
  add_node(graph_, "Mystery", "a", {"x"});
  add_node(graph_, "Enigma", "b", {"a", "x"});
  add_node(graph_, "Add", "y", {"a:2", "b"});
  EXPECT_THAT(problems(), ElementsAre("Mystery `a`: this operator has no counterpart",
                                      "Enigma `b`: this operator has no counterpart"));
}

TEST_F(BadGraphs, AttributesOfTheWrongKind) {
  add_node(graph_, "Cast", "c", {"x"});
  (*node("c").mutable_attr())["DstT"].set_s("float");
  EXPECT_THAT(problems(), ElementsAre("Cast `c`: its attribute `DstT` is of the wrong kind"));
  (*node("c").mutable_attr())["DstT"].set_type(format::DT_COMPLEX64);
  EXPECT_THAT(problems(), ElementsAre("Cast `c`: has the dtype DT_COMPLEX64, which has no counterpart"));
}

TEST_F(BadGraphs, ShapesThatDoNotFit) {
  add_constant(graph_, "w", {5}, std::vector<float>(5));
  add_node(graph_, "Add", "y", {"x", "w"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Add `y`: ")));
}

TEST_F(BadGraphs, Inputs) {
  add_node(graph_, "Relu", "y", {"x"});
  (*node("x").mutable_attr())["shape"].mutable_shape()->set_unknown_rank(true);
  EXPECT_THAT(problems(), ElementsAre("the input `x` has no shape: give it with `--shape x=1,3,224,224`"));
  ImportRequest shaped;
  shaped.shapes = {"x=n,3"};
  EXPECT_THAT(problems(shaped), ElementsAre());
  (*node("x").mutable_attr())["dtype"].set_type(format::DT_STRING);
  fs::remove(folder_ / "out.relay");
  EXPECT_THAT(problems(shaped), ElementsAre("`x` is of the dtype DT_STRING, which has no counterpart"));
}

TEST_F(BadGraphs, Results) {
  add_node(graph_, "Relu", "y", {"x"});
  add_node(graph_, "Neg", "z", {"y"});
  ImportRequest request;
  request.results = {"w"};
  EXPECT_THAT(problems(request), ElementsAre(HasSubstr("--result: the graph has no node `w`")));
  request.results = {"y:1"};
  EXPECT_THAT(problems(request), ElementsAre(HasSubstr("--result: Relu `y` has no output 1")));
  add_node(graph_, "Merge", "unsound", {"z"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Merge `unsound`: has 1 inputs; two are known")));
  request.results = {"y:0"};
  EXPECT_THAT(problems(request), ElementsAre());
  EXPECT_THAT(read_file(folder_ / "out.relay"), testing::Not(HasSubstr("negative")));
}

TEST_F(BadGraphs, NothingButConstants) {
  graph_.clear_node();
  add_constant(graph_, "w", {1}, {1});
  EXPECT_THAT(problems(), ElementsAre("the graph has no outputs"));
}

TEST_F(BadGraphs, AMillionNodes) {
  for (int i = 0; i < 1'000'000; ++i) {
    auto* node = graph_.add_node();
    node->set_op("Relu");
    node->add_input("x");
  }
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the graph has 1000001 nodes; up to 200000 are read")));
}

// --- control flow

TEST_F(BadGraphs, ACycleThatIsNoLoop) {
  add_node(graph_, "Add", "a", {"x", "b"});
  add_node(graph_, "Relu", "b", {"a"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("needs its own result, and is in no loop")));
  node("b").clear_input();
  node("b").add_input("^b");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Relu `b` needs its own result, and is in no loop")));
}

TEST_F(BadGraphs, ALoopThatIsWhole) {
  add_loop("f", "x", "");
  node("less").set_op("All");
  node("less").clear_input();
  add_node(graph_, "IsFinite", "finite", {"merge"});
  add_node(graph_, "Const", "axes");
  auto& tensor = *(*node("axes").mutable_attr())["value"].mutable_tensor();
  tensor.set_dtype(format::DT_INT32);
  set_shape(*tensor.mutable_tensor_shape(), {2});
  tensor.add_int_val(0);
  tensor.add_int_val(1);
  node("less").add_input("finite");
  node("less").add_input("axes");
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_THAT(read_file(folder_ / "out.relay"), HasSubstr("@loop(%body)"));
}

TEST_F(BadGraphs, ALoopThatLacksAPart) {
  add_loop("f", "x", "");
  const format::GraphDef whole = graph_;
  node("cond").set_op("Identity");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the loop `f` has no condition")));
  graph_ = whole;
  node("enter").clear_attr();
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Enter `enter`: lacks its attribute `frame_name`")));
  graph_ = whole;
  node("merge").set_input(0, "next");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Exit `exit`: is in no loop")));
  graph_ = whole;
  node("exit").set_input(0, "less");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Exit `exit`: leaves its loop with what is no state of it")));
  graph_ = whole;
  add_node(graph_, "Exit", "leaves", {"x"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Exit `leaves`: is in no loop")));
  graph_ = whole;
  add_node(graph_, "Neg", "inside", {"merge"});
  ImportRequest request;
  request.results = {"inside"};
  EXPECT_THAT(problems(request), ElementsAre(HasSubstr("the output `inside` is inside of a loop")));
}

TEST_F(BadGraphs, LoopsThatMeet) {
  add_loop("f", "x", "");
  add_loop("g", "x", "2");
  add_node(graph_, "Add", "both", {"merge", "2merge"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("of which neither is inside of the other")));
}

TEST_F(BadGraphs, LoopsThatEnterEachOther) {
  add_loop("f", "x", "");
  node("enter").set_input(0, "x");
  auto& again = add_node(graph_, "Enter", "again", {"merge"});
  (*again.mutable_attr())["frame_name"].set_s("f");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the loop `f` enters itself")));
}

TEST_F(BadGraphs, LoopsThatStandTooDeep) {
  std::string last = "x";
  for (int i = 0; i < 100; ++i) {
    auto& enter = add_node(graph_, "Enter", "enter" + std::to_string(i), {last});
    (*enter.mutable_attr())["frame_name"].set_s("f" + std::to_string(i));
    last = enter.name();
  }
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("its loops stand too deep in each other")));
}

TEST_F(BadGraphs, BranchesWithoutACondition) {
  add_node(graph_, "Relu", "a", {"x"});
  add_node(graph_, "Neg", "b", {"x"});
  add_node(graph_, "Merge", "m", {"a", "b"});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Merge `m`: its inputs are of no condition")));
  node("m").add_input("x");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Merge `m`: has 3 inputs; two are known")));
}

TEST_F(BadGraphs, AResultOfOneBranch) {
  add_input(graph_, "p", {}, format::DT_BOOL);
  add_node(graph_, "Switch", "s", {"x", "p"});
  add_node(graph_, "Neg", "y", {"s:1"});
  ImportRequest request;
  request.results = {"y"};
  EXPECT_THAT(problems(request),
              ElementsAre(HasSubstr("the output `y` is computed under a condition alone")));
}

TEST_F(BadGraphs, BranchesThatStandTooDeep) {
  std::string last = "x";
  for (int i = 0; i < 100; ++i) {
    const std::string number = std::to_string(i);
    add_input(graph_, "p" + number, {}, format::DT_BOOL);
    add_node(graph_, "Switch", "s" + number, {last, "p" + number});
    last = "s" + number + ":1";
  }
  add_node(graph_, "Neg", "y", {last});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("its branches stand too deep in each other")));
}

// --- functions

class BadFunctions : public BadGraphs {
 protected:
  /// A function `name` of `a`, whose only node has this operator.
  format::NodeDef& add_function(const std::string& name, const std::string& op) {
    auto* function = graph_.mutable_library()->add_function();
    function->mutable_signature()->set_name(name);
    function->mutable_signature()->add_input_arg()->set_name("a");
    function->mutable_signature()->add_output_arg()->set_name("b");
    auto* node = function->add_node_def();
    node->set_name("n");
    node->set_op(op);
    node->add_input("a");
    (*function->mutable_ret())["b"] = "n:output:0";
    return *node;
  }
  void call(const std::string& name) {
    auto& node = add_node(graph_, "PartitionedCall", "y", {"x"});
    (*node.mutable_attr())["Tout"].mutable_list()->add_type(format::DT_FLOAT);
    (*node.mutable_attr())["f"].mutable_func()->set_name(name);
  }
};

TEST_F(BadFunctions, ThatThereAreNot) {
  call("f");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("there is no function `f`")));
  add_function("f", "Relu");
  EXPECT_THAT(problems(), ElementsAre());
  fs::remove(folder_ / "out.relay");
  node("y").clear_attr();
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("PartitionedCall `y`: names no function")));
}

TEST_F(BadFunctions, WithoutTheirResult) {
  add_function("f", "Relu");
  graph_.mutable_library()->mutable_function(0)->clear_ret();
  call("f");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the function `f` does not compute its result `b`")));
}

TEST_F(BadFunctions, ThatCallThemselves) {
  (*add_function("f", "PartitionedCall").mutable_attr())["f"].mutable_func()->set_name("f");
  call("f");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the function `f` calls itself")));
}

TEST_F(BadFunctions, ThatCallEachOtherTooDeep) {
  for (int i = 0; i < 1000; ++i)
    (*add_function("f" + std::to_string(i), "PartitionedCall").mutable_attr())["f"].mutable_func()->set_name(
        "f" + std::to_string(i + 1));
  call("f0");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("functions call each other too deep")));
}

// Each calls the next one twice: 2^24 nodes in a file of a few hundred bytes.
TEST_F(BadFunctions, ThatMultiply) {
  for (int i = 0; i < 24; ++i) {
    const bool is_last = i == 23;
    auto* function = graph_.mutable_library()->add_function();
    function->mutable_signature()->set_name("f" + std::to_string(i));
    function->mutable_signature()->add_input_arg()->set_name("a");
    function->mutable_signature()->add_output_arg()->set_name("b");
    for (const auto& [name, from] : {std::pair("m", "a"), std::pair("n", "m:output:0")}) {
      auto* node = function->add_node_def();
      node->set_name(name);
      node->set_op(is_last ? "Identity" : "PartitionedCall");
      node->add_input(from);
      (*node->mutable_attr())["Tout"].mutable_list()->add_type(format::DT_FLOAT);
      if (!is_last) (*node->mutable_attr())["f"].mutable_func()->set_name("f" + std::to_string(i + 1));
    }
    (*function->mutable_ret())["b"] = "n:output:0";
  }
  call("f0");
  EXPECT_THAT(problems(), Contains(HasSubstr("the model has more than 200000 nodes")));
}

}  // namespace

}  // namespace quern::tensorflow
