// oneDNN or OpenBLAS as a process that the operators' bench times:
//
//     quern_ops_peer onednn|openblas THREADS

#include <iostream>
#include <sstream>
#include <string_view>

#include "bench/ops/peer/request.h"
#include "ir/io/data_files.h"

namespace quern::bench {
namespace {

std::vector<int64_t> numbers_of(const std::string& text) {
  std::vector<int64_t> numbers;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) numbers.push_back(std::stoll(part));
  return numbers;
}

Result<Request> request_of(const Fields& fields) {
  Request request;
  for (const auto& [key, value] : fields) {
    if (key == "input") {
      auto read = read_tensors(value);
      if (!read) return read.error();
      request.inputs.push_back(read->front().second);
    } else if (key == "kind") {
      request.kind = value;
    } else if (key != "result") {
      request.numbers[key] = numbers_of(value);
    }
  }
  return request;
}

Result<std::vector<Variant>> prepared(const Library& library, const Fields& fields) {
  auto request = request_of(fields);
  if (!request) return request.error();
  std::string why = "it has no such operator";
  std::vector<Variant> variants = library(*request, why);
  if (variants.empty()) return Failure{why};
  return variants;
}

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  const std::string_view name = argc > 1 ? argv[1] : "";
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  if (name != "onednn" && name != "openblas") {
    std::cerr << "usage: quern_ops_peer onednn|openblas THREADS\n";
    return 2;
  }
  const Library library = name == "onednn" ? onednn_variants : openblas_variants;
  serve(threads, [&](const Fields& fields) { return prepared(library, fields); });
  return 0;
}
