// The binary files of CIFAR-10 and CIFAR-100 (https://www.cs.toronto.edu/~kriz/cifar.html): images of 3 x 32 x 32 bytes,
// each behind its label, or its two labels. Their number tells which of the two it is.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "ir/base/interrupt.h"
#include "ir/io/data_formats.h"

namespace quern::data_detail {

namespace {

constexpr uint64_t kImageBytes = 3 * 32 * 32;

struct Label {
  const char* name;
  int classes;
};
using Labels = std::vector<Label>;

/// The labels come first, then the image.
class CifarFile final : public TensorFile {
 public:
  CifarFile(const std::string& path, const Labels& labels, std::unique_ptr<FileSource> source)
      : TensorFile(path, names_of(labels)), labels_(labels), source_(std::move(source)) {}

 protected:
  Result<TensorHeader> read_header(size_t entry) override {
    const auto count = static_cast<int64_t>(source_->size() / record_bytes());
    return TensorHeader{DType::uint8(), entry < labels_.size() ? Shape{count} : Shape{count, 3, 32, 32}};
  }

  Result<TensorPtr> read_tensor(size_t entry) override {
    auto header = read_header(entry);
    if (!header) return header.error();
    if (auto done = source_->move_to(0); !done) return done.error();
    TensorPtr tensor = HostTensor::make(header->dtype, header->shape);
    std::vector<std::byte> record(record_bytes());
    const size_t part = entry < labels_.size() ? 1 : kImageBytes;
    for (size_t k = 0; k < static_cast<size_t>(header->shape[0]); ++k) {
      if (is_interrupted()) return Failure{kInterrupted};
      if (auto done = source_->read(record, "its records"); !done) return done.error();
      const auto wrong = label_fault(record);
      if (!wrong.empty()) return source_->failure(fmt::format("record {}: {}", k, wrong));
      std::ranges::copy(std::span(record).subspan(entry, part), tensor->data() + k * part);
    }
    return tensor;
  }

 private:
  static std::vector<std::string> names_of(const Labels& labels) {
    std::vector<std::string> names;
    for (const Label& label : labels) names.emplace_back(label.name);
    names.emplace_back("images");
    return names;
  }

  uint64_t record_bytes() const { return labels_.size() + kImageBytes; }

  /// Other data may have the size that these have.
  std::string label_fault(std::span<const std::byte> record) const {
    for (size_t k = 0; k < labels_.size(); ++k)
      if (std::to_integer<int>(record[k]) >= labels_[k].classes)
        return fmt::format("its label is {}, and there are {} classes", std::to_integer<int>(record[k]),
                           labels_[k].classes);
    return "";
  }

  const Labels labels_;
  const std::unique_ptr<FileSource> source_;
};

}  // namespace

OpenedFile open_cifar(const std::string& path, std::unique_ptr<FileSource> source) {
  const Labels kinds[] = {{{"labels", 10}}, {{"coarse_labels", 20}, {"fine_labels", 100}}};
  for (const Labels& labels : kinds)
    if (source->size() > 0 && source->size() % (labels.size() + kImageBytes) == 0)
      return std::shared_ptr<TensorFile>(std::make_shared<CifarFile>(path, labels, std::move(source)));
  return source->failure(
      fmt::format("its {} bytes are neither records of CIFAR-10 nor of CIFAR-100", source->size()));
}

}  // namespace quern::data_detail
