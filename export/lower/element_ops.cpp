#include "export/lower/element_ops.h"

#include <fmt/format.h>

#include "import/onnx/dtypes.h"
#include "import/text/refusal.h"

namespace quern::onnx {

using import_text::Refusal;

int64_t code_of(DType dtype) {
  if (dtype.is_index()) dtype = DType::int64();
  // ONNX numbers its dtypes from 1.
  for (int32_t code = 1; code < 24; ++code)
    if (dtype_of(code) == dtype) return code;
  throw Refusal(fmt::format("ONNX has no dtype {}", to_string(dtype)));
}

Name cast_to(GraphWriter& graph, const Name& value, DType from, DType to) {
  const int64_t code = code_of(to);
  return code == code_of(from) ? value : graph.node("Cast", {value}, {{"to", code}});
}

namespace {

Name floor_div(GraphWriter& graph, const Name& a, const Name& b) {
  // Without its remainder a dividend is divided exactly, in whichever way `Div` rounds.
  return graph.node("Div", {graph.node("Sub", {a, graph.node("Mod", {a, b})}), b});
}

std::string_view name_of(ScalarOp op) {
  switch (op) {
    case ScalarOp::Add: return "Add";
    case ScalarOp::Sub: return "Sub";
    case ScalarOp::Mul: return "Mul";
    case ScalarOp::Div: return "Div";
    case ScalarOp::Min: return "Min";
    case ScalarOp::Max: return "Max";
    case ScalarOp::Pow: return "Pow";
    case ScalarOp::Neg: return "Neg";
    case ScalarOp::Abs: return "Abs";
    case ScalarOp::Sign: return "Sign";
    case ScalarOp::Exp: return "Exp";
    case ScalarOp::Log: return "Log";
    case ScalarOp::Tanh: return "Tanh";
    case ScalarOp::Sigmoid: return "Sigmoid";
    case ScalarOp::Sqrt: return "Sqrt";
    case ScalarOp::Erf: return "Erf";
    case ScalarOp::Sin: return "Sin";
    case ScalarOp::Cos: return "Cos";
    case ScalarOp::Floor: return "Floor";
    case ScalarOp::Ceil: return "Ceil";
    case ScalarOp::IsNan: return "IsNaN";
    case ScalarOp::IsInf: return "IsInf";
    case ScalarOp::Lt: return "Less";
    case ScalarOp::Le: return "LessOrEqual";
    case ScalarOp::Gt: return "Greater";
    case ScalarOp::Ge: return "GreaterOrEqual";
    case ScalarOp::Eq: return "Equal";
    case ScalarOp::And: return "And";
    case ScalarOp::Or: return "Or";
    case ScalarOp::Not: return "Not";
    default: return "";
  }
}

/// Halves away from zero; ONNX's `Round` takes them to the even neighbour.
Name round_away(GraphWriter& graph, const Name& value, DType dtype) {
  const Name size = graph.node("Abs", {value}), whole = graph.node("Floor", {size});
  const Name is_up =
      graph.node("GreaterOrEqual", {graph.node("Sub", {size, whole}), graph.number(0.5, dtype)});
  const Name rounded = graph.node("Add", {whole, cast_to(graph, is_up, DType::boolean(), dtype)});
  return graph.node("Mul", {graph.node("Sign", {value}), rounded});
}

Name shift(GraphWriter& graph, const std::vector<Name>& args, DType dtype, const char* direction) {
  if (dtype.code != DTypeCode::UInt) throw Refusal("ONNX shifts unsigned integers alone");
  return graph.node("BitShift", args, {{"direction", std::string(direction)}});
}

/// Of bools; ONNX has bits of integers from operator set 18 on.
Name bits(GraphWriter& graph, std::string_view op, const std::vector<Name>& args, DType dtype) {
  if (!dtype.is_bool()) throw Refusal("ONNX has no functions of bits before operator set 18");
  return graph.node(op, args);
}

}  // namespace

Name element_op(GraphWriter& graph, ScalarOp op, const std::vector<Name>& args, DType dtype) {
  if (dtype.is_index() && op == ScalarOp::Div) return floor_div(graph, args[0], args[1]);
  if (dtype.is_index() && op == ScalarOp::Mod) return graph.node("Mod", args);
  if (const std::string_view name = name_of(op); !name.empty()) return graph.node(name, args);
  const bool is_float = dtype.is_float();
  switch (op) {
    case ScalarOp::Mod: return graph.node("Mod", args, {{"fmod", int64_t{1}}});
    case ScalarOp::FloorDiv:
      return is_float ? graph.node("Floor", {graph.node("Div", args)}) : floor_div(graph, args[0], args[1]);
    case ScalarOp::FloorMod: {
      if (!is_float) return graph.node("Mod", args);
      const Name whole = graph.node("Floor", {graph.node("Div", args)});
      return graph.node("Sub", {args[0], graph.node("Mul", {whole, args[1]})});
    }
    case ScalarOp::Rsqrt: return graph.node("Reciprocal", {graph.node("Sqrt", args)});
    case ScalarOp::Trunc:
      return graph.node("Mul", {graph.node("Sign", args), graph.node("Floor", {graph.node("Abs", args)})});
    case ScalarOp::Round: return round_away(graph, args[0], dtype);
    case ScalarOp::Ne: return graph.node("Not", {graph.node("Equal", args)});
    case ScalarOp::BitAnd: return bits(graph, "And", args, dtype);
    case ScalarOp::BitOr: return bits(graph, "Or", args, dtype);
    case ScalarOp::BitXor: return bits(graph, "Xor", args, dtype);
    case ScalarOp::BitNot: return bits(graph, "Not", args, dtype);
    case ScalarOp::ShiftLeft: return shift(graph, args, dtype, "LEFT");
    case ScalarOp::ShiftRight: return shift(graph, args, dtype, "RIGHT");
    default: throw Refusal(fmt::format("ONNX has no `{}`", info(op).name));
  }
}

Name integer_op(GraphWriter& graph, DimKind kind, const Name& a, const Name& b) {
  switch (kind) {
    case DimKind::Sum: return graph.node("Add", {a, b});
    case DimKind::Product: return graph.node("Mul", {a, b});
    case DimKind::FloorDiv: return floor_div(graph, a, b);
    case DimKind::FloorMod: return graph.node("Mod", {a, b});
    case DimKind::Min: return graph.node("Min", {a, b});
    case DimKind::Max:
    case DimKind::Broadcast: return graph.node("Max", {a, b});
    default: throw Refusal("this index has no counterpart in ONNX");
  }
}

namespace {

/// The last axes in one, along which ONNX looks for a position.
Name with_one_axis(GraphWriter& graph, const Name& value, const std::vector<int64_t>& axes) {
  if (axes.size() == 1) return value;
  // An extent of 0 is that of the operand.
  std::vector<int64_t> shape(static_cast<size_t>(axes[0]), 0);
  shape.push_back(-1);
  return graph.node("Reshape", {value, graph.ints(shape)});
}

}  // namespace

Name reduction(GraphWriter& graph, ReduceKind kind, const Name& value, const std::vector<int64_t>& axes,
               DType dtype) {
  const Attributes over{{"axes", axes}, {"keepdims", int64_t{0}}};
  auto of_bools = [&](std::string_view op) {
    const Name numbers = cast_to(graph, value, DType::boolean(), DType::int32());
    return cast_to(graph, graph.node(op, {numbers}, over), DType::int32(), DType::boolean());
  };
  switch (kind) {
    case ReduceKind::Sum:
      return graph.node("ReduceSum", {value, graph.ints(axes)}, {{"keepdims", int64_t{0}}});
    case ReduceKind::Prod: return graph.node("ReduceProd", {value}, over);
    case ReduceKind::Max:
      return dtype.is_bool() ? of_bools("ReduceMax") : graph.node("ReduceMax", {value}, over);
    case ReduceKind::Min:
      return dtype.is_bool() ? of_bools("ReduceMin") : graph.node("ReduceMin", {value}, over);
    case ReduceKind::Any: return of_bools("ReduceMax");
    case ReduceKind::All: return of_bools("ReduceMin");
    case ReduceKind::ArgMax:
    case ReduceKind::ArgMin:
      return graph.node(kind == ReduceKind::ArgMax ? "ArgMax" : "ArgMin", {with_one_axis(graph, value, axes)},
                        {{"axis", axes[0]}, {"keepdims", int64_t{0}}});
  }
  throw Refusal("this reduction has no counterpart in ONNX");
}

}  // namespace quern::onnx
