// Nodes whose inputs or attributes have no meaning: one clear line each, and nothing is written.

#include "tests/import/bad_models.h"

namespace quern::onnx {

namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(BadModels, NoGroups) {
  model_.mutable_graph()->clear_input();
  add_input(model_, "x", {"1", "4", "2"});
  auto* groups = through("GroupNormalization", {"w", "w"}).add_attribute();
  groups->set_name("num_groups");
  groups->set_type(::onnx::AttributeProto::INT);
  groups->set_i(0);
  add_weight(model_, "w", {2}, std::vector<float>(2));
  EXPECT_THAT(problems(), ElementsAre("GroupNormalization `y`: has no groups"));
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

  void set(const std::string& name, const char* value) {
    fresh(name, ::onnx::AttributeProto::STRING).set_s(value);
  }
  void set(const std::string& name, int64_t value) { fresh(name, ::onnx::AttributeProto::INT).set_i(value); }
  void set(const std::string& name, const std::vector<int64_t>& values) {
    auto& attribute = fresh(name, ::onnx::AttributeProto::INTS);
    for (int64_t value : values) attribute.add_ints(value);
  }
  void remove(const std::string& name) { fresh(name, ::onnx::AttributeProto::INT).set_name("of_no_meaning"); }

  ::onnx::AttributeProto& fresh(const std::string& name, ::onnx::AttributeProto::AttributeType type) {
    auto& node = *model_.mutable_graph()->mutable_node(0);
    for (auto& attribute : *node.mutable_attribute())
      if (attribute.name() == name) {
        attribute.Clear();
        attribute.set_name(name);
        attribute.set_type(type);
        return attribute;
      }
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return *attribute;
  }

  void expect(const std::string& problem) {
    EXPECT_THAT(problems(), ElementsAre("TfIdfVectorizer `y`: " + problem));
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

TEST_F(BadModels, ShapesThatDoNotFit) {
  through("Add", {"w"});
  add_weight(model_, "w", {5, 7}, std::vector<float>(35));
  EXPECT_THAT(problems(), ElementsAre(HasSubstr("Add `y`: ")));
}

}  // namespace

}  // namespace quern::onnx
