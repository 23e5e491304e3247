#include <cblas.h>

#include "bench/ops/peer/request.h"

namespace quern::bench {

namespace {

Variant products(const Request& request, const TensorPtr& c) {
  auto batch = static_cast<size_t>(request.number("batch"));
  const std::vector<int64_t>& sizes = request.list("sizes");
  auto m = static_cast<int>(sizes[0]), k = static_cast<int>(sizes[1]), n = static_cast<int>(sizes[2]);
  TensorPtr a = request.inputs[0], b = request.inputs[1];
  auto run = [=] {
    auto* to = c->elements<float>().data();
    const auto* left = a->elements<float>().data();
    const auto* right = b->elements<float>().data();
    for (size_t i = 0; i < batch; ++i) {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, left, k, right, n, 0, to, n);
      left += static_cast<ptrdiff_t>(m) * k;
      right += static_cast<ptrdiff_t>(k) * n;
      to += static_cast<ptrdiff_t>(m) * n;
    }
  };
  return {"sgemm", run, [=] { return c; }};
}

Variant product_of_vector(const Request& request, const TensorPtr& c) {
  const std::vector<int64_t>& sizes = request.list("sizes");
  auto k = static_cast<int>(sizes[1]), n = static_cast<int>(sizes[2]);
  TensorPtr a = request.inputs[0], b = request.inputs[1];
  auto run = [=] {
    cblas_sgemv(CblasRowMajor, CblasTrans, k, n, 1, b->elements<float>().data(), n,
                a->elements<float>().data(), 1, 0, c->elements<float>().data(), 1);
  };
  return {"sgemv", run, [=] { return c; }};
}

}  // namespace

std::vector<Variant> openblas_variants(const Request& request, std::string&) {
  if (request.kind != "product") return {};
  const std::vector<int64_t>& sizes = request.list("sizes");
  TensorPtr c = HostTensor::zeros(DType::float32(), {request.number("batch"), sizes[0], sizes[2]});
  std::vector<Variant> variants{products(request, c)};
  if (c->shape()[0] == 1 && sizes[0] == 1) variants.push_back(product_of_vector(request, c));
  return variants;
}

}  // namespace quern::bench
