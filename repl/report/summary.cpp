#include "repl/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "ir/value/prelude_values.h"
#include "repl/report/command_text.h"

namespace quern {

namespace {

/// Finds tensors with a stack of its own: a value is as deep as a list of its own type is long.
class TensorSearch {
 public:
  explicit TensorSearch(size_t most) : most_(most) {}

  std::vector<InnerTensor> in(const Value& value) {
    rest_.push_back({"", &value});
    while (!rest_.empty() && found_.size() < most_) {
      const auto [name, next] = std::move(rest_.back());
      rest_.pop_back();
      look(name, *next);
    }
    return std::move(found_);
  }

 private:
  struct Step {
    std::string name;
    const Value* value;
  };

  void look(const std::string& name, const Value& value) {
    const auto begin = static_cast<ptrdiff_t>(rest_.size());
    if (TensorPtr tensor = value.as_tensor()) {
      found_.push_back({name, std::move(tensor)});
    } else if (auto* reference = value.object_as<RefObject>()) {
      // It may be reached from itself.
      if (seen_.insert(reference).second) rest_.push_back({name, &reference->content});
    } else if (auto list = list_of(value, static_cast<int64_t>(most_), 1)) {
      for (size_t i = 0; i < list->front.size(); ++i)
        rest_.push_back({fmt::format("{}[{}]", name, i), list->front[i]});
    } else if (const auto* fields = value.fields()) {
      const auto* data = value.object_as<DataObject>();
      for (size_t i = 0; i < fields->size(); ++i)
        rest_.push_back({part_name(name, data ? data->constructor.fields[i] : "", i), &(*fields)[i]});
    }
    std::reverse(rest_.begin() + begin, rest_.end());
  }

  static std::string part_name(const std::string& name, std::string_view field, size_t index) {
    if (field.empty()) return fmt::format("{}.{}", name, index);
    return name.empty() ? std::string(field) : fmt::format("{}.{}", name, field);
  }

  const size_t most_;
  std::vector<Step> rest_;
  std::vector<InnerTensor> found_;
  std::unordered_set<const RefObject*> seen_;
};

std::string short_number(double value, int digits = 6) {
  return std::isnan(value) ? "-" : fmt::format("{:.{}g}", value, digits);
}

std::string dims_text(const HostTensor& tensor) {
  return fmt::format("({}{})", fmt::join(tensor.shape(), ", "), tensor.shape().size() == 1 ? "," : "");
}

std::string one_text(const HostTensor& tensor) {
  const NumberSummary of = summarize(tensor);
  std::vector<std::vector<std::string>> rows{
      {"dtype", to_string(tensor.dtype())},
      {"shape", dims_text(tensor)},
      {"elements", fmt::format("{}, {}", tensor.size(), bytes_text(tensor.bytes()))},
      {"mean", short_number(of.mean)},
      {"std", short_number(of.deviation)},
      {"min", short_number(of.least)}};
  for (size_t i = 0; i < of.quantiles.size(); ++i)
    rows.push_back(
        {fmt::format("{:g} %", 100 * NumberSummary::kQuantiles[i]), short_number(of.quantiles[i])});
  rows.push_back({"max", short_number(of.greatest)});
  rows.push_back({"zeros", std::to_string(of.zeros)});
  rows.push_back({"NaN", std::to_string(of.nans)});
  rows.push_back({"Inf", std::to_string(of.infinities)});
  return columns_text(rows, "ll");
}

}  // namespace

std::vector<InnerTensor> tensors_in(const Value& value, size_t most) { return TensorSearch(most).in(value); }

std::string summary_text(const std::vector<InnerTensor>& tensors) {
  if (tensors.size() == 1 && tensors[0].name.empty()) return one_text(*tensors[0].tensor);
  std::vector<std::vector<std::string>> rows{
      {"", "dtype", "shape", "min", "mean", "max", "std", "zeros", "NaN", "Inf"}};
  int64_t elements = 0;
  size_t bytes = 0;
  for (const auto& [name, tensor] : tensors) {
    const NumberSummary of = summarize(*tensor);
    rows.push_back({name, to_string(tensor->dtype()), dims_text(*tensor), short_number(of.least, 4),
                    short_number(of.mean, 4), short_number(of.greatest, 4), short_number(of.deviation, 4),
                    std::to_string(of.zeros), std::to_string(of.nans), std::to_string(of.infinities)});
    elements += tensor->size();
    bytes += tensor->bytes();
  }
  return columns_text(rows, "lllrrrrrrr") + fmt::format("{} tensor{}, {} elements, {}\n", tensors.size(),
                                                        tensors.size() == 1 ? "" : "s", elements,
                                                        bytes_text(bytes));
}

}  // namespace quern
