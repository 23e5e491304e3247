// Reductions as nodes of a compiled index expression.

#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "ir/interpret/nodes.h"
#include "ir/interpret/plain_arithmetic.h"

namespace quern::interpreter {

namespace {

/// Calls `take` with each term that is not skipped.
template <class Take>
void for_each_term(std::span<const Axis> axes, const Node& body, Machine& machine, const Expr& at,
                   const Take& take) {
  const bool outer = std::exchange(machine.absent, false);
  for_each_point(axes, machine.slots.data(), at, [&] {
    const uint64_t term = body.run(machine);
    if (!std::exchange(machine.absent, false)) take(term);
  });
  machine.absent = outer;
}

/// Sums of rounded numbers: chains of 128 terms, summed pairwise, so that the error of n terms is at most 128
/// + log2(n) roundings (pairwise summation: Higham 1993, The accuracy of floating point summation, section
/// 3). Few terms are one chain.
template <class T, class Add>
class PairwiseSum {
 public:
  PairwiseSum(T zero, Add add) : chain_(zero), zero_(zero), add_(std::move(add)) {}

  void take(const T& term) {
    chain_ = add_(chain_, term);
    if (++terms_ % kChain != 0) return;
    T sum = std::exchange(chain_, zero_);
    // Like the carries of a binary counter of chains.
    for (size_t count = terms_ / kChain; count % 2 == 0; count /= 2) {
      sum = add_(sums_.back(), sum);
      sums_.pop_back();
    }
    sums_.push_back(sum);
  }
  T total() const {
    T sum = chain_;
    for (size_t k = sums_.size(); k-- > 0;) sum = add_(sums_[k], sum);
    return sum;
  }

 private:
  static constexpr size_t kChain = 128;
  T chain_, zero_;
  Add add_;
  size_t terms_ = 0;
  std::vector<T> sums_;
};

template <class T>
struct FloatSumNode final : Node {
  const Expr& at;
  std::vector<Axis> axes;
  NodePtr body;
  FloatSumNode(const Expr& e, std::vector<Axis> a, NodePtr b)
      : at(e), axes(std::move(a)), body(std::move(b)) {}
  uint64_t run(Machine& machine) const override {
    PairwiseSum sum(T{0}, AddOp());
    for_each_term(axes, *body, machine, at, [&](uint64_t term) { sum.take(value_of<T>(term)); });
    return bits_of<T>(sum.total());
  }
};

template <class T, class Op>
struct FoldNode final : Node {
  const Expr& at;
  std::vector<Axis> axes;
  NodePtr body;
  T identity;
  FoldNode(const Expr& e, std::vector<Axis> a, NodePtr b, T i)
      : at(e), axes(std::move(a)), body(std::move(b)), identity(i) {}
  uint64_t run(Machine& machine) const override {
    T total = identity;
    for_each_term(axes, *body, machine, at, [&](uint64_t term) { total = Op()(total, value_of<T>(term)); });
    return bits_of<T>(total);
  }
};

struct ReduceNode final : Node {
  const Expr& at;
  ReduceKind kind;
  DType element;
  std::vector<Axis> axes;
  NodePtr body;
  ReduceNode(const Expr& e, ReduceKind k, DType d, std::vector<Axis> a, NodePtr b)
      : at(e), kind(k), element(d), axes(std::move(a)), body(std::move(b)) {}
  uint64_t run(Machine& machine) const override {
    const DType accumulator = accumulator_dtype(element);
    const auto combine = [&](const Scalar& a, const Scalar& b) { return reduce_step(kind, a, b); };
    Scalar total = reduce_identity(kind, accumulator);
    PairwiseSum sum(total, combine);
    const bool is_rounded = kind == ReduceKind::Sum && accumulator.is_float();
    for_each_term(axes, *body, machine, at, [&](uint64_t term) {
      const Scalar next = quern::cast({element, term}, accumulator);
      if (is_rounded)
        sum.take(next);
      else
        total = combine(total, next);
    });
    return quern::cast(is_rounded ? sum.total() : total, element).bits;
  }
};

struct ArgReduceNode final : Node {
  const Expr& at;
  ReduceKind kind;
  DType element;
  std::vector<Axis> axes;
  NodePtr body;
  ArgReduceNode(const Expr& e, ReduceKind k, DType d, std::vector<Axis> a, NodePtr b)
      : at(e), kind(k), element(d), axes(std::move(a)), body(std::move(b)) {}
  uint64_t run(Machine& machine) const override {
    Scalar best;
    uint64_t position = 0, best_position = 0;
    for_each_point(axes, machine.slots.data(), at, [&] {
      Scalar value{element, body->run(machine)};
      if (position == 0 || is_better(kind, value, best)) {
        best = value;
        best_position = position;
      }
      ++position;
    });
    if (position == 0) fail(at, fmt::format("{} of an empty range", to_string(kind)));
    return best_position;
  }
};

}  // namespace

NodePtr reduce_node(const Expr& at, ReduceKind kind, DType element, std::vector<Axis> axes, NodePtr body) {
  if (is_arg(kind))
    return std::make_unique<ArgReduceNode>(at, kind, element, std::move(axes), std::move(body));
  NodePtr plain = with_plain_type(element, [&]<class T>(T) -> NodePtr {
    if (kind == ReduceKind::Sum && std::is_floating_point_v<T>)
      return std::make_unique<FloatSumNode<T>>(at, std::move(axes), std::move(body));
    if (kind == ReduceKind::Sum)
      return std::make_unique<FoldNode<T, AddOp>>(at, std::move(axes), std::move(body), T{0});
    if (kind == ReduceKind::Prod)
      return std::make_unique<FoldNode<T, MulOp>>(at, std::move(axes), std::move(body), T{1});
    return nullptr;
  });
  return plain ? std::move(plain)
               : std::make_unique<ReduceNode>(at, kind, element, std::move(axes), std::move(body));
}

}  // namespace quern::interpreter
