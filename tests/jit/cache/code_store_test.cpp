// Compiled code on disk that was changed behind its back, or that others may change.

#include "jit/cache/code_store.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "jit/cache/kernel_record.h"
#include "tests/session/compiled_main.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

class CodeStores : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("quern_store_{}", ::getpid());
    fs::remove_all(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path file() const { return folder_ / "kernels.db"; }
  std::string bytes() const {
    std::ifstream in(file(), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// The file alone, without a log beside it.
  void put(const std::string& bytes) const {
    for (const char* suffix : {"-wal", "-shm"}) fs::remove(file().string() + suffix);
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << bytes;
  }

  fs::path folder_;
};

/// Keys that differ in one bit, as those of a convolution's channels are.
std::map<std::string, std::string> similar_records() {
  std::map<std::string, std::string> records;
  for (char channel = '0'; channel < '8'; ++channel) {
    KernelRecord record;
    record.dims = {fmt::format("#{} ", channel)};
    record.objects = {std::string(700, channel)};
    const std::string key = fmt::format("build target\nslice(channel {}) of a convolution", channel);
    records.emplace(key, to_bytes(record, key));
  }
  return records;
}

TEST_F(CodeStores, GiveTheRecordOfTheKeyOrNone) {
  const std::map<std::string, std::string> records = similar_records();
  {
    CodeStore store(file());
    for (const auto& [key, record] : records) store.put(key, record);
  }
  const std::string good = bytes();
  ASSERT_GT(good.size(), 10'000U);
  size_t found = 0, refused = 0;
  for (size_t at = 0; at < good.size(); at += at < 100 ? 1 : 23) {
    std::string damaged = good;
    damaged[at] ^= static_cast<char>(1 << at % 8);
    put(damaged);
    CodeStore store(file());
    for (const auto& [key, record] : records) {
      const auto object = store.find(key);
      const bool is_whole = object && record_from_bytes(object->object, key);
      EXPECT_TRUE(!is_whole || object->object == record) << at;
      ++(is_whole ? found : refused);
    }
  }
  EXPECT_GT(found, refused);
  EXPECT_GT(refused, 0U);
}

TEST_F(CodeStores, GiveNoWrongResult) {
  const auto program = [](int channel) {
    return fmt::format(
        "def @main(%a: Tensor[(2, 6, 6), float32], %b: Tensor[(2, 3, 3), float32]) {{ [y < 4, x < 4] => "
        "sum[r < 3, s < 3] %a[{0}, y + r, x + s] * %b[{0}, r, s] }}",
        channel);
  };
  const CompilerOptions options{Tiers::Best, file()};
  const auto result = [&](int channel) {
    CompiledMain main(program(channel), options);
    TensorPtr found = main.run();
    main.compiler.wait_until_idle();
    return found;
  };
  const TensorPtr expected[] = {result(0), result(1)};
  const std::string good = bytes();
  for (size_t k = 0; k < 24; ++k) {
    const size_t at = (k * 977 + 13) * good.size() / (24 * 977 + 13);
    std::string damaged = good;
    damaged[at] ^= 1;
    put(damaged);
    for (const int channel : {0, 1}) EXPECT_TRUE(same_bits(result(channel), expected[channel])) << at;
  }
}

TEST_F(CodeStores, ArePrivate) {
  const mode_t before = ::umask(0);
  {
    CodeStore store(file());
    store.put("key", "object");
    EXPECT_TRUE(store.find("key"));
  }
  ::umask(before);
  EXPECT_EQ(distrust(file()), "");
  EXPECT_EQ(fs::status(folder_).permissions(), fs::perms::owner_all);
  for (const fs::path& open : {file(), folder_})
    for (const fs::perms more : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(open, more, fs::perm_options::add);
      EXPECT_NE(distrust(file()).find(fmt::format("others may write {} ", open.string())), std::string::npos);
      CodeStore store(file());
      EXPECT_FALSE(store.find("key"));
      store.put("key", "other");
      EXPECT_FALSE(store.find("key"));
      fs::permissions(open, more, fs::perm_options::remove);
    }
  CodeStore store(file());
  const auto found = store.find("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->object, "object");
  if (::geteuid() != 0) return;
  ASSERT_EQ(::chown(file().c_str(), 12345, 12345), 0);
  EXPECT_NE(distrust(file()).find("belongs to another user"), std::string::npos);
  EXPECT_FALSE(CodeStore(file()).find("key"));
}

TEST_F(CodeStores, ThatOthersMayWriteAreWarnedOfOnce) {
  fs::create_directories(folder_);
  fs::permissions(folder_, fs::perms::all);
  std::ofstream(folder_ / "two.relay") << "print([1f, 2f] + 1f);\nprint([3f, 4f] * 2f)\n";
  std::FILE* pipe = ::popen(fmt::format("QUERN_CACHE={} {} run {} 2>&1 >/dev/null", file().string(),
                                        QUERN_BINARY, (folder_ / "two.relay").string())
                                .c_str(),
                            "r");
  ASSERT_NE(pipe, nullptr);
  std::string said(4096, '\0');
  said.resize(std::fread(said.data(), 1, said.size(), pipe));
  EXPECT_EQ(::pclose(pipe), 0);
  const std::string warning =
      "warning: the cache of compiled code is not used: others may write " + folder_.string();
  EXPECT_NE(said.find(warning), std::string::npos) << said;
  EXPECT_EQ(std::ranges::count(said, '\n'), 1) << said;
  EXPECT_FALSE(fs::exists(file()));
}

}  // namespace
}  // namespace quern
