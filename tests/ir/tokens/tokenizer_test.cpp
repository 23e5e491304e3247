// Text as tokens and back, against what make_tokens.py stores in files/.

#include "ir/tokens/tokenizer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ir/io/data_files.h"
#include "tests/files.h"
#include "tests/temporary_folder.h"

namespace quern::tokenizer_test {
namespace {

namespace fs = std::filesystem;

const std::string kFiles = QUERN_SOURCE_DIR "/tests/ir/tokens/files/";

class Tokenizers : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << text;
    return (folder_ / name).string();
  }

  /// The ids of a text, as text, or what is wrong.
  std::string ids(const std::string& vocabulary, const std::string& text) const {
    const auto tokenizer = open_tokenizer(put("vocabulary.json", vocabulary));
    if (!tokenizer) return tokenizer.error().message;
    const auto found = (*tokenizer)->encode(text);
    if (!found) return found.error().message;
    std::string out;
    for (const int32_t id : *found) out += (out.empty() ? "" : " ") + std::to_string(id);
    return out;
  }

  /// Expects the file to be refused, by these words.
  void expect_refused(const std::string& name, const std::string& text, const std::string& what) const {
    const auto tokenizer = open_tokenizer(put(name, text));
    ASSERT_FALSE(tokenizer) << what;
    EXPECT_NE(tokenizer.error().message.find(what), std::string::npos) << tokenizer.error().message;
    EXPECT_TRUE(tokenizer.error().message.starts_with("Cannot read '" + folder_.path().string()))
        << tokenizer.error().message;
  }

  const TemporaryFolder folder_;
};

std::vector<int64_t> wide(const std::vector<int32_t>& ids) { return {ids.begin(), ids.end()}; }

TEST_F(Tokenizers, OfBytePairsDoAsThePublishedAlgorithm) {
  for (const std::string file : {"vocab.json", "tokenizer.json"}) {
    const auto tokenizer = open_tokenizer(kFiles + file);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    int count = 0;
    for (const auto& entry : fs::directory_iterator(kFiles)) {
      if (entry.path().extension() != ".npy") continue;
      SCOPED_TRACE(file + " " + entry.path().stem().string());
      const std::string text = read_file(fs::path(entry.path()).replace_extension(".txt"));
      const auto stored = read_tensors(entry.path().string());
      ASSERT_TRUE(stored) << stored.error().message;
      const auto elements = stored->front().second->elements<int32_t>();
      const auto found = (*tokenizer)->encode(text);
      ASSERT_TRUE(found) << found.error().message;
      EXPECT_EQ(*found, std::vector<int32_t>(elements.begin(), elements.end()));
      const auto again = (*tokenizer)->decode(wide(*found));
      ASSERT_TRUE(again) << again.error().message;
      EXPECT_EQ(*again, text);
      ++count;
    }
    EXPECT_EQ(count, 7);
  }
}

TEST_F(Tokenizers, GiveAnyBytesBack) {
  const auto tokenizer = open_tokenizer(kFiles + "vocab.json");
  ASSERT_TRUE(tokenizer);
  std::mt19937 random(8);
  const std::vector<std::string> parts = {
      "the ", "中", "\xff", "\xc3", "é", "\n", " ", "\xf0\x9f", "a", "<|endoftext|>", std::string(1, '\0')};
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (size_t size = random() % 60; text.size() < size;)
      text += round % 2 ? std::string(1, static_cast<char>(random() % 256)) : parts[random() % parts.size()];
    const auto ids = (*tokenizer)->encode(text);
    ASSERT_TRUE(ids) << ids.error().message;
    const auto again = (*tokenizer)->decode(wide(*ids));
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(*again, text);
  }
}

TEST_F(Tokenizers, OfAVocabularyTakeTheLongest) {
  EXPECT_EQ(ids(R"(["a", "b", "ab", "é"])", "abaéb"), "2 0 3 1");
  EXPECT_EQ(ids(R"({"a": 7, "aa": 3, "aaa": 9})", "aaaaa"), "9 3");
  EXPECT_EQ(ids(R"(["a"])", ""), "");
  EXPECT_EQ(ids(R"(["a", "<unk>"])", "aéa\xff"), "0 1 0 1");
  EXPECT_EQ(ids(R"(["a", "\n"])", "a\naéa"),
            "line 2, column 2: `é` is not in the vocabulary, which has no `<unk>` either");
  EXPECT_EQ(ids(R"(["é"])", "é\xff"),
            "line 1, column 2: the byte 255 is not in the vocabulary, which has no `<unk>` either");
  const auto tokenizer = open_tokenizer(put("v.json", R"({"a": 7, "é": 300})"));
  ASSERT_TRUE(tokenizer);
  const std::vector<int64_t> good = {7, 300}, bad = {7, 8}, negative = {-1}, large = {int64_t{1} << 40};
  EXPECT_EQ(*(*tokenizer)->decode(good), "aé");
  EXPECT_EQ((*tokenizer)->decode(bad).error().message, "element 1 is 8, which is no id of the vocabulary");
  EXPECT_EQ((*tokenizer)->decode(negative).error().message,
            "element 0 is -1, which is no id of the vocabulary");
  EXPECT_FALSE((*tokenizer)->decode(large));
}

TEST_F(Tokenizers, SayWhyTheyAreNotRead) {
  const std::vector<std::pair<std::string, std::string>> vocabularies = {
      {"", "it is no JSON list or object"},
      {"[\"a\"", "it is no JSON list or object"},
      {"7", "it is no JSON list or object"},
      {"[]", "it has no entries"},
      {"{}", "it has no entries"},
      {"[1]", "a vocabulary is a list of strings, or an object of strings with their ids"},
      {R"({"a": "b"})", "a vocabulary is a list of strings, or an object of strings with their ids"},
      {R"(["a", "a"])", "`a` has two ids"},
      {R"({"a": 1, "b": 1})", "the id 1 is that of two texts"},
      {R"({"a": -1})", "the id -1 of `a` is no int32 from 0 on"},
      {R"({"a": 2147483648})", "the id 2147483648 of `a` is no int32 from 0 on"},
      {R"([""])", "the text of id 0 is empty"},
  };
  for (const auto& [text, what] : vocabularies) expect_refused("v.json", text, what);
  const auto missing = open_tokenizer((folder_ / "none.json").string());
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("there is no such file"), std::string::npos);
}

TEST_F(Tokenizers, OfBytePairsNeedTheirMerges) {
  const std::string vocabulary = read_file(kFiles + "vocab.json");
  expect_refused("vocab.json", vocabulary, "needs `merges.txt` beside it");
  put("merges.txt", "#version: 0.2\na b c\n");
  expect_refused("vocab.json", vocabulary, "merges.txt': line 2 is not two tokens with a blank between");
  put("merges.txt", "#version: 0.2\nq zzz\n");
  expect_refused("vocab.json", vocabulary,
                 "merges.txt': merge 1 is of `q` and `zzz`, and the vocabulary has no `zzz`");
}

TEST_F(Tokenizers, OfOtherKindsAreRefused) {
  const std::string good = read_file(kFiles + "tokenizer.json");
  const auto with = [&](const std::string& from, const std::string& to) {
    const size_t at = good.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return std::string(good).replace(at, from.size(), to);
  };
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {R"("type": "BPE")", R"("type": "Unigram")", "its model is `Unigram`: only `BPE` is read"},
      {R"("normalizer": null)", R"("normalizer": {"type": "NFC"})",
       "by a normalizer, `NFC`, which is not read"},
      {R"({"type": "ByteLevel", "add)", R"({"type": "Metaspace", "add)", "its tokens are not of bytes"},
      {R"("add_prefix_space": false)", R"("add_prefix_space": true)", "puts a blank before each text"},
      {R"("merges": [)", R"("merges": ["q", )", "merge 1 is not two tokens"},
      {R"("merges": [)", R"("merges": [7, )", "it is not as a tokenizer.json is"},
      {R"("vocab": {)", R"("vocabulary": {)", "it is not as a tokenizer.json is"},
      {R"("vocab": {)", R"("vocab": {"☃": 5000, )", "`☃` has a character that stands for no byte"},
  };
  for (const auto& [from, to, what] : cases) expect_refused("tokenizer.json", with(from, to), what);
  // As newer ones are: pairs, and a pattern of their own before the bytes.
  const std::string split =
      R"({"type": "Sequence", "pretokenizers": [{"type": "Split", "pattern": {"Regex": "PATTERN"},)"
      R"( "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false,)"
      R"( "use_regex": false}]})";
  const std::string level =
      R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
  const auto of_pattern = [&](const std::string& pattern) {
    return with(level, std::string(split).replace(split.find("PATTERN"), 7, pattern));
  };
  expect_refused("tokenizer.json", of_pattern("(a"), "its pattern of words is wrong at byte 2");
  const auto letters = open_tokenizer(put("tokenizer.json", of_pattern("[a-z]")));
  ASSERT_TRUE(letters) << letters.error().message;
  EXPECT_EQ((*letters)->encode("the").value().size(), 3u);
  const auto all = open_tokenizer(put("tokenizer.json", of_pattern(".+")));
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_LT((*all)->encode("the").value().size(), 3u);
}

}  // namespace
}  // namespace quern::tokenizer_test
