// Loops, and the arrays that they read and write.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/operators/loop_function.h"
#include "import/tensorflow/operators/parts.h"
#include "import/tensorflow/operators/table.h"

namespace quern::tensorflow {

namespace {

using namespace import_text;
using onnx::Block;

// --- arrays: tensors of their elements' rows. What TensorFlow hands around for them ("flow", a handle) is the tensor.

/// One to which nothing has been written. What its elements are shows the first write; until then it is `()`, with its size's text
/// as its name.
Term fresh_array(std::string size, Dim count) {
  Term array;
  array.type = tuple_type({});
  array.text = "()";
  array.name = std::move(size);
  array.dims = std::vector<Dim>{count};
  return array;
}

bool is_fresh(const Term& array) { return array.type->kind == TypeKind::Tuple; }

/// The text of an array of this type before anything is written to it.
std::string zeros_of(const Term& fresh, Type type) {
  std::vector<std::string> extents = {fresh.name};
  for (Dim dim : type->dims.subspan(1)) {
    if (dim->has_any) throw Refusal("fills an array with elements whose extents are not known");
    extents.push_back(to_string(dim));
  }
  return fmt::format(
      "zeros([{}]{})", fmt::join(extents, ", "),
      type->dtype == DType::float32() ? "" : fmt::format(", dtype=\"{}\"", to_string(type->dtype)));
}

Type rows_of(Type element, Dim count) {
  std::vector<Dim> dims = {count};
  dims.insert(dims.end(), element->dims.begin(), element->dims.end());
  return tensor_type(dims, element->dtype);
}

Term with_elements(Call& call, const Term& array, Type element) {
  if (!is_fresh(array)) return array;
  const Type type = rows_of(element, array.dims->front());
  return call.writer().let_as("array", zeros_of(array, type), type);
}

void make_array(Call& call, size_t size_input, std::string_view dtype, std::string_view shape) {
  const Term size = call.in(size_input);
  const auto known = dims_of(size);
  const Dim count = known && !known->front()->has_any ? known->front() : dim_any();
  const Term array = fresh_array(count->has_any ? call.writer().operand(size) : to_string(count), count);
  const auto extents = shape.empty() ? std::nullopt : call.integers(shape);
  const bool is_known = extents && std::ranges::none_of(*extents, [](int64_t extent) { return extent < 0; });
  Term made = array;
  if (is_known) {
    std::vector<Dim> dims;
    for (const int64_t extent : *extents) dims.push_back(dim_const(extent));
    made = with_elements(call, array, tensor_type(dims, dtype_in(call, dtype, DType::float32())));
  }
  for (size_t i = 0; i < call.output_count(); ++i) call.set(i, made);
}

void array_v3(Call& call) {
  const bool is_shape =
      call.has_attribute("element_shape") &&
      std::holds_alternative<std::vector<int64_t>>(call.node().attributes.find("element_shape")->second);
  make_array(call, 0, "dtype", is_shape ? "element_shape" : "");
}

void list_reserve(Call& call) { make_array(call, 1, "element_dtype", ""); }

void read(Call& call, const Term& array, const Term& index) {
  if (is_fresh(array)) throw Refusal("reads an array before anything is written to it");
  call.result("$0[$1]", {array, index});
}

void write(Call& call, const Term& array, const Term& index, const Term& element) {
  const Term filled = with_elements(call, array, element.type);
  call.result("scatter_nd($0, [[$1]], expand_dims($2, axis=0))", {filled, index, element});
}

/// Whether positions are all of an array, in order.
bool are_all(Call& call, const Term& positions) {
  if (const auto known = integers_of(positions)) {
    for (size_t i = 0; i < known->size(); ++i)
      if ((*known)[i] != static_cast<int64_t>(i)) return false;
    return true;
  }
  for (const Line& line : call.writer().lines())
    if (line.bound.size() == 1 && line.bound[0] == positions.text)
      return line.text.starts_with("arange(0, ") && line.text.find("step=") == std::string::npos;
  return false;
}

void array_scatter(Call& call) {
  const Term &array = call.in(3), &positions = call.in(1), &values = call.in(2);
  if (is_fresh(array) && are_all(call, positions)) return call.set(0, values);
  const Type element = tensor_type(values.type->dims.subspan(1), values.dtype());
  call.result("scatter_nd($0, expand_dims($1, axis=0), $2)",
              {with_elements(call, array, element), positions, values});
}

void array_gather(Call& call) {
  const Term &array = call.in(2), &positions = call.in(1);
  if (is_fresh(array)) throw Refusal("reads an array before anything is written to it");
  if (are_all(call, positions)) return call.set(0, array);
  call.result("take($0, $1, axis=0)", {array, positions});
}

void size_of(Call& call, const Term& array) {
  const Dim count = is_fresh(array) ? array.dims->front() : array.extent(0);
  if (!count->has_any) return call.set(0, dims_term({count}, DType::int32(), 0));
  if (is_fresh(array)) throw Refusal("asks for the size of an array that is not known");
  call.result("shape_of($0)[0]", {array});
}

// --- loops

class WhileText {
 public:
  explicit WhileText(Call& call)
      : call_(call), condition_(call.graph("cond")), body_(call.graph("body")), count_(call.input_count()) {
    outer_count_ = writer().document().variables.size();
    if (condition_.inputs.size() != count_ || body_.inputs.size() != count_ ||
        body_.outputs.size() != count_ || condition_.outputs.size() != 1 || call.output_count() > count_)
      throw Refusal("its graphs have another number of inputs or outputs than it has itself");
    for (size_t i = 0; i < count_; ++i) types_.push_back(call.in(i).type);
  }

  /// The types of the states are those that a turn leaves as they are.
  void write() {
    Document& document = writer().document();
    const auto names = document.names;
    const size_t definitions = document.definitions.size();
    Block block = turn();
    for (bool is_stable = false; !is_stable;) {
      is_stable = true;
      for (size_t i = 0; i < count_; ++i) {
        const Type after = block.results[i].type;
        const Type type =
            types_[i]->kind == TypeKind::Tuple ? filled(call_.in(i), after) : onnx::joined(types_[i], after);
        is_stable = is_stable && type == types_[i];
        types_[i] = type;
      }
      if (is_stable) break;
      // Nothing stays of a turn on other types.
      document.names = names;
      document.variables.resize(outer_count_);
      document.definitions.resize(definitions);
      block = turn();
    }
    write_function(block);
  }

 private:
  Writer& writer() { return call_.writer(); }

  Block turn() {
    states_.clear();
    for (size_t i = 0; i < count_; ++i) {
      states_.push_back(writer().variable(hint(i), types_[i]));
      if (types_[i]->kind == TypeKind::Tuple) {
        states_.back().name = call_.in(i).name;
        states_.back().dims = call_.in(i).dims;
      }
    }
    return call_.block(body_, states_);
  }

  /// The type of an array that a turn writes to.
  static Type filled(const Term& fresh, Type after) {
    const bool fits =
        !after->is_tensor() || (!after->dims.empty() && after->dims.front() == fresh.dims->front());
    if (!fits)
      throw Refusal(fmt::format("makes {} of an array of {} elements", to_string(after), fresh.name));
    return after;
  }

  /// A function's parameters have names of the model; those of TensorFlow 1 are numbered.
  std::string hint(size_t state) const {
    const std::string& name = body_.inputs[state].name;
    if (!name.substr(name.rfind('/') + 1).starts_with("Merge")) return identifier(name, "state");
    return types_[state]->is_tensor() && types_[state]->dims.empty() && types_[state]->dtype.is_int()
               ? "step"
               : "state";
  }

  void write_function(const Block& block) {
    const Block condition = call_.block(condition_, states_);
    const Type holds = condition.results[0].type;
    if (!holds->is_tensor() || !holds->dtype.is_bool())
      throw Refusal(fmt::format("its condition is {} and no bool", to_string(holds)));
    onnx::LoopFunction loop{states_, types_, condition.text, "", {}, {}, {}};
    // Without lines of its own a block is its expression.
    if (condition.text.find("let ") == std::string::npos)
      loop.goes_on = condition.text.substr(1, condition.text.size() - 2);
    if (condition.results[0].rank() != 0)
      loop.goes_on = fmt::format("reshape({}, newshape=[])", loop.goes_on);
    for (size_t i = 0; i < count_; ++i) {
      const Term& first = call_.in(i);
      loop.next.push_back(block.parts[i]);
      loop.results.push_back(states_[i].text);
      loop.first.push_back(is_fresh(first) && types_[i]->is_tensor() ? zeros_of(first, types_[i])
                                                                     : writer().operand(first));
    }
    loop.binds = block.lines;
    onnx::write_loop(call_, outer_count_, std::move(loop));
  }

  Call& call_;
  const onnx::Graph &condition_, &body_;
  size_t count_, outer_count_ = 0;  ///< of states; of variables of the text around it
  std::vector<Type> types_;
  std::vector<Term> states_;
};

void while_loop(Call& call) {
  if (call.input_count() == 0) throw Refusal("has no states");
  WhileText(call).write();
}

}  // namespace

std::span<const Operator> control_operators() {
  static const Operator kRows[] = {
      {"TensorArrayGatherV3", "", array_gather},
      {"TensorArrayReadV3", "", [](Call& call) { read(call, call.in(2), call.in(1)); }},
      {"TensorArrayScatterV3", "", array_scatter},
      {"TensorArraySizeV3", "", [](Call& call) { size_of(call, call.in(1)); }},
      {"TensorArrayV3", "", array_v3},
      {"TensorArrayWriteV3", "", [](Call& call) { write(call, call.in(3), call.in(1), call.in(2)); }},
      {"TensorListFromTensor", "", [](Call& call) { call.set(0, call.in(0)); }},
      {"TensorListGetItem", "", [](Call& call) { read(call, call.in(0), call.in(1)); }},
      {"TensorListLength", "", [](Call& call) { size_of(call, call.in(0)); }},
      {"TensorListReserve", "", list_reserve},
      {"TensorListSetItem", "", [](Call& call) { write(call, call.in(0), call.in(1), call.in(2)); }},
      {"TensorListStack", "", [](Call& call) { call.set(0, call.in(0)); }},
      {"While", "", while_loop},
  };
  return kRows;
}

}  // namespace quern::tensorflow
