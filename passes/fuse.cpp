#include "passes/fuse.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "ir/base/interrupt.h"
#include "ir/expr/effects.h"
#include "ir/value/scalar.h"
#include "passes/fusion_class.h"
#include "passes/uses.h"

namespace quern {

namespace {

/// The size in nodes above which an index expression absorbs nothing more: by then the arithmetic outweighs
/// the saved pass over memory, and a chain of n bindings costs n times this, not n squared.
constexpr size_t kMostFusedNodes = 512;

// How a consumer reads one variable.
struct ReadSites {
  int count = 0;
  bool plain = true;  ///< every index is a dim and in bounds
  // An axis of one element has any index.
  bool identity = true;  ///< the indices are the consumer's own variables in order
  bool permuted = true;  ///< the indices are the consumer's own variables, each once
  bool once = true;      ///< the indices are distinct variables that cover all enclosing loops of the read
  bool always = true;    ///< no read is evaluated only conditionally
};

class Fuser {
 public:
  Fuser(Arena& arena, Uses& uses, EffectAnalysis& effects) : arena_(arena), uses_(uses), effects_(effects) {}

  ExprPtr run(ExprPtr expr) {
    auto* block = as<BlockExpr>(expr);
    if (!block) return map_children(arena_, expr, [&](ExprPtr child) { return run(child); });
    auto outer = std::exchange(producers_, {});
    auto outer_failing = std::exchange(failing_, {});
    auto outer_readers = std::exchange(readers_, readers_of(*block));
    std::vector<Binding> bindings;
    for (const Binding& b : block->bindings) {
      ExprPtr value = with_producers(b.value);
      bindings.push_back({b.variable, value});
      auto* comprehension = as<ComprehensionExpr>(value);
      // Code before a read of the clock must run before it.
      if (!comprehension && effects_.of(value).has(Effect::Clock)) producers_.clear();
      const bool seen = (comprehension || !failing_.empty()) && !effects_.of(value).removable();
      // Code that may fail must not move after effects that its failure would have prevented.
      if (seen)
        for (const Variable* failing : std::exchange(failing_, {})) producers_.erase(failing);
      if (!b.variable || !comprehension || comprehension->schedule) continue;
      producers_.emplace(b.variable, comprehension);
      if (seen)
        failing_.insert(b.variable);
      else if (is_cheaper_computed_again(b.variable, *comprehension))
        computed_again_.insert(b.variable);
    }
    ExprPtr result = with_producers(block->result);
    std::erase_if(bindings, [this](const Binding& b) { return b.variable && fused_.contains(b.variable); });
    producers_ = std::move(outer);
    failing_ = std::move(outer_failing);
    readers_ = std::move(outer_readers);
    return block_of(arena_, bindings, result, expr->origin);
  }

 private:
  ExprPtr with_producers(ExprPtr expr) {
    auto* consumer = as<ComprehensionExpr>(expr);
    if (!consumer) return run(expr);
    if (consumer->schedule) return expr;
    while (true) {
      // What an interrupted pass makes is dropped.
      const Variable* chosen = is_interrupted() ? nullptr : choose(*consumer);
      if (!chosen) return consumer;
      consumer = static_cast<const ComprehensionExpr*>(inlined(*consumer, chosen));
    }
  }

  const Variable* choose(const ComprehensionExpr& consumer) {
    std::vector<const Variable*> candidates;
    size_t size = 0;
    std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
      ++size;
      if (auto* read = as<ReadExpr>(e))
        if (auto* var = as<VarExpr>(read->tensor); var && producers_.contains(var->variable))
          candidates.push_back(var->variable);
      for_each_child(e, walk);
    };
    walk(consumer.body);
    for (const Variable* candidate : candidates)
      if (size + size_of(candidate) <= kMostFusedNodes && may_inline(consumer, candidate)) return candidate;
    return nullptr;
  }

  size_t size_of(const Variable* producer) {
    auto [known, is_new] = sizes_.try_emplace(producer, 0);
    if (is_new) known->second = node_count(producers_.at(producer)->body);
    return known->second;
  }
  static size_t node_count(ExprPtr expr) {
    size_t count = 1;
    for_each_child(expr, [&](ExprPtr child) { count += node_count(child); });
    return count;
  }

  bool may_inline(const ComprehensionExpr& consumer, const Variable* variable) {
    const ComprehensionExpr& producer = *producers_.at(variable);
    if (producer.body->kind == ExprKind::Scatter) return false;  // a whole tensor, not an element
    const ReadSites sites = sites_in(consumer, variable);
    if (!sites.plain || sites.count == 0) return false;
    // A producer without operands is cheaper to recompute than to read.
    bool constant = true;
    std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
      constant &= e->kind == ExprKind::Const || e->kind == ExprKind::DimValue || e->kind == ExprKind::Scalar;
      for_each_child(e, walk);
    };
    walk(producer.body);
    if (constant && !failing_.contains(variable)) return true;
    const FusionClass kind = fusion_class(producer);
    // Products read a factor in any order of its axes as they read it in another one.
    if (is_strided_view(producer) && fusion_class(consumer) == FusionClass::Contraction &&
        !failing_.contains(variable))
      return true;
    if (uses_.at(variable) != sites.count && !computed_again_.contains(variable)) return false;
    if (failing_.contains(variable)) {
      // It must fail at the same point, with its own message.
      bool every_element =
          sites.count == 1 && sites.identity && sites.always && same_extents(producer, consumer);
      if (!every_element || effects_.of(&consumer).has(Effect::Fail)) return false;
    }
    if (kind == FusionClass::Contraction && sites.count == 1 && sites.permuted)
      return fusion_class(consumer) == FusionClass::Injective;
    if (kind != FusionClass::Injective)
      return sites.count == 1 && sites.identity && same_extents(producer, consumer) &&
             shares_a_kernel(kind, consumer);
    return sites.count == 1 ? sites.once : sites.once && is_cheap(producer.body);
  }

  /// Whether its elements are those of another tensor, along an axis of which each of its own moves by a step.
  static bool is_strided_view(const ComprehensionExpr& producer) {
    auto* read = as<ReadExpr>(producer.body);
    if (!read || !as<VarExpr>(read->tensor) || read->otherwise) return false;
    for (const ExprPtr index : read->indices) {
      auto* dim = as<DimValueExpr>(index);
      if (!dim) return false;
      const auto moving = [&](Dim var) { return contains_var(dim->dim, var); };
      const auto var = std::ranges::find_if(producer.vars, moving);
      if (var == producer.vars.end()) continue;
      const std::optional<Linear> linear = linear_in(dim->dim, *var);
      if (!linear || !as_const(linear->coefficient) || !as_const(linear->rest)) return false;
    }
    return true;
  }

  using Readers = std::unordered_map<const Variable*, std::vector<const ComprehensionExpr*>>;

  /// The index expressions of a block that read a variable, if nothing else does.
  static Readers readers_of(const BlockExpr& block) {
    Readers readers;
    for (const Binding& b : block.bindings) {
      auto* comprehension = as<ComprehensionExpr>(b.value);
      if (!comprehension || comprehension->schedule) continue;
      Uses read;
      count_uses(comprehension->body, read);
      for (const auto& [variable, count] : read) readers[variable].push_back(comprehension);
    }
    return readers;
  }

  /// Whether less memory moves where each reader computes the elements than where they are stored: they are made of
  /// few others, which are stored anyhow.
  bool is_cheaper_computed_again(const Variable* variable, const ComprehensionExpr& producer) {
    const auto readers = readers_.find(variable);
    if (readers == readers_.end() || readers->second.size() < 2) return false;
    if (fusion_class(producer) != FusionClass::Injective || !is_cheap(producer.body)) return false;
    const auto operands = whole_operands(producer);
    const size_t many = readers->second.size();
    if (!operands || (many - 1) * *operands > many) return false;
    int sites = 0;
    for (const ComprehensionExpr* reader : readers->second) {
      ReadSites in_reader;
      std::vector<Dim> around(reader->vars.begin(), reader->vars.end());
      std::vector<Dim> extents(reader->extents.begin(), reader->extents.end());
      inspect(reader->body, variable, *reader, around, extents, in_reader);
      if (!in_reader.plain || !in_reader.once || reads_others_again(reader->body, around, extents))
        return false;
      sites += in_reader.count;
    }
    return sites == uses_.at(variable);
  }

  /// How many tensors it reads that are as large as its own, which are all stored even without it; nothing if one is
  /// not, or an index is no dim.
  std::optional<size_t> whole_operands(const ComprehensionExpr& producer) const {
    Uses whole;
    bool plain = true;
    std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
      if (auto* read = as<ReadExpr>(e)) {
        auto* var = as<VarExpr>(read->tensor);
        plain &= var != nullptr && !read->otherwise;
        bool covers = true;
        for (size_t k = 0; k < producer.vars.size(); ++k)
          covers &= is_const(producer.extents[k], 1) || reads_along(*read, producer.vars[k]);
        if (var && covers) ++whole[var->variable];
      }
      for_each_child(e, walk);
    };
    walk(producer.body);
    for (const auto& [variable, count] : whole)
      plain &= !producers_.contains(variable) || uses_.at(variable) > count;
    return plain ? std::optional(whole.size()) : std::nullopt;
  }

  static bool reads_along(const ReadExpr& read, Dim var) {
    return std::ranges::any_of(read.indices, [&](ExprPtr index) {
      auto* dim = as<DimValueExpr>(index);
      return dim && contains_var(dim->dim, var);
    });
  }

  /// Whether a reduction reads an element of a tensor for more than one of its terms, as a contraction does: its rule
  /// takes products of two reads.
  static bool reads_others_again(ExprPtr expr, std::vector<Dim> around, std::vector<Dim> extents) {
    if (auto* reduce = as<ReduceExpr>(expr)) {
      around.insert(around.end(), reduce->vars.begin(), reduce->vars.end());
      extents.insert(extents.end(), reduce->extents.begin(), reduce->extents.end());
      bool again = false;
      std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
        auto* read = as<ReadExpr>(e);
        const auto moves = [&](Dim var) { return reads_along(*read, var); };
        if (read && std::ranges::any_of(reduce->vars, moves))
          for (size_t k = 0; k < around.size(); ++k) again |= !is_const(extents[k], 1) && !moves(around[k]);
        for_each_child(e, walk);
      };
      walk(reduce->body);
      return again;
    }
    bool again = false;
    for_each_child(expr, [&](ExprPtr child) { again |= reads_others_again(child, around, extents); });
    return again;
  }

  /// The schedules of products tile one contraction, with injective code around it: beside another reduction
  /// it would have the default loops.
  static bool shares_a_kernel(FusionClass producer, const ComprehensionExpr& consumer) {
    const FusionClass other = fusion_class(consumer);
    return other == FusionClass::Injective || std::max(producer, other) < FusionClass::Contraction;
  }

  static bool same_extents(const ComprehensionExpr& a, const ComprehensionExpr& b) {
    return std::equal(a.extents.begin(), a.extents.end(), b.extents.begin(), b.extents.end());
  }

  static bool is_cheap(ExprPtr body) {
    int operations = 0;
    std::function<void(ExprPtr)> walk = [&](ExprPtr e) {
      auto* scalar = as<ScalarExpr>(e);
      if (scalar)
        operations += !scalar->is_cast && info(scalar->op).signature == ScalarSignature::Float ? 16 : 1;
      for_each_child(e, walk);
    };
    walk(body);
    return operations <= 4;
  }

  ReadSites sites_in(const ComprehensionExpr& consumer, const Variable* variable) {
    ReadSites sites;
    std::vector<Dim> around(consumer.vars.begin(), consumer.vars.end());
    std::vector<Dim> extents(consumer.extents.begin(), consumer.extents.end());
    inspect(consumer.body, variable, consumer, around, extents, sites);
    return sites;
  }
  void inspect(ExprPtr expr, const Variable* variable, const ComprehensionExpr& consumer,
               std::vector<Dim>& around, std::vector<Dim>& extents, ReadSites& sites) {
    if (auto* reduce = as<ReduceExpr>(expr)) {
      size_t depth = around.size();
      around.insert(around.end(), reduce->vars.begin(), reduce->vars.end());
      extents.insert(extents.end(), reduce->extents.begin(), reduce->extents.end());
      inspect(reduce->body, variable, consumer, around, extents, sites);
      around.resize(depth);
      extents.resize(depth);
      return;
    }
    // A running result visits each point once: its variable represents the one that it follows.
    if (auto* scan = as<ScanExpr>(expr)) {
      std::vector<Dim> inside = around;
      for (Dim& var : inside)
        if (contains_var(scan->extents[0], var)) var = scan->vars[0];
      return inspect(scan->body, variable, consumer, inside, extents, sites);
    }
    if (auto* scatter = as<ScatterExpr>(expr)) {
      inspect(scatter->init, variable, consumer, around, extents, sites);
      std::vector<Dim> vars(scatter->vars.begin(), scatter->vars.end());
      std::vector<Dim> ranges(scatter->extents.begin(), scatter->extents.end());
      for (ExprPtr index : scatter->indices) inspect(index, variable, consumer, vars, ranges, sites);
      return inspect(scatter->value, variable, consumer, vars, ranges, sites);
    }
    auto* read = as<ReadExpr>(expr);
    auto* var = read ? as<VarExpr>(read->tensor) : nullptr;
    if (var && var->variable == variable) inspect_read(*read, consumer, around, extents, sites);
    for_each_child(expr, [&](ExprPtr child) {
      int before = sites.count;
      inspect(child, variable, consumer, around, extents, sites);
      if (sites.count != before && is_conditional(expr, child)) sites.always = false;
    });
  }

  /// Whether the child is evaluated only conditionally: an arm, the value of an `else`, the second operand of
  /// `and` and `or`.
  static bool is_conditional(ExprPtr expr, ExprPtr child) {
    if (auto* branch = as<IfExpr>(expr)) return child != branch->condition;
    if (auto* read = as<ReadExpr>(expr)) return child == read->otherwise;
    auto* scalar = as<ScalarExpr>(expr);
    const bool logic = scalar && !scalar->is_cast && is_lazy(scalar->op);
    return logic && child != scalar->args[0];
  }

  void inspect_read(const ReadExpr& read, const ComprehensionExpr& consumer, const std::vector<Dim>& around,
                    const std::vector<Dim>& extents, ReadSites& sites) {
    ++sites.count;
    std::vector<Dim> named;
    for (size_t k = 0; k < read.indices.size(); ++k) {
      auto* dim = as<DimValueExpr>(read.indices[k]);
      // An index without a value fails, whether or not the element depends on it.
      if (!dim || read.checked[k] || effects_.of(dim).has(Effect::Fail)) {
        sites.plain = false;
        return;
      }
      const bool is_only = is_const(read.tensor->type->dims[k], 1);
      const bool is_own = k < consumer.vars.size() && dim->dim == consumer.vars[k];
      const bool is_only_of_both = is_only && k < consumer.vars.size() && is_const(consumer.extents[k], 1);
      if (!is_own && !is_only_of_both) sites.identity = false;
      if (dim->dim->kind != DimKind::Var && !is_only) sites.permuted = false;
      if (dim->dim->kind == DimKind::Var) named.push_back(dim->dim);
    }
    if (read.indices.size() != consumer.vars.size() || around.size() != consumer.vars.size())
      sites.identity = sites.permuted = false;
    for (size_t k = 0; k < consumer.vars.size(); ++k)
      sites.permuted &= is_const(consumer.extents[k], 1) || std::ranges::count(named, consumer.vars[k]) == 1;
    for (size_t k = 0; k < around.size(); ++k)
      if (!is_const(extents[k], 1) && std::count(named.begin(), named.end(), around[k]) != 1)
        sites.once = false;
  }

  // The consumer with its reads replaced by the producer's body.
  ExprPtr inlined(const ComprehensionExpr& consumer, const Variable* variable) {
    const ComprehensionExpr& producer = *producers_.at(variable);
    int replaced = 0;
    std::function<ExprPtr(ExprPtr)> walk = [&](ExprPtr e) -> ExprPtr {
      auto* read = as<ReadExpr>(e);
      auto* var = read ? as<VarExpr>(read->tensor) : nullptr;
      if (!var || var->variable != variable) return without_one(map_children(arena_, e, walk));
      ++replaced;
      ExprSubstitution substitution;
      for (size_t k = 0; k < producer.vars.size(); ++k)
        substitution.types.dims.emplace(producer.vars[k],
                                        static_cast<const DimValueExpr*>(read->indices[k])->dim);
      return substitute(arena_, producer.body, substitution);
    };
    ExprPtr body = walk(consumer.body);
    count_inlined(variable, replaced);
    return arena_.make<ComprehensionExpr>(Expr{consumer}, consumer.vars, consumer.extents, body);
  }

  /// Its other factor, where one is a 1: a derivative begins with it.
  static ExprPtr without_one(ExprPtr expr) {
    auto* product = as<ScalarExpr>(expr);
    if (!product || product->is_cast || product->op != ScalarOp::Mul) return expr;
    const auto is_one = [](ExprPtr factor) {
      auto* number = as<ConstExpr>(factor);
      return number && number->value->size() == 1 && !number->type->dtype.is_vector() &&
             element_as_double(*number->value, 0) == 1;
    };
    if (is_one(product->args[0])) return product->args[1];
    return is_one(product->args[1]) ? product->args[0] : expr;
  }

  /// Updates use counts: the producer's operands are read once per inlining, and no longer by the producer
  /// itself if it has no other readers.
  void count_inlined(const Variable* variable, int times) {
    const bool dropped = (uses_.at(variable) -= times) == 0;
    if (dropped) fused_.insert(variable);
    Uses read;
    count_uses(producers_.at(variable)->body, read);
    for (const auto& [v, count] : read) uses_[v] += count * (times - (dropped ? 1 : 0));
  }

  Arena& arena_;
  Uses& uses_;
  EffectAnalysis& effects_;
  std::unordered_set<const Variable*>
      failing_;  ///< producers that may fail, without observable effects after them
  /// Producers without readers: they are dropped, since one that may fail would otherwise remain without its
  /// operands.
  std::unordered_set<const Variable*> fused_;
  std::unordered_map<const Variable*, const ComprehensionExpr*> producers_;
  std::unordered_set<const Variable*> computed_again_;  ///< producers that each reader computes for itself
  Readers readers_;                                     ///< of the block
  std::unordered_map<const Variable*, size_t> sizes_;   ///< sizes of producers, in nodes
};

}  // namespace

ExprPtr fuse(const PassContext& context, ExprPtr expr) {
  Uses uses;
  count_uses(expr, uses);
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  return Fuser(context.arena, uses, effects).run(expr);
}

}  // namespace quern
