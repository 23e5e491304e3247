// The instructions that construct and destructure values.

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "ir/extern/kernels.h"
#include "ir/interpret/interpreter.h"
#include "jit/vm/machine.h"
#include "jit/vm/nan_source.h"
#include "jit/vm/scalar.h"

namespace quern::vm {

std::vector<Value> Machine::take_all(const std::vector<Register>& operands) {
  std::vector<Value> values;
  values.reserve(operands.size());
  for (Register r : operands) values.push_back(r == kNoRegister ? Value() : take(r));
  return values;
}

// --- dims --------------------------------------------------------------------------------------------------

Shape Machine::shape(const Instruction* pc, const std::vector<DimCode>& codes) {
  Shape shape;
  shape.reserve(codes.size());
  for (const DimCode& code : codes) {
    std::optional<int64_t> extent = evaluate(code, slots_);
    if (!extent) fail(pc, why_no_value(code, slots_));
    if (*extent < 0) fail(pc, fmt::format("the extent {} is negative: {}", to_string(code.dim), *extent));
    shape.push_back(*extent);
  }
  return shape;
}

void Machine::dim_value(const Instruction* pc) {
  const DimCode& code = function().dims[pc->a];
  std::optional<int64_t> value = evaluate(code, slots_);
  if (!value) fail(pc, why_no_value(code, slots_));
  put(pc->result, Scalar{DType::index(), static_cast<uint64_t>(*value)});
}

void Machine::bind(const Instruction* pc) {
  std::string wrong = vm::bind(function().plans[pc->b], &peek(pc->a), slots_);
  if (!wrong.empty()) fail(pc, std::move(wrong), FailureKind::Dims);
  done(pc->a);
}

void Machine::check_dims(const Instruction* pc) {
  for (const CheckSite::Check& check : function().site<CheckSite>(*pc).checks) {
    std::optional<int64_t> left = evaluate(check.left, slots_), right = evaluate(check.right, slots_);
    if (!left || !right || !holds(check.condition.relation, *left, *right))
      throw Stop{broken(check.condition, left, right)};
  }
}

// --- elements ----------------------------------------------------------------------------------------------

const Instruction* Machine::cast(const Instruction* pc) {
  const Value& from = registers_[pc->a];
  if (pc->function != kSlowCast)
    cast_functions[pc->function](from, from, registers_[pc->result]);
  else
    put(pc->result, quern::cast(from.scalar(), function().dtypes[pc->b]));
  return pc + 1;
}

const Instruction* Machine::element(const Instruction* pc) {
  const auto& site = function().site<ElementSite>(*pc);
  auto* boxed = peek(site.operands[0]).object_as<TensorObject>();
  if (!boxed || boxed->tensor->shape().size() != site.indices.size())
    fail(pc, fmt::format("internal: a tensor of rank {} is wanted here", site.indices.size()));
  const HostTensor& tensor = *boxed->tensor;
  int64_t offset = 0;
  size_t operand = 1;
  for (size_t axis = 0; axis < site.indices.size(); ++axis) {
    const ElementSite::Index& at = site.indices[axis];
    std::optional<int64_t> index =
        at.computed ? registers_[site.operands[operand++]].scalar().as_int() : evaluate(at.dim, slots_);
    if (!index) fail(pc, why_no_value(at.dim, slots_));
    const int64_t extent = tensor.shape()[axis];
    if (static_cast<uint64_t>(*index) < static_cast<uint64_t>(extent)) {
      offset = offset * extent + *index;
      continue;
    }
    if (at.checked && pc->flag) {
      done(site.operands[0]);
      return function().code.data() + pc->b;
    }
    std::string what =
        fmt::format("index {} is out of bounds for axis {} with extent {}", *index, axis, extent);
    fail(pc, at.checked ? what : "internal: unproved read: " + what, FailureKind::Index);
  }
  Scalar element{tensor.dtype()};
  const size_t bytes = element.dtype.bytes();
  std::memcpy(&element.bits, tensor.data() + static_cast<size_t>(offset) * bytes, bytes);
  done(site.operands[0]);
  put(pc->result, element);
  return pc + 1;
}

// --- kernels and views -------------------------------------------------------------------------------------

TensorPtr Machine::make_tensor(const Instruction* pc, DType dtype, Shape shape,
                               const std::shared_ptr<Device>& device) {
  if (!fits_memory(dtype, shape)) fail(pc, fmt::format("{} is too large", type_to_string(dtype, shape)));
  try {
    return device ? HostTensor::on(device, dtype, shape) : HostTensor::make(dtype, shape);
  } catch (const std::bad_alloc&) {
    fail(pc, fmt::format("there is not enough memory for {}", type_to_string(dtype, shape)));
  }
}

std::shared_ptr<Device> Machine::device_of(const Instruction* pc, std::string_view name) const {
  if (name.empty() || name == kHostDevice) return nullptr;
  std::shared_ptr<Device> device = options_.device(name);
  if (!device) fail(pc, fmt::format("internal: there is no device `{}`", name));
  return device;
}

Value Machine::copied_to(const Instruction* pc, const std::shared_ptr<Device>& device, const Value& value) {
  if (auto* tuple = value.object_as<TupleObject>()) {
    std::vector<Value> fields;
    for (const Value& field : tuple->fields) fields.push_back(copied_to(pc, device, field));
    return Value::tuple(std::move(fields));
  }
  auto* boxed = value.object_as<TensorObject>();
  if (!boxed || boxed->tensor->shape().empty()) return value;
  const HostTensor& tensor = *boxed->tensor;
  TensorPtr copy = make_tensor(pc, tensor.dtype(), tensor.shape(), device);
  const RunningOn to(device.get()), from(tensor.device());
  std::memcpy(copy->data(), tensor.data(), tensor.bytes());
  return Value::tensor(std::move(copy));
}

std::optional<int64_t> Machine::value_of(const std::optional<DimCode>& dim) const {
  return dim ? evaluate(*dim, slots_) : std::nullopt;
}

void Machine::view(const Instruction* pc) {
  const auto& site = function().site<ViewSite>(*pc);
  TensorPtr tensor = peek(site.operands[0]).as_tensor();
  if (!tensor) fail(pc, "internal: a view of what is no tensor");
  Shape shape = this->shape(pc, site.shape);
  auto wanted = [&] { return type_to_string(tensor->dtype(), shape); };
  if (!fits_memory(tensor->dtype(), shape)) fail(pc, fmt::format("{} is too large", wanted()));
  const int64_t count = site.same_count ? tensor->size() : element_count(shape);
  if (count != tensor->size())
    fail(pc, fmt::format("a tensor of {} elements cannot be viewed as {}, which has {}", tensor->size(),
                         wanted(), count));
  done(site.operands[0]);
  put(pc->result, Value::tensor(HostTensor::view(std::move(tensor), std::move(shape))));
}

// --- tuples and constructors -------------------------------------------------------------------------------

void Machine::tuple(const Instruction* pc) {
  put(pc->result, Value::tuple(take_all(function().site<Site>(*pc).operands)));
}

void Machine::construct(const Instruction* pc) {
  const auto& site = function().site<ConstructSite>(*pc);
  put(pc->result, Value::data(*site.constructor, take_all(site.operands)));
}

void Machine::field(const Instruction* pc) {
  const std::vector<Value>* fields = peek(pc->a).fields();
  if (!fields || pc->b >= fields->size()) fail(pc, "internal: the value has no such field");
  Value value = (*fields)[pc->b];
  done(pc->a);
  put(pc->result, std::move(value));
}

const Instruction* Machine::switch_to_arm(const Instruction* pc) {
  const auto& site = function().site<SwitchSite>(*pc);
  auto* data = peek(site.operands[0]).object_as<DataObject>();
  if (!data || data->constructor.tag >= site.labels.size())
    fail(pc, "internal: no value of the matched type");
  const uint32_t target = site.labels[data->constructor.tag];
  done(site.operands[0]);
  return function().code.data() + target;
}

void Machine::unmatched(const Instruction* pc) { fail(pc, no_arm_matches(peek(pc->a))); }

// --- references --------------------------------------------------------------------------------------------

RefObject& Machine::place(const Instruction* pc, Register r) {
  auto* reference = peek(r).object_as<RefObject>();
  if (!reference) fail(pc, "internal: the value is no reference");
  return *reference;
}

void Machine::ref(const Instruction* pc) { put(pc->result, Value::reference(take(pc->a))); }

void Machine::ref_read(const Instruction* pc) {
  Value content = place(pc, pc->a).content;
  done(pc->a);
  put(pc->result, std::move(content));
}

void Machine::ref_write(const Instruction* pc) {
  // Destroy the old content last: it may hold the last reference to anything.
  Value old = std::exchange(place(pc, pc->a).content, take(pc->b));
  done(pc->a);
  put(pc->result, Value::unit());
}

void Machine::checked_scalar(const Instruction* pc) {
  // The result may take the register of an operand.
  const ScalarOp op = scalar_op(pc->function);
  std::vector<Value> operands{registers_[pc->a]};
  if (info(op).arity == 2) operands.push_back(pc->flag ? function().constants[pc->b] : registers_[pc->b]);
  scalar_functions[pc->function](operands[0], operands.back(), registers_[pc->result]);
  if (has_nan(registers_[pc->result]) && std::ranges::none_of(operands, has_nan))
    fail(pc, nan_message(op, operands));
}

// --- functions ---------------------------------------------------------------------------------------------

void Machine::closure(const Instruction* pc) {
  const auto& site = function().site<ClosureSite>(*pc);
  const std::shared_ptr<const Program>& program = frames_.back().link->program;
  auto* object = new Closure(program->functions[site.function]->type);
  Value value(object);
  object->program = program;
  object->function = site.function;
  object->captures = take_all(site.operands);
  for (uint32_t slot : site.slots) object->dims.push_back(slots_[slot]);
  put(pc->result, std::move(value));
}

void Machine::capture(const Instruction* pc) {
  put(pc->result, static_cast<const Closure*>(frames_.back().closure.object())->captures[pc->a]);
}

void Machine::global(const Instruction* pc) {
  const auto& site = function().site<GlobalSite>(*pc);
  const Link* link = link_of_global(pc, site.global);
  auto* object = new Closure(site.type);
  Value value(object);
  object->program = link->program;
  for (size_t use : link->program->functions.front()->use_dims)
    object->dims.push_back(use < site.dims.size() ? evaluate(site.dims[use], slots_).value_or(kUnbound)
                                                  : kUnbound);
  put(pc->result, std::move(value));
}

// --- the outside -------------------------------------------------------------------------------------------

void Machine::intrinsic(const Instruction* pc) {
  const auto& site = function().site<IntrinsicSite>(*pc);
  const IntrinsicExpr& node = *site.node;
  std::vector<Value> args = take_all(site.operands);
  Value result = Value::unit();
  switch (node.intrinsic) {
    case IntrinsicKind::Print: host_.print(format_print(node, args, host_.style())); break;
    case IntrinsicKind::Load: {
      Result<Value> loaded = host_.load(file_name_of(node, args), node.texts.back(), node.type);
      if (!loaded) fail(pc, loaded.error().message, FailureKind::File);
      result = std::move(loaded).value();
      break;
    }
    case IntrinsicKind::Save: {
      Result<Done> saved =
          host_.save(file_name_of(node, args), node.texts.back(), args.back(), node.args.back()->type);
      if (!saved) fail(pc, saved.error().message, FailureKind::File);
      break;
    }
    case IntrinsicKind::Restore: {
      Result<std::optional<Value>> restored = host_.restore(file_name_of(node, args), node.type);
      if (!restored) fail(pc, restored.error().message, FailureKind::File);
      result = *restored ? **restored : args.back();
      break;
    }
    case IntrinsicKind::NextKey: result = host_.next_key(); break;
    case IntrinsicKind::ToDevice: result = copied_to(pc, device_of(pc, node.texts[1]), args[0]); break;
    case IntrinsicKind::Progress: report_progress(host_, node, args); break;
    case IntrinsicKind::Clock: result = clock_value(); break;
    case IntrinsicKind::Assert:
      if (std::string problem = check_assertion(node, args); !problem.empty()) fail(pc, problem);
      break;
    default:
      fail(pc,
           "the function that is derived here is known only now that the program runs: pass it by its name, "
           "or as `fn (…) { … }`");
  }
  put(pc->result, std::move(result));
}

void Machine::extern_kernel(const Instruction* pc) {
  check_interrupt(pc);
  const auto& site = function().site<ExternSite>(*pc);
  ExternKernel kernel = find_extern_kernel(site.node->kernel);
  if (!kernel) fail(pc, fmt::format("internal: there is no kernel {}", site.node->kernel));
  std::vector<Value> args = take_all(site.operands);
  Result<Value> result = kernel(args, *site.node->attributes);
  if (!result) fail(pc, result.error().message);
  if (options_.checks_nan && has_nan(*result) && std::ranges::none_of(args, has_nan))
    fail(pc, "this is a NaN, and its operands have none");
  put(pc->result, std::move(result).value());
}

}  // namespace quern::vm
