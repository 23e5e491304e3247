// oneDNN or OpenBLAS as a process that the operators' bench times:
//
//     quern_ops_peer onednn|openblas THREADS

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string_view>

#include "bench/harness/stopwatch.h"
#include "bench/ops/peer/request.h"
#include "ir/io/data_files.h"

namespace quern::bench {
namespace {

constexpr int kTrials = 7;
constexpr double kTrialSeconds = 2e-3;

Sample sample(const Variant& variant, int64_t count, int threads) {
  Stopwatch watch(threads);
  for (int64_t i = 0; i < count; ++i) variant.run();
  return watch.sample();
}

double seconds(const Variant& variant, int64_t count) { return sample(variant, count, 1).seconds; }

// The fastest by the median of trials that take turns.
size_t best_of(const std::vector<Variant>& variants) {
  if (variants.size() == 1) return 0;
  std::vector<int64_t> counts;
  counts.reserve(variants.size());
  for (const Variant& v : variants)
    counts.push_back(1 + static_cast<int64_t>(kTrialSeconds / std::max(seconds(v, 1), 1e-9)));
  std::vector<std::vector<double>> times(variants.size());
  for (int trial = 0; trial < kTrials; ++trial)
    for (size_t i = 0; i < variants.size(); ++i)
      times[i].push_back(seconds(variants[i], counts[i]) / static_cast<double>(counts[i]));
  size_t best = 0;
  for (size_t i = 0; i < times.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    if (times[i][kTrials / 2] < times[best][kTrials / 2]) best = i;
  }
  return best;
}

std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) numbers.push_back(std::stoll(part));
  return numbers;
}

class Server {
 public:
  Server(Library library, int threads) : library_(std::move(library)), threads_(threads) {}

  void serve() {
    answer("ready");
    for (std::string line; std::getline(std::cin, line);) {
      std::istringstream request(line);
      if (line.starts_with("prepare\t")) {
        answer(prepare(request));
      } else {
        std::string word;
        int64_t count = 0, warm = 0;
        request >> word >> count >> warm;
        if (warm) chosen_.run();
        Sample took = sample(chosen_, count, threads_);
        answer(fmt::format("took {:.9f} {:d}", took.seconds, took.disturbed));
      }
    }
  }

 private:
  static void answer(const std::string& line) { std::cout << line << std::endl; }

  std::string prepare(std::istream& fields) {
    Request request;
    std::string result_file;
    for (std::string field; std::getline(fields, field, '\t');) {
      size_t equals = field.find('=');
      if (equals == std::string::npos) continue;
      std::string key = field.substr(0, equals), value = field.substr(equals + 1);
      if (key == "input") {
        auto read = read_tensors(value);
        if (!read) return "none: " + read.error().message;
        request.inputs.push_back(read->front().second);
      } else if (key == "result") {
        result_file = value;
      } else if (key == "kind") {
        request.kind = value;
      } else {
        request.numbers[key] = numbers_of(value);
      }
    }
    std::string why = "it has no such operator";
    std::vector<Variant> variants = library_(request, why);
    if (variants.empty()) return "none: " + why;
    chosen_ = variants[best_of(variants)];
    chosen_.run();
    auto written = write_tensors(result_file, {{"", chosen_.result()}});
    return written ? "prepared " + chosen_.name : "none: " + written.error().message;
  }

  Library library_;
  int threads_;
  Variant chosen_;
};

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  std::string_view library = argc > 1 ? argv[1] : "";
  int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  if (library == "onednn") {
    Server(onednn_variants, threads).serve();
  } else if (library == "openblas") {
    Server(openblas_variants, threads).serve();
  } else {
    std::cerr << "usage: quern_ops_peer onednn|openblas THREADS\n";
    return 2;
  }
  return 0;
}
