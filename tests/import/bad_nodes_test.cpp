// Nodes whose inputs or attributes have no meaning: one clear line each, and nothing is written.

#include "tests/import/bad_models.h"

namespace quern::onnx {

namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(BadModels, NoGroups) {
  model_.mutable_graph()->clear_input();
  add_input(model_, "x", {"1", "4", "2"});
  through("GroupNormalization", {"w", "w"});
  set("num_groups", int64_t{0});
  add_weight(model_, "w", {2}, std::vector<float>(2));
  expect("has no groups");
}

/// A vectorizer of two grams of one token and one of two.
class BadVectorizers : public BadModels {
 protected:
  BadVectorizers() {
    model_.mutable_graph()->clear_input();
    add_input(model_, "x", {"8"}, ::onnx::TensorProto::INT32);
    through("TfIdfVectorizer");
    set("mode", "TF");
    set("min_gram_length", int64_t{1});
    set("max_gram_length", int64_t{2});
    set("max_skip_count", int64_t{0});
    set("pool_int64s", {4, 5, 4, 5});
    set("ngram_counts", {0, 2});
    set("ngram_indexes", {0, 2, 1});
  }
};

TEST_F(BadVectorizers, ASoundOneIsWritten) { EXPECT_THAT(problems(), ElementsAre()); }

TEST_F(BadVectorizers, OfStrings) {
  set("pool_strings", "a");
  expect("its tokens are strings");
}

TEST_F(BadVectorizers, WithoutGrams) {
  remove("pool_int64s");
  expect("lacks `pool_int64s`, `ngram_counts` or `ngram_indexes`");
}

TEST_F(BadVectorizers, HalfAGram) {
  set("pool_int64s", {4, 5, 4, 5, 4});
  expect("from 2 to 5 of its 5 tokens there are no grams of 2");
}

TEST_F(BadVectorizers, GramsBehindThePool) {
  set("ngram_counts", {0, 6});
  expect("from 0 to 6 of its 4 tokens there are no grams of 1");
}

TEST_F(BadVectorizers, GramsBeforeThePool) {
  set("ngram_counts", {-2, 2});
  expect("from -2 to 2 of its 4 tokens there are no grams of 1");
}

TEST_F(BadVectorizers, OtherNumbersOfColumnsAndWeights) {
  set("ngram_indexes", {0, 1});
  expect("has 3 grams and 2 columns for them");
  set("ngram_indexes", {0, 1, 2});
  auto& weights = fresh("weights", ::onnx::AttributeProto::FLOATS);
  weights.add_floats(0.5F);
  expect("has 3 grams and 1 weights of them");
}

TEST_F(BadVectorizers, ColumnsThatThereAreNot) {
  set("ngram_indexes", {0, -1, 1});
  expect("has a gram for column -1, and columns are 0 to 16777215");
  set("ngram_indexes", {0, int64_t{1} << 60, 1});
  expect("has a gram for column 1152921504606846976, and columns are 0 to 16777215");
  set("ngram_indexes", {0, 1, 1});
  expect("has two grams for column 1");
}

TEST_F(BadVectorizers, LengthsModesAndSkips) {
  set("max_gram_length", int64_t{3});
  expect("counts grams of 1 to 3 tokens and has those of 1 to 2");
  set("max_gram_length", int64_t{2});
  set("min_gram_length", int64_t{0});
  expect("counts grams of 0 to 2 tokens and has those of 1 to 2");
  set("min_gram_length", int64_t{1});
  set("max_skip_count", int64_t{-1});
  expect("skips up to -1 tokens");
  set("mode", "BM25");
  expect("has the mode `BM25`");
}

TEST_F(BadVectorizers, NoGramsOfALength) {
  set("ngram_counts", {0, 4});
  set("ngram_indexes", {0, 1, 2, 3});
  set("min_gram_length", int64_t{2});
  expect("has no grams of 2 to 2 tokens");
}

TEST_F(BadVectorizers, DataThatAreNoTokens) {
  model_.mutable_graph()->clear_input();
  add_input(model_, "x", {"2", "3", "4"}, ::onnx::TensorProto::INT32);
  expect("its input is neither a sequence of tokens nor a batch of them");
}

/// A `Scan` of operator set 8 over a batch: of `x`, with the state `s`.
class BadScans : public BadModels {
 protected:
  BadScans() {
    model_.mutable_opset_import(0)->set_version(8);
    auto* graph = model_.mutable_graph();
    graph->clear_input();
    add_input(model_, "s", {"2"});
    add_input(model_, "x", {"2", "3"});
    add_output(model_, "y");
    add_output(model_, "z");
    auto& scan = add_node(model_, "Scan", {"", "s", "x"}, {"y", "z"});
    auto* count = scan.add_attribute();
    count->set_name("num_scan_inputs");
    count->set_type(::onnx::AttributeProto::INT);
    count->set_i(1);
    auto* body = scan.add_attribute();
    body->set_name("body");
    body->set_type(::onnx::AttributeProto::GRAPH);
    for (const char* name : {"before", "next"}) set_type(*body->mutable_g()->add_input(), name, {});
    for (const char* name : {"after", "row"}) set_type(*body->mutable_g()->add_output(), name, {});
    for (const char* name : {"after", "row"}) {
      auto* sum = body->mutable_g()->add_node();
      sum->set_op_type("Add");
      sum->add_input("before");
      sum->add_input("next");
      sum->add_output(name);
    }
  }
  ::onnx::NodeProto& scan() { return *model_.mutable_graph()->mutable_node(0); }
};

TEST_F(BadScans, ASoundOneIsWritten) { EXPECT_THAT(problems(), ElementsAre()); }

TEST_F(BadScans, SequencesWithLengths) {
  add_input(model_, "lengths", {"2"}, ::onnx::TensorProto::INT64);
  scan().set_input(0, "lengths");
  EXPECT_THAT(problems(), ElementsAre("Scan `y`: its sequences have lengths of their own"));
}

TEST_F(BadScans, FewerInputsThanAreScanned) {
  scan().mutable_attribute(0)->set_i(3);
  EXPECT_THAT(problems(), ElementsAre("Scan `y`: has fewer inputs than it scans"));
  scan().mutable_attribute(0)->set_i(0);
  EXPECT_THAT(problems(), ElementsAre("Scan `y`: has fewer inputs than it scans"));
}

TEST_F(BadScans, ABodyOfOtherInputs) {
  scan().mutable_attribute(1)->mutable_g()->mutable_input()->RemoveLast();
  EXPECT_THAT(problems(),
              ElementsAre("Scan `y`: its body has another number of inputs or outputs than it has itself"));
}

TEST_F(BadScans, AnInputWithoutSteps) {
  model_.mutable_graph()->clear_input();
  add_input(model_, "s", {"2"});
  add_input(model_, "x", {"2"});
  EXPECT_THAT(problems(), ElementsAre("Scan `y`: scans an input that lacks the axis of its elements"));
}

TEST_F(BadModels, MelWeightsOfDataThatAreNotKnown) {
  model_.mutable_graph()->clear_input();
  for (const char* name : {"bins", "length", "rate"})
    add_input(model_, name, {"1"}, ::onnx::TensorProto::INT64);
  for (const char* name : {"low", "high"}) add_input(model_, name, {"1"});
  add_node(model_, "MelWeightMatrix", {"bins", "length", "rate", "low", "high"}, {"y"});
  add_output(model_, "y");
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("give them with `--constant bins=FILE.npy`")));
  const std::vector<std::string> sizes = {"bins=4", "length=16", "rate=8000"};
  EXPECT_THAT(
      problems({"", "", {}, sizes, false}),
      ElementsAre("MelWeightMatrix `y`: `low` has to be known: give it with `--constant low=FILE.npy`"));
  std::vector<std::string> all = sizes;
  all.insert(all.end(), {"low=0.0", "high=4000.0"});
  all.back() = "high=-1.0";
  EXPECT_THAT(problems({"", "", {}, all, false}), ElementsAre(HasSubstr("the edges are not below 0")));
  all.back() = "high=4000.0";
  EXPECT_THAT(problems({"", "", {}, all, false}), ElementsAre());
}

TEST_F(BadModels, PeepholesOfAnotherLength) {
  model_.mutable_graph()->clear_input();
  add_input(model_, "x", {"5", "1", "3"});
  through("LSTM", {"w", "r", "", "", "", "", "p"});
  add_weight(model_, "w", {1, 8, 3}, std::vector<float>(24, 1));
  add_weight(model_, "r", {1, 8, 2}, std::vector<float>(16, 1));
  add_weight(model_, "p", {1, 8}, std::vector<float>(8, 1));
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("the peepholes are (directions, 3 * units), or an empty vector")));
}

/// A model of one node, `op` of inputs of these shapes.
class BadNodes : public BadModels {
 protected:
  BadNodes() { model_.mutable_graph()->clear_input(); }
  void node(const std::string& op, const std::vector<std::vector<std::string>>& shapes) {
    std::vector<std::string> names;
    for (const auto& shape : shapes) {
      names.push_back(std::string(1, static_cast<char>('a' + names.size())));
      add_input(model_, names.back(), shape);
    }
    add_node(model_, op, names, {"y"});
    add_output(model_, "y");
  }
  /// Gives the node one more input, of integers that are known.
  void add_integers(const std::vector<int64_t>& values) {
    auto* graph = model_.mutable_graph();
    auto* tensor = graph->add_initializer();
    tensor->set_name("integers" + std::to_string(graph->initializer_size()));
    tensor->set_data_type(::onnx::TensorProto::INT64);
    tensor->add_dims(static_cast<int64_t>(values.size()));
    graph->mutable_node(0)->add_input(tensor->name());
    set_integers(values, graph->initializer_size() - 1);
  }
  void set_integers(const std::vector<int64_t>& values, int tensor = 0) {
    auto* known = model_.mutable_graph()->mutable_initializer(tensor);
    known->set_dims(0, static_cast<int64_t>(values.size()));
    known->clear_int64_data();
    for (int64_t value : values) known->add_int64_data(value);
  }
};

TEST_F(BadNodes, BoxesOfOtherThanRowsAndColumns) {
  node("MaxRoiPool", {{"1", "2", "6", "6"}, {"3", "5"}});
  expect("lacks its attribute `pooled_shape`");
  set("pooled_shape", Integers{2});
  expect("its `pooled_shape` is [2], and not how many rows and columns a box has");
  set("pooled_shape", {2, 0});
  expect("its `pooled_shape` is [2, 0], and not how many rows and columns a box has");
  set("pooled_shape", {2, 3});
  EXPECT_THAT(problems(), ElementsAre());
}

TEST_F(BadNodes, DeformedWindowsWithAMask) {
  node("DeformConv",
       {{"1", "3", "4", "4"}, {"1", "3", "2", "2"}, {"1", "8", "3", "3"}, {"1"}, {"1", "4", "3", "3"}});
  expect("weighs the elements of its windows by a mask");
  model_.mutable_graph()->mutable_node(0)->set_input(4, "");
  EXPECT_THAT(problems(), ElementsAre());
  set("kernel_shape", {2, 3});
  expect("its `kernel_shape` is [2, 3], and that of its weights is [2, 2]");
  set("kernel_shape", {2, 2});
  set("offset_group", int64_t{2});
  expect("has 3 channels in 2 groups of offsets");
  set("offset_group", int64_t{0});
  expect("has 3 channels in 0 groups of offsets");
  set("offset_group", int64_t{3});
  EXPECT_THAT(problems(),
              ElementsAre(HasSubstr("`offset` has two channels for each element of a window in each group")));
  set("offset_group", int64_t{1});
  set("pads", {0, 1, 0});
  expect("its `pads` is not for 4 axes");
}

TEST_F(BadNodes, DeformedWindowsOfAVolume) {
  node("DeformConv", {{"1", "1", "4", "4", "4"}, {"1", "1", "2", "2", "2"}, {"1", "24", "3", "3", "3"}});
  expect("its data have rank 5; those of images, of rank 4, are known");
}

TEST_F(BadNodes, GridsOfASizeThatIsNotOne) {
  node("AffineGrid", {{"2", "2", "3"}});
  add_integers({2, 3, 4});
  expect("its `size` has 3 extents; images have 4 and volumes have 5");
  set_integers({1, 3, 4, 5});
  expect("has 2 matrices for 1 images");
  model_.mutable_graph()->clear_input();
  add_input(model_, "a", {"2"});
  expect("has a tensor of rank 1 for its matrices");
  model_.mutable_graph()->clear_input();
  add_input(model_, "a", {"2", "2", "3"});
  set_integers({2, 3, 4, 5});
  EXPECT_THAT(problems(), ElementsAre());
}

TEST_F(BadNodes, SizesThatAreNotKnown) {
  add_input(model_, "sizes", {"4"}, ::onnx::TensorProto::INT64);
  for (const char* op : {"AffineGrid", "CenterCropPad", "Col2Im"}) {
    model_.mutable_graph()->clear_output();
    model_.mutable_graph()->clear_node();
    add_output(model_, "y");
    if (model_.graph().input_size() == 1) add_input(model_, "x", {"2", "2", "3"});
    add_node(model_, op, {"x", "sizes"}, {"y"});
    expect("the integers of `sizes` have to be known: give them with `--constant sizes=FILE.npy`");
  }
}

TEST_F(BadNodes, PartsAroundACentreThatIsNotKnown) {
  node("CenterCropPad", {{"2", "n"}});
  add_integers({2, 3});
  expect("brings axis 1 from n to 3, which have to be known and not below 0");
  set("axes", Integers{0});
  expect("has another number of sizes than axes");
  set("axes", {0, -2});
  expect("has the axis 0 twice");
  set("axes", {0, 2});
  expect("there is no axis 2 in a tensor of rank 2");
  set("axes", Integers{0});
  set_integers({-1});
  expect("brings axis 0 from 2 to -1, which have to be known and not below 0");
  set_integers({3});
  EXPECT_THAT(problems(), ElementsAre());
}

TEST_F(BadNodes, BlocksThatAreNotOfTheImage) {
  node("Col2Im", {{"1", "8", "12"}});
  add_integers({4, 5});
  expect("lacks its input 2");
  add_integers({2, 2});
  EXPECT_THAT(problems(), ElementsAre());
  set_integers({2}, 1);
  expect("its image has 2 axes, and its blocks have 1");
  set_integers({2, 6}, 1);
  expect("its blocks reach over 6 elements of axis 1, which has 5");
  set_integers({2, 0}, 1);
  expect("has 0 among its extents, strides, dilations and pads");
  set_integers({2, 2}, 1);
  set("strides", {1, 2});
  expect("has 12 columns for 3 by 2 blocks");
  set("strides", Integers{1});
  expect("its `strides` is not for 2 axes");
  set("strides", {1, 1});
  set("pads", {0, 0, -1, 0});
  expect("has -1 among its extents, strides, dilations and pads");
}

TEST_F(BadNodes, ColumnsOfOtherRowsThanABlockHas) {
  node("Col2Im", {{"1", "7", "12"}});
  add_integers({4, 5});
  add_integers({2, 2});
  expect("has 7 rows, and 2 by 2 elements to a block");
  model_.mutable_graph()->clear_input();
  add_input(model_, "a", {"8", "12"});
  expect("its input is not a batch of columns");
}

TEST_F(BadNodes, NumbersOfNoDistribution) {
  node("RandomNormal", {});
  expect("lacks its attribute `shape`");
  set("shape", {2, -1});
  expect("draws a tensor of the shape [2, -1]");
  set("shape", Integers{2});
  set("scale", -1.0F);
  expect("has the mean 0 and the standard deviation -1");
  set("scale", 1.0F);
  set("seed", 1e30F);
  expect("has the seed 1.0000000150474662e+30");
  set("seed", 3.0F);
  set("dtype", int64_t{::onnx::TensorProto::INT32});
  expect("draws numbers of the dtype int32");
  set("dtype", int64_t{::onnx::TensorProto::STRING});
  expect("its `dtype` is STRING, which has no counterpart");
  set("dtype", int64_t{::onnx::TensorProto::DOUBLE});
  EXPECT_THAT(problems(), ElementsAre());
}

TEST_F(BadNodes, NumbersOfNoRange) {
  node("RandomUniformLike", {{"2"}});
  set("low", 2.0F);
  expect("draws from 2 up to 1");
}

TEST_F(BadNodes, ClassesThatAreNoIndices) {
  node("Multinomial", {{"2", "3"}});
  set("dtype", int64_t{::onnx::TensorProto::FLOAT});
  expect("draws classes of the dtype float32");
  set("dtype", int64_t{::onnx::TensorProto::INT64});
  set("sample_size", int64_t{0});
  expect("draws 0 samples");
  set("sample_size", int64_t{1});
  model_.mutable_graph()->clear_input();
  add_input(model_, "a", {"3"});
  expect("its input is not a batch of logarithms of probabilities");
}

TEST_F(BadScans, NumbersThatAreTheSameInEachTurn) {
  auto* sum = scan().mutable_attribute(1)->mutable_g()->mutable_node(1);
  sum->set_op_type("RandomNormalLike");
  sum->mutable_input()->RemoveLast();
  EXPECT_THAT(
      problems(),
      Contains("RandomNormalLike `row`: draws in a loop, where each turn would have the same numbers"));
  sum->set_op_type("Neg");
  EXPECT_THAT(problems(), ElementsAre());
}

TEST_F(BadModels, ShapesThatDoNotFit) {
  through("Add", {"w"});
  add_weight(model_, "w", {5, 7}, std::vector<float>(35));
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Add `y`: ")));
}

}  // namespace

}  // namespace quern::onnx
