#pragma once
// A call of an operator, as the rows of the table read it.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "export/lower/element_ops.h"
#include "export/lower/lowering.h"

namespace quern::onnx {

class OperatorCall {
 public:
  OperatorCall(Lowering& lowering, const OpCallExpr& call, const OpInstance& instance)
      : lowering_(lowering), call_(call), instance_(instance) {}

  size_t count() const { return call_.args.size(); }
  /// An argument as a tensor, or the tensors of one that is a tuple.
  Name in(size_t i) { return lowering_.tensor(call_.args[i]); }
  std::vector<Name> parts(size_t i);
  Type type(size_t i) const { return call_.args[i]->type; }
  Type result() const { return call_.type; }
  size_t rank(size_t i) const { return type(i)->dims.size(); }
  /// The extent of an argument's axis, where it is a number.
  std::optional<int64_t> extent(size_t i, size_t axis) const { return as_const(type(i)->dims[axis]); }

  /// An attribute's or a static's value at this call; None for a name that is neither.
  StaticValue value(std::string_view name) const;
  /// Throws a Refusal unless it is a number (a list of numbers, …).
  int64_t integer(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const;
  std::string text(std::string_view name) const;
  std::vector<int64_t> integers(std::string_view name) const;
  bool is_none(std::string_view name) const { return value(name).is_none(); }
  /// The value of an argument that is a constant, of rank 0.
  std::optional<double> constant(size_t i) const;

  GraphWriter& graph() { return lowering_.graph(); }
  const Extents& extents() const { return lowering_.extents(); }
  /// A node with one result.
  Name node(std::string_view op, std::vector<Name> inputs, const Attributes& attributes = {}) {
    return graph().node(op, std::move(inputs), attributes);
  }
  /// What the node that makes a value gives with one operand more, a bias of its channels; nothing unless it is of one of these
  /// kinds and has no bias yet. The node itself is dropped where nothing else needs it.
  std::optional<Name> with_bias(const Name& value, const Name& bias,
                                std::initializer_list<std::string_view> kinds);
  Name transposed(const Name& tensor, const std::vector<int64_t>& axes);
  /// With the axes in the order of another layout of the same letters ("NHWC" to "NCHW").
  Name to_layout(const Name& tensor, std::string_view from, std::string_view to);
  Name cast(const Name& tensor, DType from, DType to);
  /// With the dims of a type.
  Name reshaped(const Name& tensor, std::span<const Dim> dims);

 private:
  Lowering& lowering_;
  const OpCallExpr& call_;
  const OpInstance& instance_;
};

inline GraphValue one(Name tensor) { return {std::move(tensor), {}}; }

}  // namespace quern::onnx
