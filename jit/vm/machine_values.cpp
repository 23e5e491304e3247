// The instructions that make and take apart values.

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "ir/base/internal_failure.h"
#include "ir/base/interrupt.h"
#include "ir/extern/kernels.h"
#include "ir/interpret/interpreter.h"
#include "jit/compute/computation.h"
#include "jit/runtime/fault.h"
#include "jit/runtime/threads.h"
#include "jit/vm/machine.h"
#include "jit/vm/operation_count.h"
#include "jit/vm/scalar.h"

namespace quern::vm {

namespace {

/// Whether the size of a tensor is representable; of an empty one too, whose other extents may be anything.
bool fits_memory(DType dtype, const Shape& shape) {
  auto bytes = static_cast<int64_t>(dtype.bytes());
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(bytes, std::max<int64_t>(extent, 1), &bytes)) return false;
  return true;
}

/// Calls a kernel and notes how long it took, and what `tell` says that it did.
template <class Run, class Tell>
int32_t noted(Profile& profile, const std::string& name, const Run& run, const Tell& tell) {
  KernelCall call;
  const auto start = std::chrono::steady_clock::now();
  const int32_t trap = run();
  call.time = std::chrono::steady_clock::now() - start;
  tell(call);
  profile.note_call(name, call);
  return trap;
}

}  // namespace

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

TensorPtr Machine::make_tensor(const Instruction* pc, DType dtype, Shape shape) {
  if (!fits_memory(dtype, shape)) fail(pc, fmt::format("{} is too large", type_to_string(dtype, shape)));
  try {
    return HostTensor::make(dtype, shape);
  } catch (const std::bad_alloc&) {
    fail(pc, fmt::format("there is not enough memory for {}", type_to_string(dtype, shape)));
  }
}

void Machine::kernel(const Instruction* pc) {
  check_interrupt(pc);
  const auto& site = function().site<KernelSite>(*pc);
  Value result;
  if (site.shape.empty() && !site.dtype.is_vector()) {
    Scalar scalar{site.dtype};
    call_kernel(pc, site, {}, &scalar.bits);
    result = scalar;
  } else {
    TensorPtr tensor = make_tensor(pc, site.dtype, shape(pc, site.shape));
    call_kernel(pc, site, tensor->shape(), tensor->data());
    result = Value::tensor(std::move(tensor));
  }
  for (Register r : site.operands) done(r);
  put(pc->result, std::move(result));
}

void Machine::call_kernel(const Instruction* pc, const KernelSite& site, const Shape& shape, void* output) {
  const KernelSite::Code& code = kernel_code(pc, site);
  buffers_.clear();
  for (Register r : site.operands) {
    const Value& value = peek(r);
    auto* boxed = value.object_as<TensorObject>();
    if (!boxed && !value.is_scalar()) fail(pc, "internal: a kernel is given what is no tensor");
    // Kernels read their inputs only.
    buffers_.push_back(boxed ? boxed->tensor->data() : const_cast<void*>(value.scalar_address()));
  }
  buffers_.push_back(output);
  kernel_dims_.clear();
  for (const DimCode& dim : code.dims) {
    std::optional<int64_t> value = evaluate(dim, slots_);
    if (!value) fail(pc, why_no_value(dim, slots_));
    kernel_dims_.push_back(*value);
  }
  // Tensors' shapes were tested when they were made.
  for (const DimCode& extent : site.extents)
    if (!evaluate(extent, slots_)) fail(pc, why_no_value(extent, slots_));
  std::vector<HostTensor*> forms;
  for (size_t k = 0; k < code.kernel.packed.size(); ++k) {
    const KernelCode::Packed& packed = code.kernel.packed[k];
    const size_t operands = site.operands.size();
    HostTensor& tensor = packed.buffer > operands
                             ? *forms.at(packed.buffer - operands - 1)
                             : *peek(site.operands[packed.buffer]).object_as<TensorObject>()->tensor;
    forms.push_back(&packed_form(pc, packed, code.packed[k], tensor));
    buffers_.push_back(forms.back()->data());
  }
  const auto run = [&] {
    return run_kernel(pc, code.kernel.name, *code.kernel.code, buffers_.data(), value_of(code.range),
                      value_of(code.work));
  };
  const int32_t trap = !profile_ ? run() : noted(*profile_, code.kernel.name, run, [&](KernelCall& call) {
    call.operations = operations_of(code);
    call.bytes = bytes_of(site, shape);
  });
  if (trap != 0) fail_in_kernel(pc, site, shape, trap);
}

double Machine::operations_of(const KernelSite::Code& code) const {
  const std::optional<int64_t> count = value_of(code.operations);
  return count ? static_cast<double>(*count) : std::numeric_limits<double>::quiet_NaN();
}

double Machine::bytes_of(const KernelSite& site, const Shape& shape) const {
  double bytes = static_cast<double>(element_count(shape)) * static_cast<double>(site.dtype.bytes());
  for (Register r : site.operands) {
    auto* boxed = peek(r).object_as<TensorObject>();
    if (boxed) bytes += static_cast<double>(boxed->tensor->bytes());
  }
  return bytes;
}

std::optional<int64_t> Machine::value_of(const std::optional<DimCode>& dim) const {
  return dim ? evaluate(*dim, slots_) : std::nullopt;
}

namespace {

int32_t call(KernelEntry entry, void* const* buffers, const int64_t* dims) {
  int32_t trap = 0;
  if (const auto fault = fault_of([&] { trap = entry(buffers, dims); })) throw *fault;
  return trap;
}

/// Calls the entry; for parts of its range on several threads where there is enough work for them. Of several
/// traps, which come from different parts, it is the same one in each run: that of the first part.
int32_t call_parts(KernelEntry entry, void* const* buffers, const std::vector<int64_t>& dims,
                   std::optional<int64_t> range, std::optional<int64_t> work) {
  constexpr int64_t kLeastWork = 16 << 10, kLeastPart = 4 << 10;  // cycles
  if (!range) return call(entry, buffers, dims.data());
  const auto part = [&](int64_t begin, int64_t end) {
    if (is_interrupted()) return loops::kStopped;
    std::vector<int64_t> all = dims;
    all.push_back(begin);
    all.push_back(end);
    return call(entry, buffers, all.data());
  };
  if (thread_count() == 1 || work.value_or(0) < kLeastWork) return part(0, *range);
  std::mutex mutex;
  int64_t first = *range;
  int32_t trap = 0;
  const int64_t least = kLeastPart * *range / *work + 1;
  for_each_part(*range, least, [&](int64_t begin, int64_t end) {
    const int32_t stopped = part(begin, end);
    if (stopped == 0) return;
    const std::lock_guard lock(mutex);
    if (begin > first) return;
    first = begin;
    trap = stopped;
  });
  return trap;
}

}  // namespace

int32_t Machine::run_kernel(const Instruction* pc, const std::string& name, const CompiledKernel& code,
                            void* const* buffers, std::optional<int64_t> range, std::optional<int64_t> work) {
  try {
    return call_parts(code.entry.load(std::memory_order_acquire), buffers, kernel_dims_, range, work);
  } catch (const Fault& fault) {
    const Stage stage("run", origin(pc), name);
    throw InternalFailure(fmt::format("compiled code stopped: {}", to_string(fault)));
  }
}

HostTensor& Machine::packed_form(const Instruction* pc, const KernelCode::Packed& packed,
                                 const KernelSite::Code::Packed& dims, HostTensor& tensor) {
  const std::shared_ptr<CompiledKernel>& code = packed.code;
  TensorPtr form = tensor.form(code.get(), kernel_dims_);
  if (!form) {
    form = make_tensor(pc, packed.dtype, this->shape(pc, dims.shape));
    void* buffers[] = {tensor.data(), form->data()};
    const auto run = [&] {
      return run_kernel(pc, packed.name, *code, buffers, value_of(dims.range), value_of(dims.work));
    };
    const int32_t trap = !profile_ ? run() : noted(*profile_, packed.name, run, [&](KernelCall& call) {
      call.bytes = static_cast<double>(tensor.bytes()) + static_cast<double>(form->bytes());
    });
    if (trap == loops::kStopped) fail(pc, kInterrupted);
    QUERN_CHECK(trap == 0);
    tensor.keep_form(code, kernel_dims_, form);
  }
  return *form;
}

namespace {

/// A kernel calls no function.
class NoFunctions final : public FunctionSource {
 public:
  const Definition* function(uint32_t, std::string_view) override { return nullptr; }
};

}  // namespace

/// A kernel says which of its tests failed; the place, the index and the extent are found by evaluating its
/// definition up to there, where that takes no more than a moment.
void Machine::fail_in_kernel(const Instruction* pc, const KernelSite& site, const Shape& shape,
                             int32_t trap) {
  constexpr int64_t kMostElements = 1'000'000;
  if (trap == loops::kStopped) fail(pc, kInterrupted);
  if (trap == loops::kNoMemory) fail(pc, "there is not enough memory for what the kernel keeps");
  if (trap == loops::kOutOfBuffer) fail(pc, "internal: the kernel left a buffer");
  if (element_count(shape) <= kMostElements) {
    ExprSubstitution known;
    const std::vector<Dim>& dims = site.code.kernel.dims;
    for (size_t i = 0; i < dims.size() && i < kernel_dims_.size(); ++i)
      known.types.dims.emplace(dims[i], dim_const(kernel_dims_[i]));
    Environment arguments;
    for (size_t i = 0; i < site.operands.size() && i < site.primitive->params.size(); ++i)
      arguments.emplace(site.primitive->params[i], peek(site.operands[i]));
    Arena arena;
    NoFunctions none;
    for (auto& [variable, value] : Environment(arguments))
      if (const Variable* copy =
              make_variable(arena, variable->name, substitute(variable->type, known.types))) {
        known.variables.emplace(variable, arena.make<VarExpr>(Expr{ExprKind::Var, copy->type, {}}, copy));
        arguments.emplace(copy, value);
      }
    EvaluationResult result =
        interpret(substitute(arena, site.primitive->body, known), arguments, none, host_);
    if (!result) throw Stop{result.error()};
  }
  // Code is shared by primitives whose dims have other names.
  std::vector<std::string> traps;
  if (site.primitive->body->kind == ExprKind::Comprehension)
    traps = loops::computation_of(*site.primitive).traps;
  const auto number = static_cast<size_t>(trap);
  const bool named = trap > 0 && number <= traps.size();
  fail(pc, named ? traps[number - 1] : fmt::format("internal: the kernel stopped with trap {}", trap),
       FailureKind::Index);
}

/// Null where it depends on anything else.
static Dim operations_over(const std::vector<Dim>& known, const FnExpr& primitive) {
  Dim count = operation_count(primitive);
  bool is_known = count != nullptr;
  if (count) for_each_var(count, [&](Dim var) { is_known &= std::ranges::find(known, var) != known.end(); });
  return is_known ? count : nullptr;
}

const KernelSite::Code& Machine::kernel_code(const Instruction* pc, const KernelSite& site) {
  if (site.ready.load(std::memory_order_acquire)) return site.code;
  std::lock_guard lock(site.mutex);
  if (site.ready.load(std::memory_order_relaxed)) return site.code;
  // What failed is asked for again the next time: the cause may be gone then.
  Result<KernelCode> kernel = kernels_.kernel(*site.primitive);
  if (!kernel) fail(pc, kernel.error().message);
  const std::vector<Dim>& known = function().dim_of_slot;
  auto slot_of = [&](Dim var) {
    auto found = std::find(known.begin(), known.end(), var);
    if (found == known.end()) fail(pc, fmt::format("internal: the dim {} has no value", to_string(var)));
    return static_cast<uint32_t>(found - known.begin());
  };
  const auto compile_all = [&](const std::vector<Dim>& list) {
    std::vector<DimCode> codes;
    codes.reserve(list.size());
    for (Dim dim : list) codes.push_back(compile_dim(dim, slot_of));
    return codes;
  };
  const auto compile_some = [&](Dim dim) {
    return dim ? std::optional(compile_dim(dim, slot_of)) : std::nullopt;
  };
  site.code.dims = compile_all(kernel->dims);
  site.code.range = compile_some(kernel->range);
  site.code.work = compile_some(kernel->work);
  site.code.operations = compile_some(operations_over(known, *site.primitive));
  for (const KernelCode::Packed& packed : kernel->packed)
    site.code.packed.push_back(
        {compile_all(packed.shape), compile_some(packed.range), compile_some(packed.work)});
  site.code.kernel = std::move(*kernel);
  site.ready.store(true, std::memory_order_release);
  return site.code;
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
  // What was there goes at the very end: it may hold the last reference to anything.
  Value old = std::exchange(place(pc, pc->a).content, take(pc->b));
  done(pc->a);
  put(pc->result, Value::unit());
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
      Result<Value> loaded = host_.load(node.texts[0], node.texts[1], node.type);
      if (!loaded) fail(pc, loaded.error().message, FailureKind::File);
      result = std::move(loaded).value();
      break;
    }
    case IntrinsicKind::Save: {
      Result<Done> saved = host_.save(node.texts[0], args[0], node.args[0]->type);
      if (!saved) fail(pc, saved.error().message, FailureKind::File);
      break;
    }
    case IntrinsicKind::Clock: result = clock_value(); break;
    case IntrinsicKind::Assert:
      if (std::string problem = check_assertion(node, args); !problem.empty()) fail(pc, problem);
      break;
    default: fail(pc, "internal: a gradient was not expanded");
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
  put(pc->result, std::move(result).value());
}

}  // namespace quern::vm
