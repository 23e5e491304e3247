#include "jit/rules/row_pairs.h"

#include <algorithm>

#include "jit/loops/build.h"
#include "jit/loops/walk.h"

namespace quern::loops {

namespace {

struct LocalsFrom {
  int first;
  void operator()(role::Local, int& local) const {
    if (local >= 0) local += first;
  }
  void operator()(role::NewLocal, int& local) const { local += first; }
};

bool is_short(const ValuePtr& value) {
  return !any_of(value, [](const Value& part) {
    auto* function = as<ApplyValue>(part);
    return function && takes_long(*function);
  });
}

/// Whether another row fits beside a loop of one: a sum at most, whose partial results are in registers, and nothing
/// that takes long.
bool has_room(const For& loop) {
  int sums = 0;
  for (const StmtPtr& stmt : loop.body) {
    if (auto* sum = as<Reduce>(stmt)) {
      if (is_arg(sum->reduce) || !sum->indices.empty() || !is_short(sum->value) || ++sums > 1) return false;
    } else if (auto* store = as<Store>(stmt)) {
      if (!is_short(store->value)) return false;
    } else if (auto* local = as<Declare>(stmt)) {
      if (!is_short(local->value)) return false;
    } else {
      return false;
    }
  }
  return true;
}

bool gains(const Block& statements, const std::vector<Buffer>& buffers, const MachineModel& machine) {
  constexpr int64_t kRows = 2, kTensors = 2;  // what is read and what is written
  int64_t widest = 0;
  for (const Buffer& buffer : buffers) widest = std::max<int64_t>(widest, buffer.dtype.bytes());
  int passes = 0;
  for (const StmtPtr& stmt : statements) {
    if (auto* local = as<Declare>(stmt)) {
      if (!local->shape.empty()) return false;
      continue;
    }
    auto* loop = as<For>(stmt);
    if (!loop || !loop->vectorized() || !has_room(*loop)) return false;
    const auto steps = as_const(loop->extent);
    if (!steps || kRows * kTensors * *steps * widest > machine.l1_bytes) return false;
    ++passes;
  }
  return passes > 1;
}

}  // namespace

std::optional<Block> paired_rows(const Block& statements, Dim row, Dim first, Dim second, int locals,
                                 const std::vector<Buffer>& buffers, const MachineModel& machine) {
  if (!gains(statements, buffers, machine)) return std::nullopt;
  const Block one = substitute(statements, {{row, first}}),
              other = FieldMap(LocalsFrom{locals})(substitute(statements, {{row, second}}));
  Block both;
  for (size_t k = 0; k < one.size(); ++k) {
    auto* loop = as<For>(one[k]);
    if (!loop) {
      both.insert(both.end(), {one[k], other[k]});
      continue;
    }
    For together = *loop;
    const Block& more = as<For>(other[k])->body;
    together.body.insert(together.body.end(), more.begin(), more.end());
    both.push_back(make(std::move(together)));
  }
  return both;
}

}  // namespace quern::loops
