// Mean pooling over random windows against sums that are counted one by one: what of a window counts is part
// of the data, or of the data with its padding, and never of what `ceil_mode` adds behind it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/support/cases.h"
#include "tests/support/compare.h"
#include "tests/support/library.h"
#include "tests/support/random_tensors.h"

namespace quern::numeric {
namespace {

struct Pooling {
  Shape extents;  ///< height and width, or depth, height and width
  std::vector<int64_t> window, strides, dilation, before, after;
  bool ceil_mode = false, with_pad = false;

  size_t rank() const { return extents.size(); }
  int64_t count(size_t axis) const {
    int64_t room = extents[axis] + before[axis] + after[axis] - (window[axis] - 1) * dilation[axis] - 1;
    return (room + (ceil_mode ? strides[axis] - 1 : 0)) / strides[axis] + 1;
  }
  std::string call() const {
    std::vector<int64_t> padding = before;
    padding.insert(padding.end(), after.begin(), after.end());
    return fmt::format(
        "nn.avg_pool{}d(%a, pool_size={}, strides={}, dilation={}, padding={}, ceil_mode={}, "
        "count_include_pad={})",
        rank(), list_text(window), list_text(strides), list_text(dilation), list_text(padding),
        ceil_mode ? "True" : "False", with_pad ? "True" : "False");
  }
};

Pooling draw(Random& random, size_t rank) {
  Pooling p;
  for (size_t axis = 0; axis < rank; ++axis) {
    p.window.push_back(random.integer(1, 4));
    p.strides.push_back(random.integer(1, 3));
    p.dilation.push_back(random.integer(1, 2));
    p.before.push_back(random.integer(0, 2));
    p.after.push_back(random.integer(0, 2));
    p.extents.push_back((p.window.back() - 1) * p.dilation.back() + random.integer(1, 3));
  }
  p.ceil_mode = random.chance(0.6);
  p.with_pad = random.chance(0.6);
  return p;
}

/// Goes through all places of a shape, row-major.
template <class F>
void for_each_place(const Shape& shape, F&& visit) {
  Shape place(shape.size(), 0);
  for (int64_t left = element_count(shape); left > 0; --left) {
    visit(place);
    for (size_t axis = shape.size(); axis-- > 0;) {
      if (++place[axis] < shape[axis]) break;
      place[axis] = 0;
    }
  }
}

TensorPtr counted(const Pooling& p, const HostTensor& data) {
  Shape shape = {1, 1};
  for (size_t axis = 0; axis < p.rank(); ++axis) shape.push_back(p.count(axis));
  TensorPtr result = HostTensor::make(DType::float64(), shape);
  size_t next = 0;
  for_each_place(Shape(shape.begin() + 2, shape.end()), [&](const Shape& out) {
    double sum = 0;
    int64_t terms = 0;
    for_each_place(p.window, [&](const Shape& tap) {
      bool inside = true, padded = true;
      int64_t offset = 0;
      for (size_t axis = 0; axis < p.rank(); ++axis) {
        int64_t at = out[axis] * p.strides[axis] + tap[axis] * p.dilation[axis] - p.before[axis];
        inside = inside && at >= 0 && at < p.extents[axis];
        padded = padded && at < p.extents[axis] + p.after[axis];
        offset = offset * p.extents[axis] + at;
      }
      terms += p.with_pad ? padded : inside;
      if (inside) sum += data.elements<double>()[static_cast<size_t>(offset)];
    });
    result->elements<double>()[next++] = terms > 0 ? sum / static_cast<double>(terms) : 0;
  });
  return result;
}

TEST(MeanPooling, CountsWhatIsInTheDataOrItsPadding) {
  Random random(7);
  std::vector<Case> cases;
  std::vector<TensorPtr> wanted;
  Entries<TensorPtr> tensors;
  for (size_t k = 0; k < 60; ++k) {
    Pooling p = draw(random, 2 + k % 2);
    // The last windows of this one reach two places behind the padding.
    if (k == 1) p = {{5, 3, 10}, {4, 1, 4}, {2, 1, 1}, {1, 1, 2}, {2, 2, 2}, {2, 2, 2}, true, true};
    Shape shape = {1, 1};
    shape.insert(shape.end(), p.extents.begin(), p.extents.end());
    tensors.emplace_back(fmt::format("a{}", k),
                         random.tensor(DType::float64(), shape, Values::SmallIntegers));
    wanted.push_back(counted(p, *tensors.back().second));
    cases.push_back({fmt::format("draw {}", k), p.call(), {{"a", tensors.back().first}}});
  }
  TemporaryFile file("mean_pooling");
  ASSERT_TRUE(write_tensors(file.path(), tensors));
  CaseSession session(file.path(), cases, library_texts());
  for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
    std::vector<Outcome> outcomes = session.run(evaluator);
    for (size_t k = 0; k < cases.size(); ++k) {
      ASSERT_EQ(outcomes[k].problem, "") << session.text(k);
      EXPECT_EQ(difference(*outcomes[k].tensor, *wanted[k], closeness(DType::float64(), 64)), "")
          << session.text(k) << ", " << to_string(evaluator);
    }
  }
}

}  // namespace
}  // namespace quern::numeric
