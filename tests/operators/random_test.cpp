// Random numbers: their bits against Random123 and against Relay's rules, the same bits in every evaluator and on
// every number of threads, and statistics of large samples. Seeds are fixed, so each test passes always or never;
// its bounds are those that a true sample exceeds once in a million.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numeric>

#include "ir/value/threefry.h"
#include "jit/runtime/threads.h"
#include "tests/support/cases.h"
#include "tests/support/evaluate.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

using Key = std::array<uint64_t, 10>;
constexpr uint64_t kTop = uint64_t{1} << 63;

std::vector<Outcome> outcomes(const std::vector<std::string>& expressions, Evaluator evaluator) {
  TemporaryFile file("random");
  auto written = write_tensors(file.path(), {{"unused", HostTensor::zeros(DType::float32(), {1})}});
  EXPECT_TRUE(written) << written.error().message;
  std::vector<Case> cases;
  cases.reserve(expressions.size());
  for (const std::string& expression : expressions) cases.push_back({expression, expression, {}});
  CaseSession session(file.path(), cases, library_texts());
  std::vector<Outcome> found = session.run(evaluator);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].problem, "") << expressions[i];
  return found;
}

TensorPtr value_of(const std::string& expression, Evaluator evaluator = Evaluator::Compiled) {
  return outcomes({expression}, evaluator)[0].tensor;
}

std::vector<double> numbers(const HostTensor& tensor) {
  std::vector<double> all;
  for (int64_t i = 0; i < tensor.size(); ++i) all.push_back(element_as_double(tensor, i));
  return all;
}
std::vector<double> drawn(const std::string& call) { return numbers(*value_of(call + ".1")); }

std::vector<uint64_t> words_of(const HostTensor& tensor) {
  auto elements = tensor.elements<uint64_t>();
  return {elements.begin(), elements.end()};
}

std::string text_of(const Key& key) { return fmt::format("[{}u64]", fmt::join(key, "u64, ")); }

// --- Relay's rules (python/tvm/topi/random/kernel.py of TVM 0.18) in terms of Random123's function ----------------

// Relay leaves out the last addition of the key.
ThreefryWords block_of(const Key& key, const ThreefryWords& counter) {
  const ThreefryWords words{key[0], key[1], key[2], key[3]};
  ThreefryWords block = threefry4x64(counter, words);
  for (size_t j = 0; j < 4; ++j) block[j] -= words[j];
  block[3] -= 5;
  return block;
}

Key started_again(const Key& key, const ThreefryWords& counter) {
  const ThreefryWords words = block_of(key, counter);
  return {words[0], words[1], words[2], words[3], 0, 0, 0, 0, kTop, 0};
}

std::pair<Key, Key> split(const Key& key) {
  const bool full = key[8] == 0 && key[9] == 0;
  const Key parent = full ? started_again(key, {key[4], key[5], key[6], key[7]}) : key;
  Key left = parent;
  left[8] = parent[8] >> 1;
  left[9] = parent[8] == 0 ? parent[9] >> 1 : parent[8] == 1 ? kTop : 0;
  Key right = left;
  right[4] |= parent[8];
  right[5] |= parent[9];
  return {left, right};
}

std::pair<Key, std::vector<uint64_t>> generate(const Key& key, uint64_t count) {
  Key from = key;
  if (key[7] >= UINT64_MAX - count) {
    constexpr uint64_t kOnes = UINT64_MAX;
    from = key[8] == 0 && key[9] == 0 ? started_again(key, {kOnes, kOnes, kOnes, kOnes}) : split(key).second;
    from[6] = from[7] = 0;
  }
  std::vector<uint64_t> bits;
  const auto append = [&](uint64_t row, uint64_t counted) {
    for (uint64_t word : block_of(from, {from[4] + row, from[5] + row, from[6] + row, from[7] + counted}))
      bits.push_back(word);
  };
  for (uint64_t row = 0; row < count / 4; ++row) append(row, row);
  if (count % 4 != 0) append(0, count / 4 * 4);
  Key next = from;
  next[6] = 0;
  next[7] += bits.size();
  bits.resize(count);
  return {next, bits};
}

const std::vector<Key> kKeys = {
    {7, 0, 0, 0, 0, 0, 0, 0, kTop, 0},
    {1, 2, 3, 4, 5, 6, 0, 100, 1, 0},
    {1, 2, 3, 4, 5, 6, 0, 8, 0, kTop},
    {9, 8, 7, 6, 5, 4, 3, 2, 0, 1},
    {9, 8, 7, 6, 5, 4, 0, UINT64_MAX - 9, 4, 0},   // the counter is at its end
    {9, 8, 7, 6, 5, 4, 0, UINT64_MAX - 10, 0, 4},  // one before it
    {9, 8, 7, 6, 5, 4, 0, UINT64_MAX - 3, 0, 0},   // and so is the path
    {3, 1, 4, 1, UINT64_MAX, UINT64_MAX, 0, 12, 0, 0},
};

// The known answers that come with Random123 (kat_vectors, Salmon et al. 2011), with the key added once more.
TEST(RandomNumbers, HaveTheBitsOfRandom123) {
  constexpr uint64_t kOnes = UINT64_MAX;
  struct Known {
    ThreefryWords counter, key, words;
  };
  const std::vector<Known> known = {
      {{}, {}, {0x09218ebde6c85537, 0x55941f5266d86105, 0x4bd25e16282434dc, 0xee29ec846bd2e40b}},
      {{kOnes, kOnes, kOnes, kOnes},
       {kOnes, kOnes, kOnes, kOnes},
       {0x29c24097942bba1b, 0x0371bbfb0f6f4e11, 0x3c231ffa33f83a1c, 0xcd29113fde32d168}},
      {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
       {0x452821e638d01377, 0xbe5466cf34e90c6c, 0xbe5466cf34e90c6c, 0xc0ac29b7c97c50dd},
       {0xa7e8fde591651bd9, 0xbaafd0c30138319b, 0x84a5c1a729e685b9, 0x901d406ccebc1ba4}}};
  for (const auto& [counter, key, words] : known) {
    Key whole{};
    std::copy(key.begin(), key.end(), whole.begin());
    std::copy(counter.begin(), counter.end(), whole.begin() + 4);
    for (Evaluator evaluator : {Evaluator::Interpreter, Evaluator::Compiled}) {
      std::vector<uint64_t> got =
          words_of(*value_of(fmt::format("random.threefry4x64({}, 4)", text_of(whole)), evaluator));
      for (size_t j = 0; j < 4; ++j) got[j] += key[j];
      got[3] += 5;
      EXPECT_EQ(got, std::vector<uint64_t>(words.begin(), words.end()));
    }
  }
}

TEST(RandomNumbers, HaveTheBitsOfRelay) {
  std::vector<std::string> calls;
  for (const Key& key : kKeys)
    for (uint64_t count : {1, 4, 10})
      calls.push_back(fmt::format("random.threefry_generate({}, ({},))", text_of(key), count));
  std::vector<Outcome> found = outcomes(calls, Evaluator::Compiled);
  size_t at = 0;
  for (const Key& key : kKeys)
    for (uint64_t count : {1, 4, 10}) {
      const auto& fields = found[at].fields;
      ASSERT_EQ(fields.size(), 2U) << calls[at];
      const auto [next, bits] = generate(key, count);
      EXPECT_EQ(words_of(*fields[0]), std::vector<uint64_t>(next.begin(), next.end())) << calls[at];
      EXPECT_EQ(words_of(*fields[1]), bits) << calls[at];
      ++at;
    }
}

TEST(RandomNumbers, SplitAsRelayDoes) {
  std::vector<std::string> calls;
  calls.reserve(std::size(kKeys));
  for (const Key& key : kKeys) calls.push_back(fmt::format("random.threefry_split({})", text_of(key)));
  std::vector<Outcome> found = outcomes(calls, Evaluator::Compiled);
  for (size_t k = 0; k < kKeys.size(); ++k) {
    ASSERT_EQ(found[k].fields.size(), 2U) << calls[k];
    const auto [left, right] = split(kKeys[k]);
    EXPECT_EQ(words_of(*found[k].fields[0]), std::vector<uint64_t>(left.begin(), left.end())) << calls[k];
    EXPECT_EQ(words_of(*found[k].fields[1]), std::vector<uint64_t>(right.begin(), right.end())) << calls[k];
  }
}

// `uniform` takes the bits that Relay's takes.
TEST(RandomNumbers, UniformIsRelays) {
  const std::vector<uint64_t> bits = generate(kKeys[0], 6).second;
  const auto call = [&](const char* dtype) {
    return drawn(fmt::format("random.uniform({}, 0, 1, (6,), \"{}\")", text_of(kKeys[0]), dtype));
  };
  const std::vector<double> narrow = call("float32"), wide = call("float64");
  for (size_t i = 0; i < bits.size(); ++i) {
    EXPECT_EQ(narrow[i], std::ldexp(static_cast<double>(static_cast<uint32_t>(bits[i]) >> 9), -23));
    EXPECT_EQ(wide[i], std::ldexp(static_cast<double>(bits[i] >> 12), -52));
  }
}

// --- the same bits ------------------------------------------------------------------------------------------------

TEST(RandomNumbers, AreTheSameInEveryEvaluatorOnAnyNumberOfThreads) {
  const std::vector<std::string> calls = {
      "random.normal(random.threefry_key(1), 3.0, 0.7, (70, 61)).1",
      "random.normal(random.threefry_key(2), 0, 1, (4001,), \"float64\").1",
      "random.truncated_normal(random.threefry_key(3), 0.0, 1.0, (4001,)).1",
      "random.uniform(random.threefry_key(4), -1.0, 0.3, (4001,)).1",
      "random.categorical(random.threefry_key(5), random.normal(random.threefry_key(6), 0, 4, (500, 7)).1).1",
      "random.multinomial(random.threefry_key(5), [0.1, 0.5, 0.2, 0.9, 0.4, 0.0, 0.3], 2000).1",
      "random.permutation(random.threefry_key(7), 3000).1",
      "random.he_normal(random.threefry_key(8), (40, 10, 3, 3)).1",
      "random.normal_quantile([i < 4000] => 1f64 / (1 + cast<float64>(i * i * i * i)))",
  };
  const std::vector<Outcome> wanted = outcomes(calls, Evaluator::Interpreter);
  const int before = thread_count();
  for (int threads : {1, 3}) {
    set_thread_count(threads);
    const std::vector<Outcome> got = outcomes(calls, Evaluator::Compiled);
    for (size_t i = 0; i < calls.size(); ++i)
      EXPECT_TRUE(same_bits(*got[i].tensor, *wanted[i].tensor))
          << calls[i] << " on " << threads << " threads";
  }
  set_thread_count(before);
}

// --- statistics ---------------------------------------------------------------------------------------------------

constexpr int64_t kMany = 200000;
constexpr double kSigmas = 4.9;  // of a normal distribution: one in a million

double mean_of(const std::vector<double>& sample) {
  return std::accumulate(sample.begin(), sample.end(), 0.0) / static_cast<double>(sample.size());
}
double moment_of(const std::vector<double>& sample, int power) {
  const double mean = mean_of(sample);
  double sum = 0;
  for (double x : sample) sum += std::pow(x - mean, power);
  return sum / static_cast<double>(sample.size());
}
void expect_moments(const std::vector<double>& sample, double mean, double variance, double fourth) {
  const double root = std::sqrt(static_cast<double>(sample.size()));
  EXPECT_NEAR(mean_of(sample), mean, kSigmas * std::sqrt(variance) / root);
  EXPECT_NEAR(moment_of(sample, 2), variance, kSigmas * std::sqrt(fourth - variance * variance) / root);
}

// Pearson's statistic of counts with these probabilities is nearly normal for many bins.
void expect_frequencies(const std::vector<double>& indices, const std::vector<double>& probabilities) {
  std::vector<double> counts(probabilities.size());
  for (double index : indices) {
    ASSERT_GE(index, 0);
    ASSERT_LT(index, static_cast<double>(counts.size()));
    ++counts[static_cast<size_t>(index)];
  }
  double statistic = 0, freedom = -1;
  for (size_t k = 0; k < counts.size(); ++k) {
    const double expected = probabilities[k] * static_cast<double>(indices.size());
    if (expected == 0) {
      EXPECT_EQ(counts[k], 0) << "the impossible " << k;
      continue;
    }
    statistic += (counts[k] - expected) * (counts[k] - expected) / expected, ++freedom;
  }
  // Wilson and Hilferty: the cube root of a chi-square is nearly normal.
  const double deviation = std::sqrt(2 / (9 * freedom));
  EXPECT_LT(std::fabs(std::cbrt(statistic / freedom) - (1 - 2 / (9 * freedom))), kSigmas * deviation)
      << statistic;
}

// Kolmogorov and Smirnov: the largest distance of the sample's distribution from another.
void expect_distribution(std::vector<double> sample, const std::function<double(double)>& distribution) {
  std::sort(sample.begin(), sample.end());
  const auto count = static_cast<double>(sample.size());
  double most = 0;
  for (size_t i = 0; i < sample.size(); ++i) {
    const double there = distribution(sample[i]);
    most =
        std::max({most, there - static_cast<double>(i) / count, static_cast<double>(i + 1) / count - there});
  }
  EXPECT_LT(most * std::sqrt(count), 2.69);  // 2 exp(-2 x^2) = 1e-6
}

double normal_distribution(double x) { return std::erfc(-x / std::sqrt(2.0)) / 2; }

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean_a) * (b[i] - mean_b);
  return sum / static_cast<double>(a.size()) / std::sqrt(moment_of(a, 2) * moment_of(b, 2));
}

std::string with_key(const char* op, int seed, const std::string& rest) {
  return fmt::format("random.{}(random.threefry_key({}), {})", op, seed, rest);
}

TEST(RandomNumbers, OfUniformAreEven) {
  const std::vector<double> sample = drawn(with_key("uniform", 1, fmt::format("2.0, 6.0, ({},)", kMany)));
  expect_moments(sample, 4, 16.0 / 12, 256.0 / 80);
  std::vector<double> bins;
  bins.reserve(sample.size());
  for (double x : sample) bins.push_back(std::floor((x - 2) * 64));
  expect_frequencies(bins, std::vector<double>(256, 1.0 / 256));
  expect_distribution(sample, [](double x) { return (x - 2) / 4; });
}

TEST(RandomNumbers, OfNormalAreNormal) {
  for (const char* dtype : {"float32", "float64"}) {
    const std::vector<double> sample =
        drawn(with_key("normal", 2, fmt::format("1, 3, ({},), \"{}\"", kMany, dtype)));
    expect_moments(sample, 1, 9, 3 * 81);
    expect_distribution(sample, [](double x) { return normal_distribution((x - 1) / 3); });
    const auto far = static_cast<double>(
        std::count_if(sample.begin(), sample.end(), [](double x) { return std::fabs(x - 1) > 9; }));
    const double expected = 2 * normal_distribution(-3) * kMany;
    EXPECT_NEAR(far, expected, kSigmas * std::sqrt(expected));
  }
}

TEST(RandomNumbers, OfTruncatedNormalEndAtTwoDeviations) {
  const std::vector<double> sample =
      drawn(with_key("truncated_normal", 3, fmt::format("1.0, 3.0, ({},)", kMany)));
  EXPECT_GE(*std::min_element(sample.begin(), sample.end()), -5);
  EXPECT_LE(*std::max_element(sample.begin(), sample.end()), 7);
  const double below = normal_distribution(-2);
  expect_distribution(sample,
                      [&](double x) { return (normal_distribution((x - 1) / 3) - below) / (1 - 2 * below); });
}

TEST(RandomNumbers, OfRandintAreEquallyLikely) {
  std::vector<double> sample = drawn(with_key("randint", 4, fmt::format("-3, 8, ({},)", kMany)));
  for (double& x : sample) x += 3;
  expect_frequencies(sample, std::vector<double>(11, 1.0 / 11));
  EXPECT_EQ(drawn(with_key("randint", 4, "5, 5, (3,)")), std::vector<double>(3, 5));
  EXPECT_EQ(drawn(with_key("randint", 4, "5, -5, (3,)")), std::vector<double>(3, 5));
}

TEST(RandomNumbers, OfBernoulliAreTrueAsOftenAsTheyShould) {
  const std::vector<double> sample =
      drawn(with_key("bernoulli", 5, fmt::format("[[0.3], [0.0], [1.0]], (3, {})", kMany)));
  const auto begin = sample.begin();
  expect_frequencies({begin, begin + kMany}, {0.7, 0.3});
  EXPECT_EQ(std::count(begin + kMany, begin + 2 * kMany, 1), 0);
  EXPECT_EQ(std::count(begin + 2 * kMany, sample.end(), 1), kMany);
}

TEST(RandomNumbers, OfDropoutKeepTheMean) {
  const std::vector<double> sample =
      drawn(with_key("dropout", 7, fmt::format("ones(({},), \"float64\"), rate=0.3", kMany)));
  std::vector<double> kept;
  for (double x : sample) {
    EXPECT_TRUE(x == 0 || x == 1 / 0.7) << x;
    kept.push_back(x == 0 ? 0 : 1);
  }
  expect_frequencies(kept, {0.3, 0.7});
  // An infinite element that is dropped makes no NaN.
  for (double x : drawn(with_key("dropout", 7, "full(inf, (64,)), rate=0.5"))) EXPECT_FALSE(std::isnan(x));
}

TEST(RandomNumbers, OfPermutationAreAllNumbersInRandomOrder) {
  std::vector<double> order = drawn(with_key("permutation", 6, std::to_string(kMany)));
  std::vector<double> all(order.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_LT(std::fabs(correlation(order, all)), kSigmas / std::sqrt(static_cast<double>(kMany)));
  // Each three that stand side by side are in one of six orders.
  std::vector<double> orders;
  for (size_t i = 0; i + 3 <= order.size(); i += 3) {
    const double first = order[i], second = order[i + 1], third = order[i + 2];
    const int below = (second < first ? 1 : 0) + (third < first ? 1 : 0);
    orders.push_back(2 * below + (third < second ? 1 : 0));
  }
  expect_frequencies(orders, std::vector<double>(6, 1.0 / 6));
  std::sort(order.begin(), order.end());
  EXPECT_EQ(order, all);
}

TEST(RandomNumbers, OfMultinomialAndCategoricalFollowTheirWeights) {
  expect_frequencies(
      drawn(with_key("multinomial", 7, fmt::format("[0.0, 1.0, -2.0, 5.0, 0.0, 4.0, 0.0], {}", kMany))),
      {0, 0.1, 0, 0.5, 0, 0.4, 0});
  const double sum = 1 + std::exp(1.0) + std::exp(-2.0);
  expect_frequencies(
      drawn(with_key("categorical", 8,
                     fmt::format("broadcast_to([-inf, 800.0, 801.0, 798.0, -inf], ({}, 5))", kMany))),
      {0, 1 / sum, std::exp(1.0) / sum, std::exp(-2.0) / sum, 0});
}

TEST(RandomNumbers, OfOneKeyHaveNothingToDoWithThoseOfAnother) {
  const auto uniform = [](const std::string& key) {
    return drawn(fmt::format("random.uniform({}, 0, 1, ({},))", key, kMany));
  };
  const std::string key = "random.threefry_key(9)", split = "random.threefry_split(" + key + ")";
  const std::vector<std::vector<double>> streams = {
      uniform(key),
      uniform(split + ".0"),
      uniform(split + ".1"),
      uniform("random.threefry_key(10)"),
      uniform(fmt::format("random.uniform({}, 0, 1, ({},)).0", key, kMany)),
      uniform("random.threefry_split(" + split + ".1).1")};
  const double bound = kSigmas / std::sqrt(static_cast<double>(kMany));
  for (size_t a = 0; a < streams.size(); ++a) {
    EXPECT_LT(std::fabs(correlation({streams[a].begin() + 1, streams[a].end()},
                                    {streams[a].begin(), streams[a].end() - 1})),
              bound);
    // A key draws what the left one of its two parts draws: a split uses it up.
    for (size_t b = a == 0 ? 2 : a + 1; b < streams.size(); ++b)
      EXPECT_LT(std::fabs(correlation(streams[a], streams[b])), bound) << a << ", " << b;
  }
}

TEST(RandomNumbers, OfInitialWeightsHaveTheVarianceOfTheirScheme) {
  const std::string shape = "(200, 100, 3, 3)";  // 900 inputs, 1800 outputs
  const auto check = [&](const char* op, double variance, bool normal) {
    SCOPED_TRACE(op);
    const std::vector<double> sample = drawn(with_key(op, 11, shape));
    expect_moments(sample, 0, variance, (normal ? 3 : 1.8) * variance * variance);
    const double most = *std::max_element(sample.begin(), sample.end());
    EXPECT_EQ(most > std::sqrt(3 * variance) * 1.000001, normal);
  };
  check("xavier_uniform", 2.0 / 2700, false);
  check("xavier_normal", 2.0 / 2700, true);
  check("he_uniform", 2.0 / 900, false);
  check("he_normal", 2.0 / 900, true);
}

// The distribution function of a quantile is the probability: from the middle to where float64 ends.
TEST(RandomNumbers, QuantilesInvertTheDistribution) {
  const TensorPtr quantiles =
      value_of("random.normal_quantile([i < 700] => pow(2f64, -1.45 * cast<float64>(i + 1)))");
  for (int64_t i = 0; i < quantiles->size(); ++i) {
    const double p = std::pow(2.0, -1.45 * static_cast<double>(i + 1)), x = element_as_double(*quantiles, i);
    EXPECT_NEAR(normal_distribution(x) / p, 1, 1e-12 * std::max(1.0, x * x)) << p;
  }
  EXPECT_EQ(element_as_double(*value_of("random.normal_quantile(0.5)"), 0), 0);
  EXPECT_EQ(element_as_double(*value_of("random.normal_quantile(1.0)"), 0), INFINITY);
  EXPECT_TRUE(std::isnan(element_as_double(*value_of("random.normal_quantile(1.5)"), 0)));
}

// `grad` goes through the numbers to what they are made with.
TEST(RandomNumbers, HaveAGradientInTheirParameters) {
  const std::string normal = "random.normal(random.threefry_key(12), %m, %s, (50,)).1";
  const TensorPtr sum = value_of("sum(random.normal(random.threefry_key(12), 0.0, 1.0, (50,)).1)");
  const std::string gradient =
      fmt::format("grad(fn (%m: float32, %s: float32) {{ sum({}) }})(0.0, 1.0)", normal);
  EXPECT_EQ(element_as_double(*value_of(gradient + ".0"), 0), 50);
  EXPECT_NEAR(element_as_double(*value_of(gradient + ".1"), 0), element_as_double(*sum, 0), 1e-4);
}

// --- mistakes -----------------------------------------------------------------------------------------------------

TEST(RandomNumbers, MistakesAreTold) {
  const std::vector<std::pair<std::string, std::string>> told = {
      {"random.uniform(7, 0, 1, (2,))", "`%key` of `random.uniform` has 1 dimension"},
      {"random.normal(zeros((10,)), 0, 1, (2,))", "`%key` of `random.normal` has to be uint64, not float32"},
      {"random.threefry_key(1.5)", "a seed is an integer"},
      {"random.uniform(random.threefry_key(7), 1, 0, (2,))", "no number is from `low` up to `high`"},
      {"random.uniform(random.threefry_key(7), 0, 1, (2,), \"int32\")",
       "of a floating-point dtype, not of \"int32\""},
      {"random.randint(random.threefry_key(7), 5, 5, (2,))", "no integer is from `low` to `high` - 1"},
      {"random.randint(random.threefry_key(7), 0, 5, (2,), \"float32\")", "of an integer dtype"},
      {"random.bernoulli(random.threefry_key(7), [0.5, 1.5])", "a probability is from 0 to 1"},
      {"random.bernoulli(random.threefry_key(7), 1)", "a probability is a floating-point number"},
      {"random.normal(random.threefry_key(7), 0, -1, (2,))", "`scale` is a standard deviation, and below 0"},
      {"random.he_normal(random.threefry_key(7), (2,))", "at least two axes"},
      {"randn((2, 3))", "random.normal"},
      {"torch.randperm(7)", "random.permutation"},
      {"np.random.randint(0, 7)", "random.randint"},
      {"torch.nn.init.kaiming_normal_(7)", "random.he_normal"},
  };
  Session session(library_texts());
  for (const auto& [text, part] : told) {
    const SourceId source = session.add_source(session.make_module(), "mistake.relay", text);
    std::string all;
    for (const LocatedDiagnostic& d : session.check(source)) all += d.message + "\n";
    EXPECT_NE(all.find(part), std::string::npos) << text << ": " << all;
  }
}

}  // namespace
}  // namespace quern::numeric
