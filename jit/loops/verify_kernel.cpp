#include "jit/loops/verify_kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_set>

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
    // A part that another one follows declares its locals anew.
    const std::vector<int> around = ranks_;
    for (const StmtPtr& s : statements) {
      if (!wrong_.empty()) return;
      statement(*s);
    }
    ranks_ = around;
  }

  void statement(const Stmt& s) {
    for (const BoundsCheck& c : s.checks) check(c);
    value(s.value);
    switch (s.kind) {
      case StmtKind::For: return loop(s);
      case StmtKind::If: return block(s.body);
      case StmtKind::Declare: return declare(s);
      case StmtKind::Assign:
      case StmtKind::Turn:
      case StmtKind::Settle: return use(s.local, s.kind == StmtKind::Assign ? &s.indices : nullptr);
      case StmtKind::Reduce:
        use(s.local, &s.indices);
        value(s.index_value);
        require(is_arg(s.reduce) == (s.index_local >= 0), "a reduction of positions has a local for them");
        if (s.index_local >= 0) use(s.index_local, nullptr);
        return;
      case StmtKind::Store: return write(s);
      case StmtKind::Update:
        if (!s.checks.empty()) trap(s.trap);
        return write(s);
    }
  }

  void loop(const Stmt& s) {
    over_scope(s.extent, "an extent");
    over_scope(s.before, "a part of the range");
    require(s.var && s.var->kind == DimKind::Var, "a loop has no variable");
    require(s.width >= 1 || is_const(s.extent, 0), "a loop has a width below 1");
    require(s.extent && as_const(s.extent).value_or(0) >= 0, "a loop has a negative extent");
    if (!wrong_.empty()) return;
    require(dims_.insert(s.var).second,
            [&] { return fmt::format("two loops around each other are over {}", to_string(s.var)); });
    block(s.body);
    dims_.erase(s.var);
  }

  void declare(const Stmt& s) {
    require(s.local >= 0 && s.local < kernel_.locals, "a local that the kernel does not count");
    if (!wrong_.empty()) return;
    require(std::ranges::all_of(s.shape, [](int64_t extent) { return extent > 0; }), "a tile without places");
    rank_of(s.local) = static_cast<int>(s.shape.size());
  }

  /// `indices`: where a place of a tile is meant.
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

  void write(const Stmt& s) {
    over_scope(s.offset, "an offset");
    for (const ComputedOffset& c : s.computed) offset(c);
    if (!is_buffer(s.buffer)) return;
    const Buffer& buffer = buffer_of(s.buffer);
    require(buffer.is_output || buffer.is_scratch,
            [&] { return fmt::format("{} is an input, and is written", buffer.name); });
    require(s.value && s.value->dtype == buffer.dtype,
            [&] { return fmt::format("what is written to {} is of another dtype", buffer.name); });
  }

  // --- values

  void value(const ValuePtr& v) {
    if (!v || !wrong_.empty()) return;
    for (const ValuePtr& arg : v->args) value(arg);
    value(v->otherwise);
    for (const BoundsCheck& c : v->checks) check(c);
    switch (v->kind) {
      case ValueKind::Const: return;
      case ValueKind::Index: return over_scope(v->dim, "an index");
      case ValueKind::Load: return load(*v);
      case ValueKind::Apply: return operands(*v, static_cast<size_t>(info(v->op).arity), info(v->op).name);
      case ValueKind::Cast: return operands(*v, 1, "a cast");
      case ValueKind::Select: return operands(*v, 3, "a select");
      case ValueKind::Local: return use(v->local, &v->indices);
      case ValueKind::Dot: return operands(*v, 2, "a product of groups");
    }
  }

  void operands(const Value& v, size_t count, std::string_view what) {
    require(v.args.size() == count, [&] { return fmt::format("{} has {} operands", what, v.args.size()); });
  }

  void load(const Value& v) {
    over_scope(v.dim, "an offset");
    for (const ComputedOffset& c : v.computed) offset(c);
    if (!is_buffer(v.buffer)) return;
    const Buffer& buffer = buffer_of(v.buffer);
    require(v.dtype == buffer.dtype,
            [&] { return fmt::format("a load of {} is of another dtype", buffer.name); });
    require(v.indices.empty() || v.indices.size() == buffer.shape.size(),
            [&] { return fmt::format("a load of {} has another number of indices", buffer.name); });
    if (!v.checks.empty() && !v.otherwise && !v.unseen) trap(v.trap);
  }

  void offset(const ComputedOffset& c) {
    value(c.index);
    over_scope(c.stride, "a stride");
  }
  void check(const BoundsCheck& c) {
    require(c.index || c.computed, "a check of nothing");
    over_scope(c.index, "a check");
    over_scope(c.extent, "the extent of a check");
    over_scope(c.stride, "the stride of a check");
    value(c.computed);
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
  std::unordered_set<Dim> dims_;  ///< the kernel's, and of the loops around
  std::vector<int> ranks_;        ///< of the locals that are declared
  std::string wrong_;
};

}  // namespace

std::string verify(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace quern::loops
