#include "jit/schedule/verify_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "jit/schedule/lower.h"

namespace quern::loops {

namespace {

class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  std::string run() {
    block(kernel_.body);
    return std::move(wrong_);
  }

 private:
  void block(const Block& statements) {
    for (const StmtPtr& s : statements)
      if (wrong_.empty()) statement(*s);
  }

  void statement(const Stmt& s) {
    const Facts outer = facts_;
    if (s.kind == StmtKind::For && is_const(s.extent, 0)) return;
    if (s.kind == StmtKind::For) {
      indices_.insert(s.var);
      facts_.add_index(s.var, s.extent);
    }
    if (s.kind == StmtKind::If) assume(s.checks);
    block(s.body);
    facts_ = outer;
    values(s.value);
    values(s.index_value);
    for (const BoundsCheck& check : s.checks) values(check.computed);
    for (const ComputedOffset& part : s.computed) values(part.index);
    if (s.kind == StmtKind::Store || s.kind == StmtKind::Update)
      access(s.buffer, s.offset, s.computed, s.checks,
             s.kind == StmtKind::Store ? "a store to" : "an update of");
  }

  void values(const ValuePtr& value) {
    for_each_value(value, [this](const Value& v) {
      if (v.kind == ValueKind::Dot)
        for (const ValuePtr& arg : v.args) in_dots_.insert(arg.get());
    });
    for_each_value(value, [this](const Value& v) {
      if (v.kind == ValueKind::Load && !in_dots_.contains(&v))
        access(v.buffer, v.dim, v.computed, v.checks, "a read of");
    });
  }

  void access(int buffer, Dim offset, const std::vector<ComputedOffset>& computed,
              const std::vector<BoundsCheck>& checks, std::string_view what) {
    if (!wrong_.empty()) return;
    const Buffer& accessed = kernel_.buffers.at(static_cast<size_t>(buffer));
    const Dim size = dim_product(accessed.shape);
    if (!computed.empty() || !as_const(size) || !is_known(offset)) return;
    const Facts outer = facts_;
    assume(checks);
    const bool is_inside = prove_nonnegative(offset, facts_) && prove_less(offset, size, facts_);
    const bool is_reached = !is_inside && !prove_impossible({}, {}, facts_);
    facts_ = outer;
    if (is_reached)
      wrong_ = fmt::format("{} {} may be outside of it, at {}", what, accessed.name, to_string(offset));
  }

  /// Guards count: where one fails nothing is read.
  void assume(const std::vector<BoundsCheck>& checks) {
    for (const BoundsCheck& check : checks) {
      if (check.computed) continue;
      facts_.add_nonnegative(check.index);
      facts_.add_nonnegative(dim_sub(dim_sub(check.extent, check.index), dim_const(1)));
    }
  }

  /// Over loops alone, whose extents are known.
  bool is_known(Dim d) const {
    bool known = true;
    for_each_var(d, [&](Dim var) {
      const Dim* extent = indices_.contains(var) ? facts_.extent_of(var) : nullptr;
      known = known && extent && is_known(*extent);
    });
    return known;
  }

  const Kernel& kernel_;
  Facts facts_;
  std::unordered_set<Dim> indices_;
  std::unordered_set<const Value*> in_dots_;
  std::string wrong_;
};

}  // namespace

std::string outside_access(const Kernel& kernel) { return Verifier(kernel).run(); }

}  // namespace quern::loops
