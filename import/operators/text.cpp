// Texts as sequences of tokens.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// Columns of the result, of which each row has all.
constexpr int64_t kMostColumns = 1 << 24;

struct Gram {
  std::vector<int64_t> tokens;
  int64_t column = 0;
  double weight = 1;
};

/// The grams of a pool, those of `k + 1` tokens at `k`, each by their columns.
std::vector<std::vector<Gram>> grams_of(Call& call) {
  if (call.has_attribute("pool_strings")) throw Refusal("its tokens are strings");
  const auto pool = call.integers("pool_int64s"), begins = call.integers("ngram_counts"),
             columns = call.integers("ngram_indexes");
  if (!pool || !begins || !columns) throw Refusal("lacks `pool_int64s`, `ngram_counts` or `ngram_indexes`");
  const auto end_of_pool = static_cast<int64_t>(pool->size());
  std::vector<std::vector<Gram>> lengths;
  size_t count = 0;
  for (size_t k = 0; k < begins->size(); ++k) {
    const int64_t begin = (*begins)[k], end = k + 1 < begins->size() ? (*begins)[k + 1] : end_of_pool,
                  length = static_cast<int64_t>(k) + 1;
    if (begin < 0 || begin > end || end > end_of_pool || (end - begin) % length != 0)
      throw Refusal(fmt::format("from {} to {} of its {} tokens there are no grams of {}", begin, end,
                                end_of_pool, length));
    lengths.emplace_back();
    for (auto at = pool->begin() + begin; at != pool->begin() + end; at += length, ++count)
      lengths.back().push_back({{at, at + length}, count < columns->size() ? (*columns)[count] : 0});
  }
  if (columns->size() != count)
    throw Refusal(fmt::format("has {} grams and {} columns for them", count, columns->size()));
  const auto weights = call.numbers("weights");
  if (weights && weights->size() != count)
    throw Refusal(fmt::format("has {} grams and {} weights of them", count, weights->size()));
  for (size_t i = 0; std::vector<Gram> & grams : lengths) {
    if (weights)
      for (Gram& gram : grams) gram.weight = (*weights)[i++];
    std::ranges::stable_sort(grams, {}, &Gram::column);
  }
  return lengths;
}

TensorPtr token_tensor(const std::vector<Gram>& grams, DType dtype) {
  const Shape shape = {static_cast<int64_t>(grams.size()), static_cast<int64_t>(grams.front().tokens.size())};
  std::vector<int64_t> tokens;
  for (const Gram& gram : grams) tokens.insert(tokens.end(), gram.tokens.begin(), gram.tokens.end());
  if (dtype == DType::int64()) return HostTensor::from<int64_t>(dtype, shape, tokens);
  return HostTensor::from<int32_t>(dtype, shape, std::vector<int32_t>(tokens.begin(), tokens.end()));
}

bool is_int32(int64_t token) {
  return token >= std::numeric_limits<int32_t>::min() && token <= std::numeric_limits<int32_t>::max();
}

std::string name_of(size_t length) {
  static constexpr const char* kNames[] = {"unigrams", "bigrams", "trigrams"};
  return length <= std::size(kNames) ? kNames[length - 1] : fmt::format("grams_of_{}", length);
}

/// How often each gram of one length occurs.
Term counts_of(Call& call, const std::vector<Gram>& grams, int64_t skips) {
  const size_t length = grams.front().tokens.size();
  // Among tokens of int32 there may be wider ones to look for, which do not become others.
  const bool has_wide = std::ranges::any_of(
      grams, [](const Gram& gram) { return !std::ranges::all_of(gram.tokens, is_int32); });
  const bool is_int32_data = call.in(0).dtype() == DType::int32(), is_cast = is_int32_data && has_wide;
  const TensorPtr tokens = token_tensor(grams, is_int32_data && !has_wide ? DType::int32() : DType::int64());
  return call.step(name_of(length),
                   fmt::format("text.ngram_counts({}, $1{})", is_cast ? "cast($0, dtype=\"int64\")" : "$0",
                               length > 1 && skips > 0 ? fmt::format(", max_skips={}", skips) : ""),
                   {call.in(0), constant_term(tokens, fmt::format("{}.{}", call.hint(0), name_of(length)))});
}

/// The counts in their columns among `columns`; the others are 0.
std::string in_columns(const std::vector<Gram>& grams, int64_t columns, size_t rank) {
  const std::string_view rows = rank == 2 ? "[0, 0], " : "";
  const auto count = static_cast<int64_t>(grams.size());
  std::vector<int64_t> from(static_cast<size_t>(columns), count);
  bool is_run = true;
  for (int64_t i = 0; i < count; ++i) {
    const Gram& gram = grams[static_cast<size_t>(i)];
    int64_t& place = from[static_cast<size_t>(gram.column)];
    if (place != count) throw Refusal(fmt::format("has two grams for column {}", gram.column));
    place = i;
    is_run = is_run && gram.column == grams.front().column + i;
  }
  const int64_t first = grams.front().column;
  if (is_run && count == columns) return "$0";
  if (is_run)
    return fmt::format("nn.pad($0, 0.0, pad_width=[{}[{}, {}]])", rows, first, columns - first - count);
  const std::string all =
      count == columns ? "$0" : fmt::format("nn.pad($0, 0.0, pad_width=[{}[0, 1]])", rows);
  return fmt::format("take({}, [{}], axis={})", all, fmt::join(from, ", "), rank - 1);
}

void tf_idf(Call& call) {
  const std::string mode = call.string("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") throw Refusal(fmt::format("has the mode `{}`", mode));
  const auto lengths = grams_of(call);
  const int64_t shortest = call.integer("min_gram_length"), longest = call.integer("max_gram_length"),
                skips = call.integer("max_skip_count");
  if (shortest < 1 || longest < shortest || longest > static_cast<int64_t>(lengths.size()))
    throw Refusal(fmt::format("counts grams of {} to {} tokens and has those of 1 to {}", shortest, longest,
                              lengths.size()));
  if (skips < 0) throw Refusal(fmt::format("skips up to {} tokens", skips));
  const size_t rank = call.rank(0);
  if (rank != 1 && rank != 2) throw Refusal("its input is neither a sequence of tokens nor a batch of them");
  int64_t columns = 0;
  for (const auto& grams : lengths)
    for (const Gram& gram : grams) {
      if (gram.column < 0 || gram.column >= kMostColumns)
        throw Refusal(
            fmt::format("has a gram for column {}, and columns are 0 to {}", gram.column, kMostColumns - 1));
      columns = std::max(columns, gram.column + 1);
    }
  std::vector<Gram> counted;
  std::vector<Term> parts;
  std::vector<std::string> places;
  for (auto length = static_cast<size_t>(shortest); length <= static_cast<size_t>(longest); ++length) {
    const auto& grams = lengths[length - 1];
    if (grams.empty()) continue;
    counted.insert(counted.end(), grams.begin(), grams.end());
    parts.push_back(counts_of(call, grams, skips));
    places.push_back(fmt::format("${}", places.size()));
  }
  if (parts.empty()) throw Refusal(fmt::format("has no grams of {} to {} tokens", shortest, longest));
  Term counts =
      parts.size() == 1
          ? parts.front()
          : call.step("counts", fmt::format("concatenate(({}), axis={})", fmt::join(places, ", "), rank - 1),
                      parts);
  std::string expression =
      fmt::format("cast({}, dtype=\"float32\")", mode == "IDF" ? "minimum($0, 1)" : "$0");
  std::vector<Term> operands = {counts};
  if (mode != "TF" && std::ranges::any_of(counted, [](const Gram& gram) { return gram.weight != 1; })) {
    std::vector<float> weights;
    weights.reserve(counted.size());
    for (const Gram& gram : counted) weights.push_back(static_cast<float>(gram.weight));
    operands.push_back(constant_term(
        HostTensor::from<float>(DType::float32(), {static_cast<int64_t>(weights.size())}, weights),
        call.hint(0) + ".weights"));
    expression += " * $1";
  }
  const std::string placed = in_columns(counted, columns, rank);
  if (placed == "$0") return call.result(expression, operands);
  call.result(placed, {call.step("found", expression, operands)});
}

}  // namespace

std::span<const Operator> text_operators() {
  static const Operator kRows[] = {
      {"TfIdfVectorizer", "", tf_idf},
  };
  return kRows;
}

}  // namespace quern::onnx
