// Any bytes as a file of tensors; the first one says of which kind. What is read is written and read again.

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ir/io/data_files.h"
#include "tests/fuzz/fail.h"

namespace {

using namespace quern;

/// Those that are only read come last.
constexpr const char* kEndings[] = {".npy", ".npz", ".safetensors", ".csv",    ".png",
                                    ".jpg", ".txt", ".idx",         ".idx.gz", ".bin"};
constexpr size_t kWritten = 7;

/// A file of its own for each input: open files are known again by path, size and time.
class InputFile {
 public:
  InputFile(const char* data, size_t size, const std::string& ending) {
    static uint64_t number = 0;
    const std::filesystem::path memory = "/dev/shm";
    const auto folder = std::filesystem::exists(memory) ? memory : std::filesystem::temp_directory_path();
    path_ = folder / ("quern_fuzz_" + std::to_string(getpid()) + "_" + std::to_string(number++) + ending);
    std::ofstream(path_, std::ios::binary).write(data, static_cast<std::streamsize>(size));
  }
  ~InputFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return -1;
  const size_t kind = data[0] % std::size(kEndings);
  const std::string ending = kEndings[kind];
  const InputFile file(reinterpret_cast<const char*>(data) + 1, size - 1, ending);
  const auto headers = read_tensor_headers(file.path());
  const auto tensors = read_tensors(file.path());
  if (!tensors) return tensors.error().message.empty() ? (fuzz::fail("a failure has no message"), 0) : 0;
  if (!headers || headers->size() != tensors->size())
    fuzz::fail("headers alone are not those of the tensors");
  if (kind >= kWritten) return 0;
  const InputFile copy("", 0, ending);
  if (const auto written = write_tensors(copy.path(), *tensors); !written)
    fuzz::fail("what was read cannot be written", written.error().message);
  const auto again = read_tensors(copy.path());
  if (!again) fuzz::fail("what was written cannot be read", again.error().message);
  if (again->size() != tensors->size()) fuzz::fail("what was written has other entries");
  return 0;
}
