// Where a kernel polls for interrupts: in loops whose steps take some tens of microseconds, and in
// shorter-stepped loops between chunks of that length, so that inner loops are unchanged.

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "jit/codegen/emitter.h"
#include "jit/codegen/host_functions.h"
#include "jit/loops/build.h"
#include "jit/loops/walk.h"

namespace quern::codegen {

namespace {

constexpr double kCyclesBetweenPolls = 64'000;
/// The assumed extent of a loop whose extent is known only at run time.
constexpr double kUnknownExtent = 256;

/// Estimates the cycles of a body.
class Cycles {
 public:
  double of(const loops::Block& body) {
    double sum = 0;
    for (const loops::StmtPtr& s : body) sum += of(*s);
    return sum;
  }

 private:
  double of(const loops::Stmt& s) {
    double sum = 1;
    loops::for_each_operand(s, [&](const loops::Value& operand) { sum += of(operand); });
    if (auto* condition = loops::as<loops::If>(s)) return sum + of(condition->body);
    auto* loop = loops::as<loops::For>(s);
    if (!loop) return sum;
    const auto extent = as_const(loop->extent);
    const double steps = extent ? static_cast<double>(*extent) : kUnknownExtent;
    const double width = loop->vectorized() ? loop->vectorized()->width : 1;
    return sum + std::ceil(steps / width) * of(loop->body);
  }

  // A value used twice is computed once.
  double of(const loops::Value& v) {
    if (!counted_.insert(&v).second) return 0;
    auto* apply = loops::as<loops::ApplyValue>(v);
    const bool is_long = apply && loops::takes_long(*apply);
    double sum = is_long ? 20 : 1;
    loops::for_each_operand(v, [&](const loops::Value& operand) { sum += of(operand); });
    auto* load = loops::as<loops::LoadValue>(v);
    if (!load) return sum;
    for (const loops::ComputedOffset& part : load->computed) sum += of(*part.index);
    return load->otherwise ? sum + of(*load->otherwise) : sum;
  }

  std::unordered_set<const loops::Value*> counted_;
};

}  // namespace

void Emitter::poll() {
  auto* flag = module_.getOrInsertGlobal(kInterruptFlag, b_.getInt8Ty());
  llvm::LoadInst* up = b_.CreateLoad(b_.getInt8Ty(), flag);
  up->setVolatile(true);
  trap_if(b_.CreateIsNotNull(up), loops::kStopped);
}

void Emitter::polled_loop(llvm::Value* begin, llvm::Value* end, uint64_t step, Repeat repeat, double cycles,
                          const std::function<void(llvm::Value*)>& body) {
  const auto* first = llvm::dyn_cast<llvm::ConstantInt>(begin);
  const auto* last = llvm::dyn_cast<llvm::ConstantInt>(end);
  const bool is_known = first && last;
  const auto steps =
      is_known ? static_cast<double>(last->getSExtValue() - first->getSExtValue()) / static_cast<double>(step)
               : HUGE_VAL;
  const bool is_short = repeat != Repeat::Loop || steps * cycles < kCyclesBetweenPolls;
  if (machine_.is_gpu || !polls_ || is_short) return counted_loop(begin, end, step, repeat, body);
  if (cycles >= kCyclesBetweenPolls)
    return counted_loop(begin, end, step, Repeat::Loop, [&](llvm::Value* i) {
      poll();
      body(i);
    });
  const auto stretch = static_cast<uint64_t>(kCyclesBetweenPolls / std::max(1.0, cycles)) * step;
  polls_ = false;
  counted_loop(begin, end, stretch, Repeat::Loop, [&](llvm::Value* i) {
    poll();
    llvm::Value* next = b_.CreateNSWAdd(i, b_.getInt64(stretch));
    counted_loop(i, b_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, next, end), step, Repeat::Loop, body);
  });
  polls_ = true;
}

double Emitter::cycles_of(const loops::Block& body) { return Cycles().of(body); }

}  // namespace quern::codegen
