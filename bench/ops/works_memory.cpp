#include <fmt/format.h>

#include "bench/ops/work.h"

namespace quern::bench {

namespace {

// Poses of i x k times poses of k x j inside of a strided convolution (Hinton et al. 2018). The ways that a
// PyTorch user may write it are in bench/ops/torch_peer.py.
Work capsules(std::string name, int64_t in) {
  constexpr int64_t kExtent = 28, kOut = 256, kKernel = 3, kStride = 2, kPose = 4;
  constexpr int64_t kResult = (kExtent - kKernel) / kStride + 1;
  Work work{std::move(name), "capsule"};
  work.inputs = {{{1, in, kExtent, kExtent, kPose, kPose}}, {{kOut, in, kKernel, kKernel, kPose, kPose}}};
  work.source =
      R"(op capsule_conv(%a: Tensor[(n, c, h, w, i, k), t], %b: Tensor[(o, c, r, s, k, j), t], stride: int = 2)
    -> Tensor[(n, o, (h - r) / stride + 1, (w - s) / stride + 1, i, j), t] {
  [b, q, y, x, u, v] =>
    sum[d, dr, ds, m] %a[b, d, y*stride + dr, x*stride + ds, u, m] * %b[q, d, dr, ds, m, v]
}
)" + main_of(work.inputs, "capsule_conv(%a, %b)");
  work.flops =
      2.0 * kOut * kResult * kResult * kPose * kPose * kPose * kKernel * kKernel * static_cast<double>(in);
  work.torch = {"capsule_einsum(a, b)", "capsule_product(a, b)", "capsule_convolution(a, b)",
                "capsule_convolution(a, b, torch.channels_last)"};
  return work;
}

}  // namespace

void add_memory_bound(std::vector<Work>& works) {
  Work softmax{"softmax128x1024", "softmax"};
  softmax.inputs = {{{128, 1024}}};
  softmax.source = main_of(softmax.inputs, "nn.softmax(%a)");
  softmax.torch = {"torch.softmax(a, 1)"};
  softmax.onednn = LibraryCall{"softmax"};
  works.push_back(softmax);

  Work norm{"layer_norm128x768", "layer_norm"};
  norm.inputs = {{{128, 768}}, {{768}}, {{768}}};
  norm.source = main_of(norm.inputs, "nn.layer_norm(%a, %b, %c)");
  norm.torch = {"F.layer_norm(a, (768,), b, c)"};
  norm.onednn = LibraryCall{"layer_norm"};
  works.push_back(norm);

  Work gelu{"gelu_chain1M", "gelu"};
  gelu.inputs = {{{1 << 20}}, {{1 << 20}}, {{1 << 20}}};
  gelu.source =
      main_of(gelu.inputs, "let %y = %a * %b + %c;\n  0.5f * %y * (1f + erf(%y * 0.70710678118654752f))");
  gelu.torch = {"F.gelu(a * b + c)", "F.gelu(torch.addcmul(c, a, b))"};
  gelu.onednn = LibraryCall{"gelu_chain"};
  works.push_back(gelu);

  Work transpose{"transpose2048", "transpose"};
  transpose.inputs = {{{2048, 2048}}};
  transpose.source = main_of(transpose.inputs, "transpose(%a)");
  transpose.torch = {"a.t().contiguous()"};
  transpose.onednn = LibraryCall{"transpose"};
  transpose.tolerance = 0;
  works.push_back(transpose);

  Work sum{"sum4M", "sum"};
  sum.inputs = {{{4 << 20}}};
  sum.source = main_of(sum.inputs, "sum(%a)");
  sum.torch = {"a.sum()"};
  sum.onednn = LibraryCall{"sum"};
  // The sum of n numbers about zero is of the size of the square root of n.
  sum.tolerance = 1e-3;
  works.push_back(sum);
}

void add_capsules(std::vector<Work>& works) {
  works.push_back(capsules("capsule64", 64));
  works.push_back(capsules("capsule8", 8));
}

}  // namespace quern::bench
