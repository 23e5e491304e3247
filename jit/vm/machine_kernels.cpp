// Kernels: their code, buffers and failures.

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
#include "ir/interpret/interpreter.h"
#include "jit/compute/computation.h"
#include "jit/runtime/fault.h"
#include "jit/runtime/threads.h"
#include "jit/vm/machine.h"
#include "jit/vm/nan_source.h"
#include "jit/vm/operation_count.h"
#include "jit/vm/scalar.h"

namespace quern::vm {

namespace {

/// Calls a kernel and records its time, and its work as `tell` reports it.
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

void Machine::kernel(const Instruction* pc) {
  check_interrupt(pc);
  const auto& site = function().site<KernelSite>(*pc);
  const RunningOn running(device_of(pc, site.device).get());
  Value result;
  if (site.shape.empty() && !site.dtype.is_vector()) {
    Scalar scalar{site.dtype};
    call_kernel(pc, site, {}, &scalar.bits);
    result = scalar;
  } else {
    TensorPtr tensor = memory_of_operand(pc, site);
    if (!tensor) tensor = new_result(pc, site);
    call_kernel(pc, site, tensor->shape(), tensor->data());
    result = Value::tensor(std::move(tensor));
  }
  if (options_.checks_nan) check_nan(pc, site, result);
  for (Register r : site.operands) done(r);
  put(pc->result, std::move(result));
}

/// The operand whose memory the result may take: this is its last use, nothing else has it, it has no prepacked forms, and
/// no check for NaNs reads it afterwards.
TensorPtr Machine::memory_of_operand(const Instruction* pc, const KernelSite& site) {
  if (!site.under_result || !options_.writes_in_place || options_.checks_nan) return nullptr;
  const Register r = site.operands[*site.under_result];
  if ((r & kLastUse) == 0) return nullptr;
  auto* boxed = peek(r).object_as<TensorObject>();
  if (!boxed || !boxed->unique() || boxed->tensor.use_count() > 1 || !boxed->tensor->is_own()) return nullptr;
  const auto is_same = [&](Register other) { return (other & ~kLastUse) == (r & ~kLastUse); };
  if (std::ranges::count_if(site.operands, is_same) > 1) return nullptr;
  const auto is_packed = [&](const KernelCode::Packed& packed) {
    return packed.buffer == *site.under_result;
  };
  return std::ranges::any_of(kernel_code(pc, site).kernel.packed, is_packed) ? nullptr : boxed->tensor;
}

TensorPtr Machine::new_result(const Instruction* pc, const KernelSite& site) {
  Shape shape = this->shape(pc, site.shape);
  const std::optional<size_t> place = place_in_block(site);
  TensorPtr tensor = place ? HostTensor::within(frames_.back().block, *place, site.dtype, std::move(shape))
                           : make_tensor(pc, site.dtype, std::move(shape), device_of(pc, site.device));
  if (options_.poisons_memory) std::memset(tensor->data(), 0xff, tensor->bytes());
  return tensor;
}

std::optional<size_t> Machine::place_in_block(const KernelSite& site) {
  if (!site.stored || !options_.shares_storage) return std::nullopt;
  Frame& frame = frames_.back();
  if (!frame.placement) frame.placement = placement_of(*frame.function->storage);
  const Placement& placement = *frame.placement;
  const int64_t offset = placement.offsets[*site.stored];
  if (offset < 0) return std::nullopt;
  if (!frame.block || frame.block->bytes() != static_cast<size_t>(placement.bytes)) {
    frame.block = nullptr;
    try {
      frame.block = HostTensor::make(DType::uint8(), {placement.bytes});
    } catch (const std::bad_alloc&) {
      return std::nullopt;  // the tensor alone may find memory, or says for what there is none
    }
  }
  return static_cast<size_t>(offset);
}

/// A tensor whose size is not known when the first one is made has no place.
std::shared_ptr<const Placement> Machine::placement_of(const Storage& storage) const {
  std::vector<Lifetime> lifetimes;
  lifetimes.reserve(storage.tensors.size());
  for (const Storage::Tensor& tensor : storage.tensors) {
    int64_t bytes = static_cast<int64_t>(tensor.site->dtype.bytes());
    for (const DimCode& extent : tensor.site->shape) {
      const std::optional<int64_t> value = evaluate(extent, slots_);
      if (!value || *value < 0 || __builtin_mul_overflow(bytes, *value, &bytes)) {
        bytes = 0;
        break;
      }
    }
    lifetimes.push_back({bytes, tensor.first, tensor.last});
  }
  return storage.placements.of(lifetimes);
}

void Machine::call_kernel(const Instruction* pc, const KernelSite& site, const Shape& shape, void* output) {
  const KernelSite::Code& code = kernel_code(pc, site);
  buffers_.clear();
  for (Register r : site.operands) {
    const Value& value = peek(r);
    auto* boxed = value.object_as<TensorObject>();
    if (!boxed && !value.is_scalar()) fail(pc, "internal: a kernel is given what is no tensor");
    if (!options_.devices.empty() && boxed && !boxed->tensor->shape().empty() &&
        boxed->tensor->device() != options_.device(site.device).get())
      fail(pc, "internal: a kernel is given a tensor in the memory of another device");
    // Kernels only read their inputs.
    buffers_.push_back(boxed ? boxed->tensor->data() : const_cast<void*>(value.scalar_address()));
  }
  buffers_.push_back(output);
  kernel_dims_.clear();
  for (const DimCode& dim : code.dims) {
    std::optional<int64_t> value = evaluate(dim, slots_);
    if (!value) fail(pc, why_no_value(dim, slots_));
    kernel_dims_.push_back(*value);
  }
  // Shapes of tensors were checked when they were made.
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
  passing_forms_.clear();
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

namespace {

int32_t call(KernelEntry entry, void* const* buffers, const int64_t* dims) {
  int32_t trap = 0;
  if (const auto fault = fault_of([&] { trap = entry(buffers, dims); })) throw *fault;
  return trap;
}

/// Calls the entry, on several threads for parts of its range if there is enough work. If several parts trap,
/// deterministically returns the first part's trap.
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
  std::vector<int64_t> read;
  read.reserve(packed.reads.size());
  for (const size_t number : packed.reads) read.push_back(kernel_dims_[number]);
  if (HostTensor* form = forms_.find(tensor, *code, read)) return *form;
  TensorPtr form = make_tensor(pc, packed.dtype, this->shape(pc, dims.shape));
  void* buffers[] = {tensor.data(), form->data()};
  const auto run = [&] {
    return run_kernel(pc, packed.name, *code, buffers, value_of(dims.range), value_of(dims.work));
  };
  const int32_t trap = !profile_ ? run() : noted(*profile_, packed.name, run, [&](KernelCall& call) {
    call.bytes = static_cast<double>(tensor.bytes()) + static_cast<double>(form->bytes());
  });
  if (trap == loops::kStopped) fail(pc, kInterrupted);
  QUERN_CHECK(trap == 0);
  if (options_.keeps_forms) return forms_.keep(tensor, code, std::move(read), std::move(form));
  return *passing_forms_.emplace_back(std::move(form));
}

/// The body of a primitive with the dims of this call, and its arguments.
struct Machine::CalledPrimitive {
  Arena arena;
  ExprPtr body = nullptr;
  Environment arguments;
};

void Machine::open(const KernelSite& site, CalledPrimitive& called) const {
  ExprSubstitution known;
  const std::vector<Dim>& dims = site.code.kernel.dims;
  for (size_t i = 0; i < dims.size() && i < kernel_dims_.size(); ++i)
    known.types.dims.emplace(dims[i], dim_const(kernel_dims_[i]));
  Environment arguments;
  for (size_t i = 0; i < site.operands.size() && i < site.primitive->params.size(); ++i)
    arguments.emplace(site.primitive->params[i], peek(site.operands[i]));
  for (auto& [variable, value] : arguments)
    if (const Variable* copy =
            make_variable(called.arena, variable->name, substitute(variable->type, known.types))) {
      known.variables.emplace(variable,
                              called.arena.make<VarExpr>(Expr{ExprKind::Var, copy->type, {}}, copy));
      called.arguments.emplace(copy, value);
    }
  called.body = substitute(called.arena, site.primitive->body, known);
}

void Machine::check_nan(const Instruction* pc, const KernelSite& site, const Value& result) const {
  if (!has_nan(result)) return;
  const auto is_nan = [this](Register r) { return has_nan(peek(r)); };
  if (std::ranges::any_of(site.operands, is_nan)) return;
  CalledPrimitive called;
  open(site, called);
  if (const auto source = nan_source(called.body, result, called.arguments, host_)) {
    EvaluationError error{source->message, source->origin, {}};
    tell_calls(error, open_calls());
    throw Stop{std::move(error)};
  }
  fail(pc, "this is a NaN, and its operands have none");
}

/// A kernel reports which check failed; evaluating its definition up to that point finds the place, the index
/// and the extent, if that takes only a moment.
void Machine::fail_in_kernel(const Instruction* pc, const KernelSite& site, const Shape& shape,
                             int32_t trap) {
  constexpr int64_t kMostElements = 1'000'000;
  if (trap == loops::kStopped) fail(pc, kInterrupted);
  if (trap == loops::kNoMemory) fail(pc, "there is not enough memory for what the kernel keeps");
  if (trap == loops::kOutOfBuffer) fail(pc, "internal: the kernel left a buffer");
  if (element_count(shape) <= kMostElements) {
    CalledPrimitive called;
    open(site, called);
    NoFunctions none;
    EvaluationResult result = interpret(called.body, called.arguments, none, host_);
    if (!result) throw Stop{result.error()};
  }
  // Primitives with other dim names share the code.
  std::vector<std::string> traps;
  if (site.primitive->body->kind == ExprKind::Comprehension)
    traps = loops::computation_of(*site.primitive).traps;
  const auto number = static_cast<size_t>(trap);
  const bool named = trap > 0 && number <= traps.size();
  fail(pc, named ? traps[number - 1] : fmt::format("internal: the kernel stopped with trap {}", trap),
       FailureKind::Index);
}

/// Null if it depends on anything else.
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
  // A failure is retried next time, since its cause may be gone.
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

}  // namespace quern::vm
