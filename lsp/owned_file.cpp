#include "lsp/owned_file.h"

#include <unistd.h>

#include <utility>

namespace quern::lsp {

OwnedFile::~OwnedFile() { close(); }

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

void OwnedFile::close() {
  if (number_ >= 0) ::close(number_);
  number_ = -1;
}

}  // namespace quern::lsp
