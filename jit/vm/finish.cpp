// From a draft to a function: last uses, drops, registers, labels.

#include <algorithm>
#include <memory>
#include <unordered_set>
#include <utility>
#include <vector>

#include "jit/vm/bytecode.h"

namespace quern::vm {

namespace {

class Finisher {
 public:
  explicit Finisher(Draft& draft)
      : draft_(draft),
        function_(draft.function),
        size_(function_.code.size()),
        live_(draft.boxed.size(), false),
        label_live_(draft.labels.size()),
        labels_at_(size_ + 1),
        drops_before_(size_ + 1),
        removed_(size_, false),
        end_(draft.boxed.size(), 0) {}

  void run() {
    for (size_t label = 0; label < draft_.labels.size(); ++label)
      labels_at_[draft_.labels[label]].push_back(label);
    find_last_uses();
    number_registers();
    lay_out();
  }

 private:
  bool is_branch(const Instruction& in) const {
    return in.opcode == Opcode::JumpUnless || (in.opcode == Opcode::Element && in.flag);
  }

  /// Backward liveness analysis over the set of live registers.
  void find_last_uses() {
    for (size_t at = size_; at-- > 0;) {
      for (size_t label : labels_at_[at + 1]) label_live_[label] = live_;
      visit(at);
    }
    for (Register param = 0; param < function_.parameters; ++param)
      if (draft_.boxed[param] && !live_[param]) drop_before(0, param);
  }

  void visit(size_t at) {
    Instruction& in = function_.code[at];
    if (in.opcode == Opcode::Jump) live_ = label_live_[in.a];
    if (in.opcode == Opcode::Return || in.opcode == Opcode::TailInvoke || in.opcode == Opcode::Fail ||
        in.opcode == Opcode::Unmatched)
      live_.assign(live_.size(), false);
    if (in.opcode == Opcode::Switch) join(switch_labels(in));
    if (is_branch(in)) join(at, in.b);
    if (is_unused(in)) {
      removed_[at] = true;
      return;
    }
    if (in.result != kNoRegister) {
      if (draft_.boxed[in.result] && !live_[in.result]) drop_before(at + 1, in.result);
      live_[in.result] = false;
      end_[in.result] = std::max(end_[in.result], at);
    }
    std::vector<Register*> operands;
    for_each_operand(function_, in, [&](Register& operand) { operands.push_back(&operand); });
    for (auto operand = operands.rbegin(); operand != operands.rend(); ++operand) use(at, **operand);
  }

  /// An unused effect-free scalar, such as a constant that became an operand.
  bool is_unused(const Instruction& in) const {
    const bool pure = in.opcode == Opcode::Const || in.opcode == Opcode::Move ||
                      in.opcode == Opcode::Scalar || in.opcode == Opcode::Cast;
    return pure && !draft_.boxed[in.result] && !live_[in.result];
  }

  /// Drops values live on only one side of a branch at the start of the other.
  void join(size_t at, size_t label) {
    const std::vector<bool> next = live_, target = label_live_[label];
    for (Register r = 0; r < live_.size(); ++r) {
      if (next[r] == target[r]) continue;
      live_[r] = true;
      if (draft_.boxed[r]) drop_before(next[r] ? draft_.labels[label] : at + 1, r);
    }
  }

  /// The same for a switch, which never falls through and whose labels are its own.
  void join(const std::vector<uint32_t>& labels) {
    live_.assign(live_.size(), false);
    for (uint32_t label : labels)
      for (Register r = 0; r < live_.size(); ++r) live_[r] = live_[r] || label_live_[label][r];
    std::unordered_set<uint32_t> done;
    for (uint32_t label : labels) {
      if (!done.insert(label).second) continue;
      for (Register r = 0; r < live_.size(); ++r)
        if (live_[r] && !label_live_[label][r] && draft_.boxed[r]) drop_before(draft_.labels[label], r);
    }
  }

  std::vector<uint32_t>& switch_labels(const Instruction& in) {
    return static_cast<SwitchSite&>(*function_.sites[in.a]).labels;
  }

  void drop_before(size_t at, Register r) {
    drops_before_[at].push_back(r);
    end_[r] = std::max(end_[r], at == 0 ? 0 : at - 1);
  }

  void use(size_t at, Register& operand) {
    const Register r = operand;
    if (!live_[r] && draft_.boxed[r]) operand |= kLastUse;
    live_[r] = true;
    end_[r] = std::max(end_[r], at);
  }

  /// Linear scan register allocation: a register is free after the last use of its value, even for that
  /// instruction's result.
  void number_registers() {
    number_.assign(draft_.boxed.size(), kNoRegister);
    std::vector<std::vector<Register>> ends(size_ + 1);
    for (Register r = 0; r < number_.size(); ++r) ends[end_[r]].push_back(r);
    for (Register param = 0; param < function_.parameters; ++param) number_[param] = param;
    count_ = function_.parameters;
    for (size_t at = 0; at < size_; ++at) {
      const Register result = removed_[at] ? kNoRegister : function_.code[at].result;
      for (Register r : ends[at])
        if (r != result) release(r);
      if (result != kNoRegister && number_[result] == kNoRegister) number_[result] = take();
      if (result != kNoRegister && end_[result] == at) release(result);
    }
    for (size_t at = 0; at < size_; ++at) {
      Instruction& in = function_.code[at];
      if (removed_[at]) continue;
      if (in.result != kNoRegister) in.result = number_[in.result];
      for_each_operand(function_, in, [&](Register& r) { r = number_[r & ~kLastUse] | (r & kLastUse); });
    }
    function_.registers = count_;
    for (const Instruction& in : function_.code)
      if (in.opcode == Opcode::TailInvoke) note_order(static_cast<CallSite&>(*function_.sites[in.a]));
  }

  /// Records whether no argument move overwrites a later argument.
  static void note_order(CallSite& site) {
    site.in_place = true;
    for (size_t at = 0; at < site.operands.size(); ++at)
      if ((site.operands[at] & ~kLastUse) < std::min<size_t>(at, site.arguments)) site.in_place = false;
  }

  void release(Register r) {
    if (number_[r] != kNoRegister) free_.push_back(number_[r]);
  }

  Register take() {
    if (free_.empty()) return count_++;
    const Register r = free_.back();
    free_.pop_back();
    return r;
  }

  void lay_out() {
    std::vector<uint32_t> position(size_ + 1);
    std::vector<Instruction> code;
    std::vector<Origin> origins;
    for (size_t at = 0; at <= size_; ++at) {
      position[at] = static_cast<uint32_t>(code.size());
      for (Register r : drops_before_[at]) {
        code.push_back({.opcode = Opcode::Drop, .a = number_[r]});
        origins.push_back(function_.origins[std::min(at, size_ - 1)]);
      }
      if (at == size_) break;
      if (removed_[at]) continue;
      code.push_back(function_.code[at]);
      origins.push_back(function_.origins[at]);
    }
    for (Instruction& in : code) {
      if (in.opcode == Opcode::Jump) in.a = position[draft_.labels[in.a]];
      if (is_branch(in)) in.b = position[draft_.labels[in.b]];
      if (in.opcode == Opcode::Switch)
        for (uint32_t& label : switch_labels(in)) label = position[draft_.labels[label]];
    }
    function_.code = std::move(code);
    function_.origins = std::move(origins);
  }

  Draft& draft_;
  Function& function_;
  const size_t size_;
  std::vector<bool> live_;
  std::vector<std::vector<bool>> label_live_;
  std::vector<std::vector<size_t>> labels_at_;
  std::vector<std::vector<Register>> drops_before_;
  std::vector<bool> removed_;
  std::vector<size_t> end_;  ///< end of each value's live range
  std::vector<Register> number_;
  std::vector<Register> free_;
  Register count_ = 0;
};

}  // namespace

std::unique_ptr<Function> finish(Draft draft) {
  Finisher(draft).run();
  return std::make_unique<Function>(std::move(draft.function));
}

}  // namespace quern::vm
