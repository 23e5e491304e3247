#pragma once

namespace quern::lsp {

/// A file descriptor that is closed with it.
class OwnedFile {
 public:
  explicit OwnedFile(int number = -1) : number_(number) {}
  ~OwnedFile();
  OwnedFile(OwnedFile&& other) noexcept : number_(other.number_) { other.number_ = -1; }
  OwnedFile& operator=(OwnedFile&& other) noexcept;
  int number() const { return number_; }
  void close();

 private:
  int number_;
};

}  // namespace quern::lsp
