#include "ir/io/data_formats.h"

namespace quern::data_detail {

namespace {

class OneTensorFile final : public TensorFile {
 public:
  OneTensorFile(const std::string& path, std::unique_ptr<FileSource> source, OneTensor reader)
      : TensorFile(path, {""}), source_(std::move(source)), reader_(reader) {}

 protected:
  Result<TensorHeader> read_header(size_t) override {
    if (auto done = source_->move_to(0); !done) return done.error();
    return reader_.header(*source_);
  }
  Result<TensorPtr> read_tensor(size_t) override {
    if (auto done = source_->move_to(0); !done) return done.error();
    return reader_.tensor(*source_);
  }

 private:
  const std::unique_ptr<FileSource> source_;
  const OneTensor reader_;
};

}  // namespace

OpenedFile open_one_tensor(const std::string& path, std::unique_ptr<FileSource> source, OneTensor reader) {
  return std::shared_ptr<TensorFile>(std::make_shared<OneTensorFile>(path, std::move(source), reader));
}

}  // namespace quern::data_detail
