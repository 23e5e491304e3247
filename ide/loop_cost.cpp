#include "ide/loop_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "ide/footprint.h"
#include "ide/kernel_cost.h"
#include "ir/expr/expr.h"
#include "jit/loops/walk.h"

namespace quern::loops {

namespace {

Dim sum(Dim a, Dim b) { return a && b ? dim_add(a, b) : nullptr; }

// --- arithmetic

Dim operations_of(const Value& value);

Dim operations_inside(const Value& value) {
  Dim count = dim_const(0);
  for_each_child(value, [&](const Value& child) { count = dim_add(count, operations_of(child)); });
  return count;
}

Dim operations_of(const Value& value) {
  return visit(value, overloaded{
                          [&](const ApplyValue& v) {
                            const bool counts = !v.args.empty() && v.args.front()->dtype.is_float();
                            return dim_add(operations_inside(v), dim_const(counts));
                          },
                          [&](const SelectValue& v) {
                            return dim_add(operations_of(*v.condition),
                                           dim_max(operations_of(*v.then_arm), operations_of(*v.else_arm)));
                          },
                          // The products, and their sum.
                          [&](const DotValue& v) {
                            const int64_t terms = v.dot->is_of_matrices() ? v.terms : v.dot->group;
                            return dim_const(v.dtype.is_float() ? 2 * terms - 1 : 0);
                          },
                          [&](const auto& v) { return operations_inside(v); },
                      });
}

/// The operations of a statement without its body.
Dim operations_of(const Stmt& stmt) {
  Dim count = dim_const(0);
  for_each_child(stmt, [&](const Value& child) { count = dim_add(count, operations_of(child)); });
  const auto counts = [](const ValuePtr& value) { return dim_const(value->dtype.is_float()); };
  if (auto* reduce = as<Reduce>(stmt)) return dim_add(count, counts(reduce->value));
  auto* update = as<Update>(stmt);
  return update && update->op ? dim_add(count, counts(update->value)) : count;
}

// --- memory

/// A load or a store, in loops.
struct Access {
  int buffer;
  ide::OffsetSet at;
};

/// A load of a group of neighbours, in a loop over them.
void add_group(int64_t count, Dim stride, ide::OffsetSet& at) {
  const Dim var = dim_var("term");
  at.offset = at.offset ? dim_add(at.offset, dim_mul(stride, var)) : nullptr;
  at.loops.push_back({var, dim_const(count)});
}

class Accesses {
 public:
  std::vector<Access> all;

  void add(const Stmt& stmt) {
    for_each_child(stmt, [this](const Value& child) { add(child); });
    if (auto* store = as<Store>(stmt)) all.push_back({store->buffer, {store->offset}});
    if (auto* update = as<Update>(stmt))
      all.push_back({update->buffer, {update->computed.empty() ? update->offset : nullptr}});
  }

 private:
  void add(const Value& value) {
    if (auto* dot = as<DotValue>(value)) return add(*dot);
    if (auto* load = as<LoadValue>(value)) all.push_back(access_of(*load));
    for_each_child(value, [this](const Value& child) { add(child); });
  }
  void add(const DotValue& dot) {
    const int64_t group = dot.dot->group;
    Access a = access_of(*dot.a), b = access_of(*dot.b);
    add_group(dot.dot->is_of_matrices() ? dot.terms : group, dim_const(1), a.at);
    add_group(group, dim_const(1), b.at);
    if (dot.dot->is_of_matrices()) add_group(dot.terms / group, dot.stride, b.at);
    all.push_back(std::move(a));
    all.push_back(std::move(b));
  }
  static Access access_of(const LoadValue& load) {
    const bool is_conditional =
        std::ranges::any_of(load.checks, [](const BoundsCheck& c) { return !c.is_guard; });
    return {load.buffer, {load.computed.empty() ? load.offset : nullptr, {}, is_conditional}};
  }
};

// --- loops

class Analysis {
 public:
  explicit Analysis(const Kernel& kernel) : kernel_(kernel) {}

  std::vector<LoopCost> run() {
    Facts facts;
    for (Dim dim : kernel_.dims) facts.add_lower(dim, 1);
    found_.emplace_back();
    const Nest body = of(kernel_.body, facts);
    found_.front() = cost_of(nullptr, body, facts);
    return std::move(found_);
  }

 private:
  struct Nest {
    Dim operations = dim_const(0);
    std::vector<Access> accesses{};
  };

  Nest of(const Block& block, const Facts& facts) {
    Nest all;
    for (const StmtPtr& stmt : block) {
      Nest one = of(*stmt, facts);
      all.operations = sum(all.operations, one.operations);
      std::ranges::move(one.accesses, std::back_inserter(all.accesses));
    }
    return all;
  }

  Nest of(const Stmt& stmt, const Facts& facts) {
    if (auto* loop = as<For>(stmt)) return of(*loop, facts);
    Accesses own;
    own.add(stmt);
    Nest nest{operations_of(stmt), std::move(own.all)};
    auto* condition = as<If>(stmt);
    if (!condition) return nest;
    Nest inside = of(condition->body, facts);
    nest.operations = sum(nest.operations, inside.operations);
    std::ranges::move(inside.accesses, std::back_inserter(nest.accesses));
    return nest;
  }

  Nest of(const For& loop, const Facts& facts) {
    const size_t at = found_.size();
    found_.emplace_back();
    Facts inside = facts;
    inside.add_index(loop.var, loop.extent);
    Nest nest = of(loop.body, inside);
    const ide::LoopRange range{loop.var, loop.extent};
    nest.operations = nest.operations ? ide::sum_over(range, nest.operations) : nullptr;
    for (Access& access : nest.accesses) access.at.loops.push_back(range);
    found_[at] = cost_of(&loop, nest, facts);
    return nest;
  }

  LoopCost cost_of(const For* loop, const Nest& nest, const Facts& facts) const {
    std::map<int, std::vector<ide::OffsetSet>> by_buffer;
    for (const Access& access : nest.accesses) by_buffer[access.buffer].push_back(access.at);
    LoopCost cost{loop, nest.operations, dim_const(0), true};
    for (const auto& [number, sets] : by_buffer) {
      const Buffer& buffer = kernel_.buffers[static_cast<size_t>(number)];
      const ide::ElementCount count = ide::elements_reached(sets, dim_product(buffer.shape), facts);
      cost.is_exact = cost.is_exact && count.is_exact;
      const Dim element = dim_const(static_cast<int64_t>(buffer.dtype.bytes()));
      cost.bytes = dim_add(cost.bytes, dim_mul(count.number, element));
    }
    return cost;
  }

  const Kernel& kernel_;
  std::vector<LoopCost> found_;
};

// --- text

/// Whether a formula is short, and names no loop: loops may have other names in the text.
bool is_readable(Dim dim, const Kernel& kernel) {
  constexpr size_t kLongest = 40;
  bool names_loop = false;
  for_each_var(dim, [&](Dim var) {
    names_loop = names_loop || std::ranges::find(kernel.dims, var) == kernel.dims.end();
  });
  return !names_loop && to_string(dim).size() <= kLongest;
}

std::string counted(int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

/// "100 steps in 7 vectors"
std::string steps_of(const For& loop) {
  const auto steps = as_const(loop.extent);
  if (!steps) return to_string(loop.extent) + " steps";
  const Vectorized* vectors = loop.vectorized();
  if (!vectors || vectors->width == 1) return counted(*steps, "step");
  return counted(*steps, "step") + " in " + counted((*steps + vectors->width - 1) / vectors->width, "vector");
}

/// "  // 100 steps in 7 vectors, 200 FLOP, 800 bytes", without amounts of 0.
std::string comment(const LoopCost& cost, const Kernel& kernel) {
  std::vector<std::string> parts;
  const auto is_said = [&](Dim dim) { return dim && !is_const(dim, 0) && is_readable(dim, kernel); };
  if (cost.loop && is_readable(cost.loop->extent, kernel)) parts.push_back(steps_of(*cost.loop));
  if (is_said(cost.operations)) parts.push_back(flops_text(cost.operations));
  if (is_said(cost.bytes)) parts.push_back((cost.is_exact ? "" : "up to ") + bytes_text(cost.bytes));
  return parts.empty() ? "" : fmt::format("  // {}", fmt::join(parts, ", "));
}

}  // namespace

std::vector<LoopCost> loop_costs(const Kernel& kernel) { return Analysis(kernel).run(); }

std::string print_with_costs(const Kernel& kernel) {
  const std::vector<LoopCost> costs = loop_costs(kernel);
  auto cost = costs.begin();
  std::string out;
  const std::string text = print_kernel(kernel);
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    const std::string_view words = line.substr(std::min(line.find_first_not_of(' '), line.size()));
    out += line;
    if (words.starts_with("kernel(") || words.starts_with("for ")) out += comment(*cost++, kernel);
    out += '\n';
    begin = end + 1;
  }
  return out;
}

}  // namespace quern::loops
