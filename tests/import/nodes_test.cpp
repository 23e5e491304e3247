// What nodes compute whose cases ONNX's test data do not have: texts of random vectorizers against a count by hand, and a scan over
// a batch.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/import/nodes.h"

namespace quern::onnx {

namespace {

/// A random TfIdfVectorizer with data, and its result by the words of ONNX's documentation.
struct Vectorizer {
  explicit Vectorizer(unsigned seed) : random(seed) {
    longest = draw(1, 4);
    shortest = draw(1, longest);
    skips = draw(0, 4);
    mode = std::vector<std::string>{"TF", "IDF", "TFIDF"}[static_cast<size_t>(draw(0, 2))];
    rows = draw(0, 3);
    columns = draw(0, 12);
    is_wide = draw(0, 1) == 1;
    for (int64_t length = 1; length <= longest + draw(0, 1); ++length) {
      begins.push_back(static_cast<int64_t>(pool.size()));
      // Of the shortest length there is a gram, so that there is something to count.
      for (int64_t count = draw(length == shortest ? 1 : 0, 4); count > 0; --count) {
        grams.emplace_back();
        for (int64_t k = 0; k < length; ++k) grams.back().push_back(token());
        pool.insert(pool.end(), grams.back().begin(), grams.back().end());
      }
    }
    for (int64_t k = 0; k < static_cast<int64_t>(grams.size()) + draw(0, 2); ++k) places.push_back(k);
    if (draw(0, 1) == 1) std::ranges::shuffle(places, random);
    places.resize(grams.size());
    for (size_t k = 0; k < grams.size(); ++k) weights.push_back(static_cast<float>(draw(1, 8)) / 4);
    for (int64_t k = 0; k < std::max<int64_t>(rows, 1) * columns; ++k) tokens.push_back(draw(0, 2));
  }

  int64_t draw(int64_t low, int64_t high) { return std::uniform_int_distribution(low, high)(random); }
  /// One of few; or one that becomes one of them where it is cut to 32 bits.
  int64_t token() { return draw(0, 2) + (draw(0, 9) == 0 ? int64_t{1} << 32 : 0); }

  ::onnx::ModelProto model() const {
    ::onnx::ModelProto model = empty_model();
    std::vector<std::string> shape = {std::to_string(columns)};
    if (rows > 0) shape.insert(shape.begin(), std::to_string(rows));
    add_input(model, "x", shape, is_wide ? ::onnx::TensorProto::INT64 : ::onnx::TensorProto::INT32);
    add_output(model, "y");
    auto& node = add_node(model, "TfIdfVectorizer", {"x"}, {"y"});
    auto* named = node.add_attribute();
    named->set_name("mode");
    named->set_type(::onnx::AttributeProto::STRING);
    named->set_s(mode);
    set_integer(node, "min_gram_length", shortest);
    set_integer(node, "max_gram_length", longest);
    set_integer(node, "max_skip_count", skips);
    set_integers(node, "pool_int64s", pool);
    set_integers(node, "ngram_counts", begins);
    set_integers(node, "ngram_indexes", places);
    auto* floats = node.add_attribute();
    floats->set_name("weights");
    floats->set_type(::onnx::AttributeProto::FLOATS);
    for (float weight : weights) floats->add_floats(weight);
    return model;
  }

  TensorPtr data() const {
    Shape shape = {columns};
    if (rows > 0) shape.insert(shape.begin(), rows);
    if (is_wide) return HostTensor::from<int64_t>(DType::int64(), shape, tokens);
    return HostTensor::from<int32_t>(DType::int32(), shape,
                                     std::vector<int32_t>(tokens.begin(), tokens.end()));
  }

  int64_t count(const std::vector<int64_t>& gram, int64_t row) const {
    int64_t found = 0;
    const auto length = static_cast<int64_t>(gram.size());
    for (int64_t step = 1; step <= (length == 1 ? 1 : skips + 1); ++step)
      for (int64_t begin = 0; begin + (length - 1) * step < columns; ++begin) {
        bool is_here = true;
        for (int64_t k = 0; k < length; ++k)
          is_here = is_here && tokens[static_cast<size_t>(row * columns + begin + k * step)] ==
                                   gram[static_cast<size_t>(k)];
        found += is_here ? 1 : 0;
      }
    return found;
  }

  std::vector<double> wanted() const {
    const int64_t width = *std::ranges::max_element(places) + 1, height = std::max<int64_t>(rows, 1);
    std::vector<double> result(static_cast<size_t>(width * height), 0);
    for (int64_t row = 0; row < height; ++row)
      for (size_t k = 0; k < grams.size(); ++k) {
        const auto length = static_cast<int64_t>(grams[k].size());
        if (length < shortest || length > longest) continue;
        const auto occurrences = static_cast<double>(count(grams[k], row));
        result[static_cast<size_t>(row * width + places[k])] =
            mode == "TF" ? occurrences
                         : weights[k] * (mode == "IDF" ? std::min(occurrences, 1.0) : occurrences);
      }
    return result;
  }

  std::mt19937 random;
  int64_t shortest, longest, skips, rows, columns;  ///< no rows: the data are a vector
  std::string mode;
  bool is_wide;
  std::vector<std::vector<int64_t>> grams;
  std::vector<int64_t> pool, begins, places, tokens;
  std::vector<float> weights;
};

TEST(ImportedNodes, VectorizersCountTheirGrams) {
  double all = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const Vectorizer vectorizer(seed);
    const std::vector<double> wanted = vectorizer.wanted();
    EXPECT_EQ(elements_of(computed(vectorizer.model(), {{"x", vectorizer.data()}}, seed % 2 == 0)), wanted);
    for (double element : wanted) all += element;
  }
  EXPECT_GT(all, 100);
}

// Each sequence has a state of its own, and is read from its end.
TEST(ImportedNodes, ScansOverABatch) {
  ::onnx::ModelProto model = empty_model();
  model.mutable_opset_import(0)->set_version(8);
  add_input(model, "s", {"2"});
  add_input(model, "x", {"2", "3"});
  add_output(model, "z");
  auto& scan = add_node(model, "Scan", {"", "s", "x"}, {"y", "z"});
  set_integer(scan, "num_scan_inputs", 1);
  set_integers(scan, "directions", {1});
  auto* body = scan.add_attribute();
  body->set_name("body");
  body->set_type(::onnx::AttributeProto::GRAPH);
  for (const char* name : {"before", "next"}) set_type(*body->mutable_g()->add_input(), name, {});
  for (const char* name : {"after", "row"}) {
    set_type(*body->mutable_g()->add_output(), name, {});
    auto* sum = body->mutable_g()->add_node();
    sum->set_op_type("Add");
    sum->add_input("before");
    sum->add_input("next");
    sum->add_output(name);
  }
  const std::map<std::string, TensorPtr> inputs = {{"s", floats({2}, {10, 20})},
                                                   {"x", floats({2, 3}, {1, 2, 3, 4, 5, 6})}};
  for (bool interprets : {true, false})
    EXPECT_EQ(elements_of(computed(model, inputs, interprets)),
              (std::vector<double>{16, 15, 13, 35, 31, 26}));
}

}  // namespace

}  // namespace quern::onnx
