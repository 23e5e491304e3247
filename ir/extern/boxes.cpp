#include "ir/extern/boxes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ir/base/interrupt.h"

namespace quern {

namespace {

/// What the four columns of a box are.
enum class BoxFormat {
  Corners,  ///< two opposite corners, in any order
  Centers,  ///< the center, then the extents
};

/// The boxes of one batch: rows of `width` numbers.
class Boxes {
 public:
  Boxes(const HostTensor& data, int64_t batch, BoxFormat format = BoxFormat::Corners)
      : data_(data),
        first_(batch * data.shape()[1] * data.shape()[2]),
        width_(data.shape()[2]),
        format_(format) {}

  double at(int64_t box, int64_t column) const {
    return element_as_double(data_, first_ + box * width_ + column);
  }
  /// Intersection over union of two boxes, whose columns begin at `start`.
  double overlap(int64_t a, int64_t b, int64_t start) const {
    double area = 1, area_a = 1, area_b = 1;
    for (int64_t k = 0; k < 2; ++k) {
      auto [a_low, a_high] = side(a, start + k);
      auto [b_low, b_high] = side(b, start + k);
      area *= std::max(0.0, std::min(a_high, b_high) - std::max(a_low, b_low));
      area_a *= a_high - a_low;
      area_b *= b_high - b_low;
    }
    double all = area_a + area_b - area;
    return all <= 0 ? 0 : area / all;
  }

 private:
  /// Where a box begins and ends along one axis, by the two columns of that axis.
  std::pair<double, double> side(int64_t box, int64_t column) const {
    const double first = at(box, column), second = at(box, column + 2);
    if (format_ == BoxFormat::Centers) return std::minmax({first - second / 2, first + second / 2});
    return std::minmax({first, second});
  }

  const HostTensor& data_;
  int64_t first_, width_;
  BoxFormat format_;
};

void put(HostTensor& tensor, int64_t place, double value) {
  Scalar scalar = Scalar::from_double(tensor.dtype(), value);
  std::memcpy(tensor.data() + static_cast<size_t>(place) * tensor.dtype().bytes(), &scalar.bits,
              tensor.dtype().bytes());
}

void copy_row(const HostTensor& from, int64_t row, HostTensor& to, int64_t place) {
  size_t bytes = static_cast<size_t>(from.shape().back()) * from.dtype().bytes();
  std::memcpy(to.data() + static_cast<size_t>(place) * bytes, from.data() + static_cast<size_t>(row) * bytes,
              bytes);
}

TensorPtr filled(DType dtype, Shape shape, double value) {
  TensorPtr tensor = HostTensor::make(dtype, std::move(shape));
  for (int64_t k = 0; k < tensor->size(); ++k) put(*tensor, k, value);
  return tensor;
}

}  // namespace

Result<Value> get_valid_counts(std::span<Value> args, const ExternAttributes& attributes) {
  TensorPtr data = args[0].as_tensor(), threshold = args[1].as_tensor();
  const double least = element_as_double(*threshold, 0);
  const int64_t batches = data->shape()[0], boxes = data->shape()[1];
  const int64_t id = attributes.integer("id_index"), score = attributes.integer("score_index");
  TensorPtr counts = HostTensor::zeros(DType::int32(), {batches});
  TensorPtr kept = filled(data->dtype(), data->shape(), -1),
            from = filled(DType::int32(), {batches, boxes}, -1);
  for (int64_t n = 0; n < batches; ++n) {
    Boxes all(*data, n);
    int64_t count = 0;
    for (int64_t box = 0; box < boxes; ++box) {
      if (!(all.at(box, score) > least) || (id >= 0 && all.at(box, id) < 0)) continue;
      copy_row(*data, n * boxes + box, *kept, n * boxes + count);
      put(*from, n * boxes + count++, static_cast<double>(box));
    }
    put(*counts, n, static_cast<double>(count));
  }
  return Value::tuple({Value::tensor(counts), Value::tensor(kept), Value::tensor(from)});
}

namespace {

struct Suppression {
  const ExternAttributes& attributes;
  double most_overlap;
  int64_t most;  ///< the number of boxes to keep; all if negative

  struct Kept {
    int64_t box;
    int64_t rank;  ///< by descending score, among all candidates
  };
  /// The boxes of a batch that are kept, by descending score.
  std::vector<Kept> keep(const Boxes& boxes, int64_t count) const {
    const int64_t id = attributes.integer("id_index"), score = attributes.integer("score_index");
    const int64_t start = attributes.integer("coord_start"), top = attributes.integer("top_k");
    std::vector<int64_t> order(static_cast<size_t>(count));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return boxes.at(a, score) > boxes.at(b, score); });
    if (top >= 0) order.resize(static_cast<size_t>(std::min(top, count)));
    std::vector<Kept> kept;
    for (int64_t rank = 0; rank < static_cast<int64_t>(order.size()); ++rank) {
      stop_where_interrupted();
      const int64_t box = order[static_cast<size_t>(rank)];
      if (most >= 0 && static_cast<int64_t>(kept.size()) == most) break;
      if (boxes.at(box, score) <= 0 || (id >= 0 && boxes.at(box, id) < 0)) continue;
      bool covered = most_overlap > 0 && std::any_of(kept.begin(), kept.end(), [&](Kept better) {
                       bool same = attributes.boolean("force_suppress") || id < 0 ||
                                   boxes.at(better.box, id) == boxes.at(box, id);
                       return same && boxes.overlap(better.box, box, start) >= most_overlap;
                     });
      if (!covered) kept.push_back({box, rank});
    }
    return kept;
  }
};

}  // namespace

Result<Value> non_max_suppression(std::span<Value> args, const ExternAttributes& attributes) {
  TensorPtr data = args[0].as_tensor(), counts = args[1].as_tensor(), indices = args[2].as_tensor();
  const int64_t batches = data->shape()[0], boxes = data->shape()[1];
  const Suppression suppression{attributes, element_as_double(*args[4].as_tensor(), 0),
                                element_as_int(*args[3].as_tensor(), 0)};
  const bool positions = attributes.boolean("return_indices"),
             compact = attributes.boolean("invalid_to_bottom");
  TensorPtr result = filled(data->dtype(), data->shape(), -1);
  TensorPtr kept_at = filled(DType::int32(), {batches, boxes}, -1);
  TensorPtr kept_count = HostTensor::zeros(DType::int32(), {batches, 1});
  for (int64_t n = 0; n < batches; ++n) {
    const int64_t count = std::clamp<int64_t>(element_as_int(*counts, n), 0, boxes);
    std::vector<Suppression::Kept> kept = suppression.keep(Boxes(*data, n), count);
    put(*kept_count, n, static_cast<double>(kept.size()));
    int64_t place = 0;
    for (auto [box, rank] : kept) {
      copy_row(*data, n * boxes + box, *result, n * boxes + (compact ? place : rank));
      put(*kept_at, n * boxes + place++, static_cast<double>(element_as_int(*indices, n * boxes + box)));
    }
  }
  if (positions) return Value::tuple({Value::tensor(kept_at), Value::tensor(kept_count)});
  return Value::tensor(result);
}

namespace {

/// ONNX's suppression within one class.
struct ClassSuppression {
  const HostTensor& scores;
  double most_overlap, least_score;
  int64_t most;  ///< the number of boxes to keep; all if negative

  /// The boxes that are kept, by descending score; those of a class have their scores from `first` on.
  std::vector<int64_t> keep(const Boxes& boxes, int64_t first, int64_t count) const {
    auto score = [&](int64_t box) { return element_as_double(scores, first + box); };
    std::vector<int64_t> order, kept;
    for (int64_t box = 0; box < count; ++box)
      if (score(box) > least_score) order.push_back(box);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return score(a) > score(b); });
    for (int64_t box : order) {
      stop_where_interrupted();
      if (most >= 0 && static_cast<int64_t>(kept.size()) == most) break;
      if (std::none_of(kept.begin(), kept.end(), [&](int64_t better) { return covers(boxes, better, box); }))
        kept.push_back(box);
    }
    return kept;
  }

 private:
  /// Overlaps are rounded as the threshold is, so that one that equals it does not exceed it.
  bool covers(const Boxes& boxes, int64_t better, int64_t box) const {
    return Scalar::from_double(scores.dtype(), boxes.overlap(better, box, 0)).as_double() > most_overlap;
  }
};

/// Rows of numbers, one behind the other.
void put_row(HostTensor& tensor, int64_t row, std::initializer_list<int64_t> numbers) {
  int64_t place = row * static_cast<int64_t>(numbers.size());
  for (int64_t number : numbers) tensor.elements<int64_t>()[static_cast<size_t>(place++)] = number;
}

}  // namespace

Result<Value> all_class_non_max_suppression(std::span<Value> args, const ExternAttributes& attributes) {
  TensorPtr boxes = args[0].as_tensor(), scores = args[1].as_tensor();
  const int64_t batches = scores->shape()[0], classes = scores->shape()[1], count = scores->shape()[2];
  const BoxFormat format = attributes.boolean("center_point_box") ? BoxFormat::Centers : BoxFormat::Corners;
  const ClassSuppression suppression{*scores, element_as_double(*args[3].as_tensor(), 0),
                                     element_as_double(*args[4].as_tensor(), 0),
                                     element_as_int(*args[2].as_tensor(), 0)};
  const bool by_batch = *attributes["output_format"].as_string() == "tensorflow";
  const int64_t columns = by_batch ? 2 : 3;
  TensorPtr kept = HostTensor::zeros(DType::int64(), {batches * classes * count, columns});
  TensorPtr kept_scores = HostTensor::zeros(scores->dtype(), {batches, classes * count});
  TensorPtr number = HostTensor::zeros(DType::int64(), {by_batch ? batches : 1});
  int64_t row = 0;
  for (int64_t n = 0; n < batches; ++n) {
    if (by_batch) row = n * classes * count;
    const int64_t begin = row;
    for (int64_t c = 0; c < classes; ++c) {
      const int64_t first = (n * classes + c) * count;
      for (int64_t box : suppression.keep(Boxes(*boxes, n, format), first, count)) {
        if (by_batch) {
          put_row(*kept, row, {c, box});
          put(*kept_scores, row, element_as_double(*scores, first + box));
        } else {
          put_row(*kept, row, {n, c, box});
        }
        ++row;
      }
    }
    number->elements<int64_t>()[by_batch ? static_cast<size_t>(n) : 0] += row - begin;
  }
  if (!by_batch) return Value::tuple({Value::tensor(kept), Value::tensor(number)});
  kept = HostTensor::view(kept, {batches, classes * count, 2});
  return Value::tuple({Value::tensor(kept), Value::tensor(kept_scores), Value::tensor(number)});
}

}  // namespace quern
