// Files that are no sound models, and models that have no text: one clear line each, and nothing is written.

#include "tests/import/bad_models.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(BadModels, ASoundOneIsWritten) {
  through("Relu");
  EXPECT_THAT(problems(), ElementsAre());
  EXPECT_TRUE(fs::exists(folder_ / "out.relay"));
}

TEST_F(BadModels, AFileThatIsCut) {
  through("Add", {"w"});
  add_weight(model_, "w", {2, 3}, std::vector<float>(6));
  const std::string path = saved(model_, folder_ / "model.onnx");
  fs::resize_file(path, fs::file_size(path) - 5);
  EXPECT_THAT(problems_of({path, "", {}, {}, false}),
              ElementsAre(HasSubstr("is no ONNX model, or only a part of one")));
}

TEST_F(BadModels, AFileOfAnotherKind) {
  std::ofstream(folder_ / "model.onnx") << "def @main() { 1 }";
  EXPECT_THAT(problems_of({(folder_ / "model.onnx").string(), "", {}, {}, false}),
              ElementsAre(HasSubstr("is no ONNX model")));
}

TEST_F(BadModels, AMessageWithoutAGraph) {
  model_.clear_graph();
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("it has no graph")));
}

TEST_F(BadModels, ATensorWithFewerBytesThanItsShape) {
  through("Add", {"w"});
  add_weight(model_, "w", {1000, 1000}, {1, 2});
  EXPECT_THAT(
      problems(),
      ElementsAre(HasSubstr("the tensor `w` has 8 bytes for the shape of Tensor[(1000, 1000), float32]")));
}

TEST_F(BadModels, ATensorWithANegativeExtent) {
  through("Add", {"w"});
  add_weight(model_, "w", {-1}, {});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("has the negative extent -1")));
}

TEST_F(BadModels, ATensorThatCannotBeAddressed) {
  through("Add", {"w"});
  add_weight(model_, "w", {int64_t{1} << 40, int64_t{1} << 40, 0}, {});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("more elements than can be addressed")));
}

TEST_F(BadModels, ATensorOfStrings) {
  through("Add", {"w"});
  add_weight(model_, "w", {1}, {1}).set_data_type(::onnx::TensorProto::STRING);
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("elements of the dtype STRING")));
}

class ExternalData : public BadModels, public testing::WithParamInterface<const char*> {};

TEST_P(ExternalData, OutsideOfTheFolderIsNotRead) {
  add_external({{"location", GetParam()}});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("only files in the model's folder are read")));
}

INSTANTIATE_TEST_SUITE_P(Import, ExternalData, testing::Values("../secret", "/etc/passwd", "a/../../b", ""));

TEST_F(BadModels, ExternalDataBehindALinkOutOfTheFolder) {
  const TemporaryFolder outside;
  std::ofstream(outside / "data") << "12345678";
  fs::create_symlink(outside / "data", folder_ / "link");
  add_external({{"location", "link"}});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("leads out of the model's folder")));
}

TEST_F(BadModels, ExternalDataThatEndsTooSoon) {
  std::ofstream(folder_ / "data") << "1234";
  add_external({{"location", "data"}, {"offset", "4"}});
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("has 8 bytes, which are not at byte 4 of the file")));
}

TEST_F(BadModels, ACycle) {
  add_node(model_, "Add", {"x", "b"}, {"a"});
  add_node(model_, "Relu", {"a"}, {"b"});
  add_output(model_, "b");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Add `a`: no node before it computes `b`")));
}

TEST_F(BadModels, AnOutputThatNothingComputes) {
  add_output(model_, "nothing");
  EXPECT_THAT(problems(), ElementsAre("nothing computes the output `nothing`"));
}

TEST_F(BadModels, AllUnknownOperatorsAreListed) {
  add_node(model_, "Mystery", {"x"}, {"a"});
  add_node(model_, "Enigma", {"x"}, {"b"}).set_domain("com.example");
  add_node(model_, "Add", {"a", "b"}, {"y"});
  add_output(model_, "y");
  EXPECT_THAT(problems(), ElementsAre("Mystery `a`: this operator has no counterpart",
                                      "Enigma `b`: is of the domain `com.example`, which is not known"));
}

TEST_F(BadModels, AnOperatorSetThatIsNotKnown) {
  through("Relu");
  model_.mutable_opset_import(0)->set_version(99);
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the model is of operator set 99")));
}

TEST_F(BadModels, AMillionNodes) {
  auto* graph = model_.mutable_graph();
  for (int i = 0; i < 1'000'000; ++i) {
    auto* node = graph->add_node();
    node->set_op_type("Relu");
    node->add_input("x");
    node->add_output("y");
  }
  add_output(model_, "y");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("the graph has 1000000 nodes")));
}

TEST_F(BadModels, GraphsInGraphs) {
  auto* graph = model_.mutable_graph();
  for (int i = 0; i < 200; ++i) {
    auto* node = graph->add_node();
    node->set_op_type("If");
    node->add_input("x");
    node->add_output("y");
    auto* attribute = node->add_attribute();
    attribute->set_name("then_branch");
    attribute->set_type(::onnx::AttributeProto::GRAPH);
    graph = attribute->mutable_g();
  }
  add_output(model_, "y");
  EXPECT_THAT(problems(), ElementsAre(testing::AnyOf(HasSubstr("too deep"), HasSubstr("is no ONNX model"))));
}

TEST_F(BadModels, FunctionsThatCallThemselves) {
  auto* function = model_.add_functions();
  function->set_domain("own");
  function->set_name("Again");
  function->add_input("a");
  function->add_output("b");
  auto* node = function->add_node();
  node->set_domain("own");
  node->set_op_type("Again");
  node->add_input("a");
  node->add_output("b");
  through("Again").set_domain("own");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("functions call each other too deep")));
}

// Each calls the next one twice: 2^24 nodes in a file of a few hundred bytes.
TEST_F(BadModels, FunctionsThatMultiply) {
  for (int level = 0; level < 24; ++level) {
    auto* function = model_.add_functions();
    function->set_domain("own");
    function->set_name("F" + std::to_string(level));
    function->add_input("a");
    function->add_output("c");
    for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "c")}) {
      auto* node = function->add_node();
      node->set_domain(level < 23 ? "own" : "");
      node->set_op_type(level < 23 ? "F" + std::to_string(level + 1) : "Identity");
      node->add_input(from);
      node->add_output(to);
    }
  }
  through("F0").set_domain("own");
  EXPECT_THAT(problems(), testing::Contains(HasSubstr("the model has more than 200000 nodes")));
}

TEST_F(BadModels, ANameOfAMillionParts) {
  std::string name;
  for (int i = 0; i < 1'000'000; ++i) name += "a.";
  through("Add", {name + "w"});
  add_weight(model_, name + "w", {2, 3}, std::vector<float>(6));
  EXPECT_THAT(problems(), ElementsAre());
}

// Letters that the language does not have in names do not make two symbols one.
TEST_F(BadModels, SymbolsOfOneSpelling) {
  model_.mutable_graph()->clear_input();
  add_input(model_, "x", {"a.b"});
  add_input(model_, "z", {"a/b"});
  through("Identity");
  EXPECT_THAT(problems(), ElementsAre());
  std::ostringstream text;
  text << std::ifstream(folder_ / "out.relay").rdbuf();
  EXPECT_THAT(text.str(),
              AllOf(HasSubstr("%x: Tensor[(a_b,), float32]"), HasSubstr("%z: Tensor[(a_b2,), float32]")));
}

TEST_F(BadModels, AnInputWithoutAShape) {
  through("Relu");
  model_.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->clear_shape();
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("the input `x` has no shape: give it with `--shape x=1,3,224,224`")));
  EXPECT_THAT(problems({"", "", {"x=4,n"}, {}, false}), ElementsAre());
}

TEST_F(BadModels, OptionsThatAreWrong) {
  through("Relu");
  EXPECT_THAT(problems({"", "", {"z=1"}, {}, false}), ElementsAre("--shape: the model has no input `z`"));
  EXPECT_THAT(problems({"", "", {"x=99999999999999999999,3"}, {}, false}),
              ElementsAre("--shape x: the extent 99999999999999999999 is too large"));
  EXPECT_THAT(problems({"", "", {"x"}, {}, false}), ElementsAre("`--shape x` has to be NAME=1,3,n"));
  EXPECT_THAT(problems({"", "", {}, {"x=what"}, false}),
              ElementsAre(HasSubstr("`what` is neither a file of data nor numbers")));
}

TEST_F(BadModels, FilesThatAreThereStay) {
  through("Relu");
  std::ofstream(folder_ / "out.relay") << "mine";
  ImportRequest request{
      saved(model_, folder_ / "model.onnx"), (folder_ / "out.relay").string(), {}, {}, false};
  EXPECT_THAT(import_files(request), ElementsAre(HasSubstr("is there already; `--force` writes over it")));
  std::string text;
  std::ifstream(folder_ / "out.relay") >> text;
  EXPECT_EQ(text, "mine");
}

}  // namespace

}  // namespace quern::onnx
