#include <fmt/format.h>

#include "bench/ops/work.h"

namespace quern::bench {

namespace {

constexpr uint64_t kProductSeed = 5;

Work product(std::string name, std::string group, int64_t m, int64_t k, int64_t n,
             DType dtype = DType::float32()) {
  Work work{std::move(name), std::move(group)};
  work.inputs = {{{m, k}}, {{k, n}}};
  // Of a vector memory is the limit: each weight is used once.
  if (m > 1) work.flops = 2.0 * static_cast<double>(m * k * n);
  LibraryCall call{"product", {{"batch", {1}}, {"sizes", {m, k, n}}}};
  work.onednn = work.openblas = call;
  work.torch = {"torch.mm(a, b)", "linear(a, b)"};
  if (dtype != DType::float32()) set_dtype(work, dtype);
  work.source = main_of(work.inputs, fmt::format("nn.matmul(%a, %b{})", sums_attribute(dtype)));
  return work;
}

Work batched_product(int64_t number, int64_t batch, int64_t m, int64_t k, int64_t n) {
  Work work{fmt::format("batch_matmul/{}", number), "batch_matmul"};
  work.inputs = {{{batch, m, k}}, {{batch, k, n}}};
  work.source = main_of(work.inputs, "nn.batch_matmul(%a, %b, transpose_b=False)");
  work.flops = 2.0 * static_cast<double>(batch * m * k * n);
  LibraryCall call{"product", {{"batch", {batch}}, {"sizes", {m, k, n}}}};
  work.onednn = work.openblas = call;
  work.torch = {"torch.bmm(a, b)"};
  return work;
}

}  // namespace

void add_products(std::vector<Work>& works) {
  for (int64_t n : {128, 512, 1024, 2048})
    works.push_back(product(fmt::format("GEMM{}", n), "GEMM", n, n, n));
  works.push_back(product("GEMM128x768x768", "GEMM", 128, 768, 768));
  works.push_back(product("GEMM128x768x3072", "GEMM", 128, 768, 3072));
  works.push_back(product("GEMV1x768x3072", "GEMV", 1, 768, 3072));
  works.push_back(product("int8GEMM512", "low", 512, 512, 512, DType::int8()));
  works.push_back(product("bf16GEMM512", "low", 512, 512, 512, DType::bfloat16()));
}

void add_random_products(std::vector<Work>& works) {
  Draw draw(kProductSeed);
  for (int64_t i = 0; i < 10; ++i) {
    int64_t batch = draw.integer(2, 24);
    int64_t m = draw.integer(8, 256), k = draw.integer(8, 256), n = draw.integer(8, 256);
    works.push_back(batched_product(i, batch, m, k, n));
  }
}

}  // namespace quern::bench
