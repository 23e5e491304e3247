// Losses.

#include <fmt/format.h>

#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

/// `, axis=1, reduction="sum"` of both losses.
std::string attributes_of(Call& call) {
  std::string text = ", axis=1";
  if (call.has_attribute("ignore_index"))
    text += fmt::format(", ignore_index={}", call.integer("ignore_index"));
  if (const std::string reduction = call.string("reduction", "mean"); reduction != "mean")
    text += fmt::format(", reduction=\"{}\"", reduction);
  return text;
}

/// Of logarithms of probabilities; each class counts as its weight, or once.
void negative_log_likelihood(Call& call, const Term& logarithms) {
  const Term& labels = call.in(1);
  if (call.has(2))
    return call.result(fmt::format("loss.nll($0, $1, $2{})", attributes_of(call)),
                       {logarithms, labels, call.in(2)});
  call.result(fmt::format("loss.nll($0, $1, ones(({},), dtype=\"{}\"){})", to_string(logarithms.extent(1)),
                          to_string(logarithms.dtype()), attributes_of(call)),
              {logarithms, labels});
}

void softmax_cross_entropy(Call& call) {
  if (!call.wants(1) && !call.has(2))
    return call.result(fmt::format("loss.cross_entropy($0, $1{})", attributes_of(call)),
                       {call.in(0), call.in(1)});
  if (!call.wants(1))
    return call.result(fmt::format("loss.weighted_cross_entropy($0, $1, $2{})", attributes_of(call)),
                       {call.in(0), call.in(1), call.in(2)});
  const Term logarithms = call.writer().let(call.hint(1), "nn.log_softmax($0, axis=1)", {call.in(0)});
  negative_log_likelihood(call, logarithms);
  call.set(1, logarithms);
}

}  // namespace

std::span<const Operator> loss_operators() {
  static const Operator kRows[] = {
      {"NegativeLogLikelihoodLoss", "", [](Call& call) { negative_log_likelihood(call, call.in(0)); }},
      {"SoftmaxCrossEntropyLoss", "", softmax_cross_entropy},
  };
  return kRows;
}

}  // namespace quern::onnx
