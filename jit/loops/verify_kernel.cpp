#include "jit/loops/verify_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

#include "jit/loops/walk.h"

namespace quern::loops {

namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel)
      : kernel_(kernel),
        dims_(kernel.dims.begin(), kernel.dims.end()),
        ranks_(static_cast<size_t>(kernel.locals), kNone) {}

  std::string run() {
    std::set<std::string> names;
    for (const Buffer& buffer : kernel_.buffers) {
      require(names.insert(buffer.name).second,
              [&] { return fmt::format("two buffers are called {}", buffer.name); });
      for (Dim extent : buffer.shape) over_scope(extent, "an extent of a buffer");
    }
    block(kernel_.body);
    return std::move(wrong_);
  }

 private:
  static constexpr int kNone = -1;

  template <class Text>
  void require(bool holds, const Text& text) {
    if (holds || !wrong_.empty()) return;
    if constexpr (std::is_invocable_v<Text>)
      wrong_ = text();
    else
      wrong_ = text;
  }

  void over_scope(Dim dim, std::string_view what) {
    if (!dim) return;
    for_each_var(dim, [&](Dim var) {
      require(dims_.contains(var),
              [&] { return fmt::format("{} is over {}, which no loop around binds", what, to_string(var)); });
    });
  }

  // --- statements

  void block(const Block& statements) {
    // A following part may declare the same locals again.
    const std::vector<int> around = ranks_;
    for (const StmtPtr& s : statements) {
      if (!wrong_.empty()) return;
      statement(*s);
    }
    ranks_ = around;
  }

  void statement(const Stmt& s) {
    visit(s, [this](const auto& node) {
      parts(node);
      own(node);
    });
  }

  void own(const For& s) {
    over_scope(s.extent, "an extent");
    if (s.serial()) over_scope(s.serial()->before, "a part of the range");
    require(s.var && s.var->kind == DimKind::Var, "a loop has no variable");
    require(width_of(s.execution) >= 1 || is_const(s.extent, 0), "a loop has a width below 1");
    require(s.extent && as_const(s.extent).value_or(0) >= 0, "a loop has a negative extent");
    if (!wrong_.empty()) return;
    require(dims_.insert(s.var).second,
            [&] { return fmt::format("two loops around each other are over {}", to_string(s.var)); });
    block(s.body);
    dims_.erase(s.var);
  }
  static int width_of(const Execution& execution) {
    if (auto* lanes = std::get_if<Vectorized>(&execution)) return lanes->width;
    if (auto* steps = std::get_if<Unrolled>(&execution)) return steps->width;
    return 1;
  }
  void own(const If& s) { block(s.body); }
  void own(const IfApart& s) {
    is_buffer(s.from);
    is_buffer(s.to);
    block(s.body);
  }
  void own(const Declare& s) {
    require(s.local >= 0 && s.local < kernel_.locals, "a local that the kernel does not count");
    if (!wrong_.empty()) return;
    require(std::ranges::all_of(s.shape, [](int64_t extent) { return extent > 0; }), "a tile without places");
    rank_of(s.local) = static_cast<int>(s.shape.size());
  }
  void own(const Assign& s) { use(s.local, &s.indices); }
  void own(const Settle& s) { use(s.local, nullptr); }
  void own(const Transpose& s) { use(s.local, nullptr); }
  void own(const Reduce& s) {
    use(s.local, &s.indices);
    require(is_arg(s.reduce) == (s.index_local >= 0), "a reduction of positions has a local for them");
    if (s.index_local >= 0) use(s.index_local, nullptr);
  }
  void own(const Store& s) { write(s.buffer, s.offset, s.value); }
  void own(const Prefetch& s) {
    over_scope(s.offset, "an offset");
    is_buffer(s.buffer);
  }
  void own(const Update& s) {
    if (!s.checks.empty()) trap(s.trap);
    write(s.buffer, s.offset, s.value);
  }

  /// `indices`: for a place of a tile.
  void use(int local, const std::vector<Dim>* indices) {
    require(local >= 0 && local < kernel_.locals, "a local that the kernel does not count");
    if (!wrong_.empty()) return;
    require(rank_of(local) != kNone,
            [&] { return fmt::format("the local {} is used where it is not declared", local); });
    if (!indices) return;
    require(static_cast<int>(indices->size()) == rank_of(local),
            [&] { return fmt::format("the tile {} has another number of axes", local); });
    for (Dim index : *indices) over_scope(index, "an index of a tile");
  }

  void write(int number, Dim offset, const ValuePtr& value) {
    over_scope(offset, "an offset");
    if (!is_buffer(number)) return;
    const Buffer& buffer = buffer_of(number);
    require(buffer.is_output || buffer.is_scratch,
            [&] { return fmt::format("{} is an input, and is written", buffer.name); });
    require(value && value->dtype == buffer.dtype,
            [&] { return fmt::format("what is written to {} is of another dtype", buffer.name); });
  }

  // --- values

  void value(const Value& v) {
    if (!wrong_.empty()) return;
    visit(v, [this](const auto& node) {
      parts(node);
      own(node);
    });
  }

  /// Checks the fields of a node.
  template <class Node>
  void parts(const Node& node) {
    for_each_child(node, [this](const Value& child) { value(child); });
    for_each_field(Parts{*this}, node);
  }
  struct Parts {
    Verifier& verifier;

    void operator()(role::Checks, const std::vector<BoundsCheck>& checks) const {
      for (const BoundsCheck& c : checks) verifier.check(c);
    }
    void operator()(role::Offsets, const std::vector<ComputedOffset>& offsets) const {
      for (const ComputedOffset& c : offsets) verifier.over_scope(c.stride, "a stride");
    }
    template <class Role, class T>
    void operator()(Role, const T&) const {}
  };

  void own(const ConstValue&) {}
  void own(const IndexValue& v) { over_scope(v.dim, "an index"); }
  void own(const LoadValue& v) {
    over_scope(v.offset, "an offset");
    if (!is_buffer(v.buffer)) return;
    const Buffer& buffer = buffer_of(v.buffer);
    require(v.dtype == buffer.dtype,
            [&] { return fmt::format("a load of {} is of another dtype", buffer.name); });
    require(v.indices.empty() || v.indices.size() == buffer.shape.size(),
            [&] { return fmt::format("a load of {} has another number of indices", buffer.name); });
    if (!v.checks.empty() && !v.otherwise && !v.unseen) trap(v.trap);
  }
  void own(const ApplyValue& v) {
    require(v.args.size() == static_cast<size_t>(info(v.op).arity),
            [&] { return fmt::format("{} has {} operands", info(v.op).name, v.args.size()); });
  }
  void own(const CastValue& v) { require(v.value != nullptr, "a cast of nothing"); }
  void own(const SelectValue& v) {
    require(v.condition && v.then_arm && v.else_arm, "a select without a condition or an arm");
  }
  void own(const LocalValue& v) { use(v.local, &v.indices); }
  void own(const DotValue& v) {
    require(v.a && v.b, "a product without a factor");
    over_scope(v.stride, "a stride");
  }

  void check(const BoundsCheck& c) {
    require(c.index || c.computed, "a check of nothing");
    over_scope(c.index, "a check");
    over_scope(c.extent, "the extent of a check");
    over_scope(c.stride, "the stride of a check");
  }
  void trap(int number) {
    require(number > 0 && (static_cast<size_t>(number) <= kernel_.traps.size() || number >= kNoMemory),
            [&] { return fmt::format("the trap {} has no text", number); });
  }

  bool is_buffer(int buffer) {
    const bool known = buffer >= 0 && static_cast<size_t>(buffer) < kernel_.buffers.size();
    require(known, "a buffer that there is not");
    return known;
  }
  const Buffer& buffer_of(int buffer) const { return kernel_.buffers[static_cast<size_t>(buffer)]; }
  int& rank_of(int local) { return ranks_[static_cast<size_t>(local)]; }

  const Kernel& kernel_;
  std::unordered_set<Dim> dims_;  ///< the kernel's, and those of enclosing loops
  std::vector<int> ranks_;        ///< of the declared locals
  std::string wrong_;
};

}  // namespace

std::string verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace quern::loops
