#include "jit/vm/machine.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "ir/base/interrupt.h"
#include "jit/vm/scalar.h"

namespace quern {

namespace vm {

namespace {

/// The maximal number of pending calls. Deeper recursion counts as infinite.
constexpr size_t kMaxDepth = 100'000;
/// Tail calls kept per frame.
constexpr size_t kMaxTailCalls = 8;

}  // namespace

Machine::Machine(ProgramSource& programs, KernelSource& kernels, Host& host)
    : programs_(programs),
      kernels_(kernels),
      forms_(kernels.forms()),
      host_(host),
      profile_(kernels.profile()),
      options_(kernels.options()) {}

EvaluationResult Machine::execute(const std::shared_ptr<const Program>& program,
                                  std::vector<Value> arguments) {
  try {
    enter_program(program, std::move(arguments));
    return run(function().code.data());
  } catch (Stop& stop) {
    tell_calls(stop.error, open_calls());
    return std::move(stop.error);
  }
}

void Machine::enter_program(const std::shared_ptr<const Program>& program, std::vector<Value> arguments) {
  const Function& entry = *program->functions.front();
  const Origin origin = entry.origins.front();
  if (arguments.size() != entry.parameters)
    throw Stop{{.message = "internal: the program is given too few or too many arguments", .origin = origin}};
  frames_.push_back({.function = &entry,
                     .link = link_of(program),
                     .base = 0,
                     .dim_base = 0,
                     .return_to = nullptr,
                     .result = kNoRegister,
                     .origin = nullptr,
                     .closure = {},
                     .placement = nullptr,
                     .block = nullptr});
  reserve(entry.registers, entry.dim_of_slot.size());
  for (Register r = 0; r < arguments.size(); ++r) put(r, std::move(arguments[r]));
  std::fill_n(slots_, entry.dim_of_slot.size(), kUnbound);
  std::string wrong = vm::bind(entry.bind, registers_, slots_);
  if (!wrong.empty()) throw Stop{{.message = std::move(wrong), .origin = origin, .kind = FailureKind::Dims}};
}

Value Machine::run(const Instruction* pc) {
  while (true) {
    const Instruction& in = *pc;
    switch (in.opcode) {
      case Opcode::Move: put(in.result, take(in.a)); break;
      case Opcode::Const: put(in.result, function().constants[in.a]); break;
      case Opcode::DimValue: dim_value(pc); break;
      case Opcode::Scalar:
        if (options_.checks_nan) {
          checked_scalar(pc);
          break;
        }
        scalar_functions[in.function](
            registers_[in.a], in.flag ? function().constants[in.b] : registers_[in.b], registers_[in.result]);
        break;
      case Opcode::Cast: pc = cast(pc); continue;
      case Opcode::Element: pc = element(pc); continue;
      case Opcode::Jump: pc = function().code.data() + in.a; continue;
      case Opcode::JumpUnless:
        if (registers_[in.a].scalar().bits) break;
        pc = function().code.data() + in.b;
        continue;
      case Opcode::Switch: pc = switch_to_arm(pc); continue;
      case Opcode::Unmatched: unmatched(pc);
      case Opcode::Kernel: kernel(pc); break;
      case Opcode::View: view(pc); break;
      case Opcode::Tuple: tuple(pc); break;
      case Opcode::Construct: construct(pc); break;
      case Opcode::Field: field(pc); break;
      case Opcode::Ref: ref(pc); break;
      case Opcode::RefRead: ref_read(pc); break;
      case Opcode::RefWrite: ref_write(pc); break;
      case Opcode::Closure: closure(pc); break;
      case Opcode::Capture: capture(pc); break;
      case Opcode::Self: put(in.result, frames_.back().closure); break;
      case Opcode::Global: global(pc); break;
      case Opcode::Invoke: pc = invoke(pc); continue;
      case Opcode::TailInvoke: pc = tail_invoke(pc); continue;
      case Opcode::Return: {
        Value result = take(in.a);
        pc = leave(result);
        if (!pc) return result;
        continue;
      }
      case Opcode::Intrinsic: intrinsic(pc); break;
      case Opcode::Extern: extern_kernel(pc); break;
      case Opcode::Bind: bind(pc); break;
      case Opcode::CheckDims: check_dims(pc); break;
      case Opcode::Drop: registers_[in.a] = Value(); break;
      case Opcode::Fail: fail(pc, function().texts[in.a]);
    }
    ++pc;
  }
}

// --- calls -------------------------------------------------------------------------------------------------

const Instruction* Machine::invoke(const Instruction* pc) {
  const CallSite& site = function().site<CallSite>(*pc);
  const Callee target = callee(pc, site);
  if (frames_.size() > kMaxDepth) fail(pc, "the recursion is too deep", FailureKind::TooDeep);
  prepare(pc, site, target);
  const Frame& caller = frames_.back();
  Frame frame{.function = target.function,
              .link = target.link,
              .base = caller.base + caller.function->registers,
              .dim_base = caller.dim_base + caller.function->dim_of_slot.size(),
              .return_to = pc + 1,
              .result = pc->result,
              .origin = &origin(pc),
              .closure = {},
              .placement = nullptr,
              .block = nullptr};
  if (site.callee == CalleeKind::Self) frame.closure = caller.closure;
  if (site.callee == CalleeKind::Closure) frame.closure = take(site.operands.back());
  registers_ = stack_.get() + frame.base;
  slots_ = dim_stack_.data() + frame.dim_base;
  frames_.back().block = nullptr;
  frames_.push_back(std::move(frame));
  return target.function->code.data();
}

const Instruction* Machine::tail_invoke(const Instruction* pc) {
  const CallSite& site = function().site<CallSite>(*pc);
  const Callee target = callee(pc, site);
  move_arguments(pc, site, target);
  Frame& frame = frames_.back();
  note_tail_call(&origin(pc));
  if (frame.function != target.function) frame.block = nullptr;
  if (frame.function != target.function || !target.function->dim_of_slot.empty()) frame.placement = nullptr;
  frame.function = target.function;
  frame.link = target.link;
  return target.function->code.data();
}

/// Moves a tail call's arguments to the first registers, and the callee to its place in the frame.
void Machine::move_arguments(const Instruction* pc, const CallSite& site, const Callee& target) {
  const Function& calling = function();
  const bool no_dims = target.function->dim_of_slot.empty() && target.function->bind.empty();
  const bool in_place = site.in_place && no_dims;
  if (in_place) {
    reserve(target.function->registers, 0);
    for (Register r = 0; r < site.arguments; ++r)
      if ((site.operands[r] & ~kLastUse) != r) put(r, take(site.operands[r]));
  } else {
    prepare(pc, site, target);
  }
  if (site.callee == CalleeKind::Closure) frames_.back().closure = take(site.operands.back());
  if (site.callee == CalleeKind::Global) frames_.back().closure = Value();
  if (in_place) return;
  for (Register r = 0; r < calling.registers; ++r) assert(!registers_[r].object());
  Value* arguments = registers_ + calling.registers;
  for (Register r = 0; r < site.arguments; ++r) put(r, std::move(arguments[r]));
  std::copy_n(slots_ + calling.dim_of_slot.size(), target.function->dim_of_slot.size(), slots_);
}

Machine::Callee Machine::callee(const Instruction* pc, const CallSite& site) {
  check_interrupt(pc);
  Callee target{frames_.back().link, frames_.back().function};
  if (site.callee == CalleeKind::Global) {
    target.link = link_of_global(pc, site.global);
    target.function = target.link->program->functions.front().get();
  } else if (site.callee == CalleeKind::Closure) {
    const Closure* closure = closure_of(site);
    if (!closure) fail(pc, "internal: what is called is no function of the machine");
    target.link = link_of(closure->program);
    target.function = closure->program->functions[closure->function].get();
  }
  if (target.function->parameters != site.arguments)
    fail(pc, "internal: the call has too few or too many arguments");
  return target;
}

const Closure* Machine::closure_of(const CallSite& site) const {
  switch (site.callee) {
    case CalleeKind::Global: return nullptr;
    case CalleeKind::Closure: return dynamic_cast<const Closure*>(peek(site.operands.back()).object());
    case CalleeKind::Self: break;
  }
  return static_cast<const Closure*>(frames_.back().closure.object());
}

/// Places the arguments in the first registers of a new frame above this one, and binds its dims.
void Machine::prepare(const Instruction* pc, const CallSite& site, const Callee& target) {
  const Function& calling = function();
  const size_t slot_count = target.function->dim_of_slot.size();
  reserve(calling.registers + target.function->registers, calling.dim_of_slot.size() + slot_count);
  Value* arguments = registers_ + calling.registers;
  for (uint32_t i = 0; i < site.arguments; ++i) std::construct_at(arguments + i, take(site.operands[i]));
  if (slot_count == 0 && target.function->bind.empty()) return;
  int64_t* slots = slots_ + calling.dim_of_slot.size();
  std::fill_n(slots, slot_count, kUnbound);
  give_dims(site, *target.function, slots);
  std::string wrong = vm::bind(target.function->bind, arguments, slots);
  if (!wrong.empty()) fail(pc, std::move(wrong), FailureKind::Dims);
}

void Machine::give_dims(const CallSite& site, const Function& callee, int64_t* slots) {
  if (callee.given_slots.empty()) return;
  const Closure* closure = closure_of(site);
  for (size_t i = 0; i < callee.given_slots.size(); ++i) {
    int64_t& slot = slots[callee.given_slots[i]];
    if (closure)
      slot = closure->dims[i];
    else if (size_t use = callee.use_dims[i]; use < site.dims.size())
      slot = evaluate(site.dims[use], slots_).value_or(kUnbound);
  }
}

const Instruction* Machine::leave(Value& result) {
  const Frame& frame = frames_.back();
  for (Register r = 0; r < frame.function->registers; ++r) assert(!registers_[r].object());
  if (frames_.size() == 1) return nullptr;
  const Instruction* pc = frame.return_to;
  const Register target = frame.result;
  while (!tail_calls_.empty() && tail_calls_.back().depth == frames_.size()) tail_calls_.pop_back();
  frames_.pop_back();
  registers_ = stack_.get() + frames_.back().base;
  slots_ = dim_stack_.data() + frames_.back().dim_base;
  put(target, std::move(result));
  return pc;
}

/// Makes room for this many registers and slots from the start of the running frame.
void Machine::reserve(size_t registers, size_t slots) {
  const Frame& frame = frames_.back();
  if (frame.base + registers > stack_size_) {
    const size_t size = std::max(2 * stack_size_, frame.base + registers + 16);
    auto larger = std::make_unique<Value[]>(size);
    std::move(stack_.get(), stack_.get() + stack_size_, larger.get());
    stack_ = std::move(larger);
    stack_size_ = size;
  }
  if (frame.dim_base + slots > dim_stack_.size())
    dim_stack_.resize(std::max(2 * dim_stack_.size(), frame.dim_base + slots));
  registers_ = stack_.get() + frame.base;
  slots_ = dim_stack_.data() + frame.dim_base;
}

// --- programs ----------------------------------------------------------------------------------------------

Link* Machine::link_of(const std::shared_ptr<const Program>& program) {
  if (!frames_.empty() && frames_.back().link->program == program) return frames_.back().link;
  std::unique_ptr<Link>& link = links_[program.get()];
  if (!link) link = std::make_unique<Link>(Link{program, std::vector<Link*>(program->globals.size())});
  return link.get();
}

/// Each name is resolved once per execution, so that a definition does not change during it.
Link* Machine::link_of_global(const Instruction* pc, uint32_t global) {
  Link*& known = frames_.back().link->globals[global];
  if (known) return known;
  const GlobalName& name = frames_.back().link->program->globals[global];
  Link*& named = named_[name];
  if (!named) {
    std::shared_ptr<const Program> program = programs_.program(name);
    check_interrupt(pc);
    if (!program) fail(pc, fmt::format("the definition of @{} has errors", name.name));
    named = link_of(program);
  }
  return known = named;
}

// --- failures ----------------------------------------------------------------------------------------------

void Machine::check_interrupt(const Instruction* pc) const {
  if (is_interrupted()) fail(pc, kInterrupted);
}

void Machine::fail(const Instruction* pc, std::string message, FailureKind kind) const {
  throw Stop{{.message = std::move(message), .origin = origin(pc), .kind = kind}};
}

/// Like `take_frame` of ir/interpret/evaluation.h, for the running frame.
void Machine::note_tail_call(const Origin* call) {
  const size_t depth = frames_.size();
  if (!tail_calls_.empty() && tail_calls_.back().depth == depth && tail_calls_.back().call == call) return;
  const size_t count = tail_calls_.size();
  if (count >= kMaxTailCalls && tail_calls_[count - kMaxTailCalls].depth == depth)
    tail_calls_.erase(tail_calls_.end() - kMaxTailCalls);
  tail_calls_.push_back({depth, call});
}

std::vector<OpenCall> Machine::open_calls() const {
  std::vector<OpenCall> open;
  for (const Frame& frame : frames_) open.push_back({frame.origin ? *frame.origin : Origin{}, {}});
  for (auto call = tail_calls_.rbegin(); call != tail_calls_.rend(); ++call)
    open[call->depth - 1].tail.push_back(*call->call);
  return open;
}

}  // namespace vm

EvaluationResult execute(const std::shared_ptr<const Program>& program, std::vector<Value> arguments,
                         ProgramSource& programs, KernelSource& kernels, Host& host) {
  return vm::Machine(programs, kernels, host).execute(program, std::move(arguments));
}

}  // namespace quern
