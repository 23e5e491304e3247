#include "ir/tokens/tokenizer.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "ir/base/interrupt.h"
#include "ir/io/data_formats.h"
#include "ir/tokens/byte_pairs.h"
#include "ir/tokens/vocabulary.h"

namespace quern {

namespace tokens_detail {

namespace {

using Json = nlohmann::json;
using Opened = Result<std::shared_ptr<const Tokenizer>>;

constexpr std::string_view kUnknown = "<unk>";

/// The bytes of a character in UTF-8; 1 where there is none.
size_t character_size(std::string_view rest) {
  const auto first = static_cast<unsigned char>(rest[0]);
  const size_t size = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (size > rest.size()) return 1;
  for (size_t k = 1; k < size; ++k)
    if ((static_cast<unsigned char>(rest[k]) & 0xC0) != 0x80) return 1;
  return size;
}

/// "line 3, column 5", both from 1 on and in characters.
std::string place_in(std::string_view text, size_t at) {
  size_t line = 1, column = 1;
  for (size_t k = 0; k < at; k += character_size(text.substr(k))) {
    column = text[k] == '\n' ? 1 : column + 1;
    line += text[k] == '\n';
  }
  return fmt::format("line {}, column {}", line, column);
}

/// A character, or the number of a byte that is none or is not shown.
std::string shown(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  const bool is_shown = character.size() > 1 || (first >= 0x20 && first < 0x7F);
  return is_shown ? fmt::format("`{}`", character) : fmt::format("the byte {}", first);
}

class LongestMatchTokenizer final : public Tokenizer {
 public:
  explicit LongestMatchTokenizer(Vocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)), match_(vocabulary_), unknown_(vocabulary_.find(kUnknown)) {}

  Result<std::vector<int32_t>> encode(std::string_view text) const override {
    std::vector<int32_t> ids;
    for (size_t at = 0; at < text.size();) {
      if (is_interrupted()) return Failure{kInterrupted};
      const std::string_view rest = text.substr(at);
      const auto found = match_.at(rest);
      const size_t size = found ? found->size : character_size(rest);
      if (!found && !unknown_)
        return Failure{fmt::format("{}: {} is not in the vocabulary, which has no `{}` either",
                                   place_in(text, at), shown(rest.substr(0, size)), kUnknown)};
      ids.push_back(found ? found->id : *unknown_);
      at += size;
    }
    return ids;
  }

  const std::string* text_of(int64_t id) const override { return vocabulary_.text_of(id); }

 private:
  const Vocabulary vocabulary_;
  const LongestMatch match_;
  const std::optional<int32_t> unknown_;
};

Failure unreadable(const std::string& path, std::string_view what) {
  return Failure{fmt::format("Cannot read '{}': {}.", path, what)};
}

Result<std::string> text_in(const std::string& path) {
  auto source = data_detail::FileSource::open(path);
  if (!source) return source.error();
  std::string text((*source)->size(), '\0');
  auto done = (*source)->read(std::as_writable_bytes(std::span(text)), "the text");
  if (!done) return done.error();
  return text;
}

/// The message of the Failure is a clause.
Result<Vocabulary> vocabulary_of(const Json& json) {
  Vocabulary vocabulary;
  int64_t place = 0;
  for (const auto& [key, value] : json.items()) {
    const bool fits = json.is_object() ? value.is_number_integer() : value.is_string();
    if (!fits) return Failure{"a vocabulary is a list of strings, or an object of strings with their ids"};
    std::string fault = json.is_object() ? vocabulary.add(key, value.get<int64_t>())
                                         : vocabulary.add(value.get<std::string>(), place++);
    if (!fault.empty()) return Failure{std::move(fault)};
  }
  if (vocabulary.entries().empty()) return Failure{"it has no entries"};
  return vocabulary;
}

/// Two texts with a blank between them.
std::optional<std::pair<std::string, std::string>> merge_in(std::string_view line) {
  const size_t blank = line.find(' ');
  const bool is_pair = blank != std::string_view::npos && blank > 0 && blank + 1 < line.size() &&
                       line.find(' ', blank + 1) == std::string_view::npos;
  if (!is_pair) return std::nullopt;
  return std::pair(std::string(line.substr(0, blank)), std::string(line.substr(blank + 1)));
}

/// Takes what no merge makes out of the bytes' business: it stands for itself.
std::string add_unmade(BytePairs& parts) {
  std::set<std::string> made(byte_characters().begin(), byte_characters().end());
  for (const auto& [left, right] : parts.merges) made.insert(left + right);
  for (const auto& [id, text] : parts.vocabulary.entries())
    if (std::string fault = made.contains(text) ? "" : parts.added.add(text, id); !fault.empty())
      return fault;
  return "";
}

/// `vocab.json` with its `merges.txt`, a merge in each line behind a first line with a `#`.
Opened gpt2(const std::string& path, Vocabulary vocabulary) {
  const std::string merges_path = (std::filesystem::path(path).parent_path() / "merges.txt").string();
  const auto merges = text_in(merges_path);
  if (!merges)
    return unreadable(path, "it has an entry for each byte, as GPT-2's, and needs `merges.txt` beside it: " +
                                merges.error().message);
  BytePairs parts;
  parts.vocabulary = std::move(vocabulary);
  size_t number = 0;
  for (std::string_view rest = *merges; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty() || (++number == 1 && line.starts_with("#version"))) continue;
    auto merge = merge_in(line);
    if (!merge)
      return unreadable(merges_path, fmt::format("line {} is not two tokens with a blank between", number));
    parts.merges.push_back(std::move(*merge));
  }
  if (std::string fault = add_unmade(parts); !fault.empty()) return unreadable(path, fault);
  parts.words.push_back(*Words::of(kGpt2Words));
  auto made = make_tokenizer(std::move(parts));
  return made ? made : unreadable(merges_path, made.error().message);
}

/// Adds what splits the text; the message of the Failure is a clause.
Result<Done> add_words(const Json& pre_tokenizer, BytePairs& parts) {
  const std::string type = pre_tokenizer.value("type", "");
  if (type == "Sequence") {
    for (const Json& part : pre_tokenizer.at("pretokenizers"))
      if (auto done = add_words(part, parts); !done) return done;
    return Done{};
  }
  std::string pattern(kGpt2Words);
  if (type == "Split") {
    if (pre_tokenizer.value("behavior", "") != "Isolated" || pre_tokenizer.value("invert", false))
      return Failure{"its `Split` is not `Isolated`, which is the only one that is read"};
    const Json& of = pre_tokenizer.at("pattern");
    if (!of.contains("Regex")) return Failure{"its `Split` has no `Regex`"};
    pattern = of.at("Regex").get<std::string>();
  } else if (type != "ByteLevel") {
    return Failure{
        fmt::format("its pre-tokenizer `{}` is neither `ByteLevel`, `Split` nor a sequence of them", type)};
  } else if (pre_tokenizer.value("add_prefix_space", true)) {
    return Failure{
        "its `ByteLevel` puts a blank before each text (`add_prefix_space`), which is not done here"};
  } else if (!pre_tokenizer.value("use_regex", true)) {
    return Done{};
  }
  auto words = Words::of(pattern);
  if (!words) return words.error();
  parts.words.push_back(std::move(*words));
  return Done{};
}

bool has_byte_level(const Json& pre_tokenizer) {
  if (!pre_tokenizer.is_object()) return false;
  if (pre_tokenizer.value("type", "") == "ByteLevel") return true;
  const Json parts = pre_tokenizer.value("pretokenizers", Json::array());
  return std::ranges::any_of(parts, [](const Json& part) { return has_byte_level(part); });
}

/// The message of the Failure is a clause.
Opened hugging_face(const Json& json) {
  const Json& model = json.at("model");
  if (model.value("type", "BPE") != "BPE")
    return Failure{fmt::format("its model is `{}`: only `BPE` is read", model.value("type", ""))};
  if (json.contains("normalizer") && !json.at("normalizer").is_null())
    return Failure{fmt::format("it changes texts by a normalizer, `{}`, which is not read",
                               json.at("normalizer").value("type", ""))};
  const Json pre_tokenizer = json.value("pre_tokenizer", Json());
  if (!has_byte_level(pre_tokenizer)) return Failure{"its tokens are not of bytes (`ByteLevel`)"};
  BytePairs parts;
  if (auto done = add_words(pre_tokenizer, parts); !done) return done.error();
  auto vocabulary = vocabulary_of(model.at("vocab"));
  if (!vocabulary) return vocabulary.error();
  parts.vocabulary = std::move(*vocabulary);
  for (const Json& entry : model.at("merges")) {
    auto merge = entry.is_string() ? merge_in(entry.get<std::string>())
                                   : std::optional(entry.get<std::pair<std::string, std::string>>());
    if (!merge) return Failure{fmt::format("merge {} is not two tokens", parts.merges.size() + 1)};
    parts.merges.push_back(std::move(*merge));
  }
  for (const Json& token : json.value("added_tokens", Json::array())) {
    std::string fault =
        parts.added.add(token.at("content").get<std::string>(), token.at("id").get<int64_t>());
    if (!fault.empty()) return Failure{std::move(fault)};
  }
  return make_tokenizer(std::move(parts));
}

bool is_of_bytes(const Vocabulary& vocabulary) {
  return std::ranges::all_of(byte_characters(),
                             [&](const std::string& text) { return vocabulary.find(text).has_value(); });
}

}  // namespace

}  // namespace tokens_detail

using namespace tokens_detail;

Result<std::string> Tokenizer::decode(std::span<const int64_t> ids) const {
  std::string text;
  for (size_t k = 0; k < ids.size(); ++k) {
    const std::string* part = text_of(ids[k]);
    if (!part) return Failure{fmt::format("element {} is {}, which is no id of the vocabulary", k, ids[k])};
    text += *part;
  }
  return text;
}

Result<std::shared_ptr<const Tokenizer>> open_tokenizer(const std::string& path) {
  const auto text = text_in(path);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  if (!json.is_object() && !json.is_array()) return unreadable(path, "it is no JSON list or object");
  if (json.is_object() && json.contains("model") && json.at("model").is_object()) {
    try {
      auto made = hugging_face(json);
      return made ? made : unreadable(path, made.error().message);
    } catch (const Json::exception& wrong) {
      return unreadable(path, fmt::format("it is not as a tokenizer.json is: {}", wrong.what()));
    }
  }
  auto vocabulary = vocabulary_of(json);
  if (!vocabulary) return unreadable(path, vocabulary.error().message);
  if (is_of_bytes(*vocabulary)) return gpt2(path, std::move(*vocabulary));
  return std::shared_ptr<const Tokenizer>(std::make_shared<LongestMatchTokenizer>(std::move(*vocabulary)));
}

}  // namespace quern
