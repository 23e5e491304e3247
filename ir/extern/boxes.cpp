#include "ir/extern/boxes.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "ir/base/interrupt.h"

namespace quern {

namespace {

/// The boxes of one batch: rows of `width` numbers.
class Boxes {
 public:
  Boxes(const HostTensor& data, int64_t batch)
      : data_(data), first_(batch * data.shape()[1] * data.shape()[2]), width_(data.shape()[2]) {}

  double at(int64_t box, int64_t column) const {
    return element_as_double(data_, first_ + box * width_ + column);
  }
  /// Intersection over union of two boxes; corners in any order.
  double overlap(int64_t a, int64_t b, int64_t start) const {
    double area = 1, area_a = 1, area_b = 1;
    for (int64_t k = 0; k < 2; ++k) {
      auto [a_low, a_high] = std::minmax({at(a, start + k), at(a, start + k + 2)});
      auto [b_low, b_high] = std::minmax({at(b, start + k), at(b, start + k + 2)});
      area *= std::max(0.0, std::min(a_high, b_high) - std::max(a_low, b_low));
      area_a *= a_high - a_low;
      area_b *= b_high - b_low;
    }
    double all = area_a + area_b - area;
    return all <= 0 ? 0 : area / all;
  }

 private:
  const HostTensor& data_;
  int64_t first_, width_;
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

}  // namespace quern
