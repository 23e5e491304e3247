#include "passes/stack_products.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ir/expr/effects.h"
#include "ir/expr/reads.h"
#include "passes/dead_code.h"
#include "passes/scalar_builder.h"
#include "passes/uses.h"
#include "passes/value_key.h"

namespace quern {

namespace {

using VariableList = std::vector<const Variable*>;

/// A sum over index variables that is a leaf of a sum of tensors.
struct Product {
  const Variable* result;
  const ComprehensionExpr* value;
  VariableList operands;
  VariableList sources;  ///< what the operands are copies of
  size_t place;          ///< of its binding
};

/// Products with the same value for the same operands.
struct Group {
  size_t tree;
  std::vector<Product> members;  ///< in the order of the block
  std::vector<size_t> varying;   ///< numbers of the operands that are not the same in all

  VariableList sources(size_t number) const {
    VariableList all;
    for (const Product& member : members) all.push_back(member.sources[number]);
    return all;
  }
};

/// A binding that adds tensors, and those that it alone reads and that add tensors as well.
struct Tree {
  size_t root;
  std::vector<size_t> inner;
  VariableList leaves;
  std::vector<Group> stacked{};
};

/// Tensors of one type along a first axis.
struct Stack {
  VariableList parts;
  const Variable* variable;
  size_t before;  ///< the first binding that may read it
};

/// Elements; 64 for an extent that is not known.
double size_of(Type type) {
  double size = 1;
  for (const Dim extent : type->dims) size *= static_cast<double>(as_const(extent).value_or(64));
  return size;
}

bool adds_in_any_order(DType dtype) {
  return !dtype.is_vector() && (dtype.is_int() || (dtype.is_float() && dtype.bits >= 32));
}

/// Whether it reads the element of a tensor at the result's place.
bool is_own_element(const ReadExpr& read, std::span<const Dim> vars) {
  auto* tensor = as<VarExpr>(read.tensor);
  return tensor && !read.otherwise && is_read_at(read, tensor->variable, vars);
}

/// Adds the tensors of whose elements at `vars` the expression is the sum; false if it is anything else.
bool collect_terms(ExprPtr expr, std::span<const Dim> vars, VariableList& terms) {
  if (auto* read = as<ReadExpr>(expr)) {
    if (!is_own_element(*read, vars)) return false;
    terms.push_back(as<VarExpr>(read->tensor)->variable);
    return true;
  }
  auto* scalar = as<ScalarExpr>(expr);
  return scalar && !scalar->is_cast && scalar->op == ScalarOp::Add &&
         std::ranges::all_of(scalar->args, [&](ExprPtr arg) { return collect_terms(arg, vars, terms); });
}

/// The terms of an index expression that adds two tensors or more; none of any other.
VariableList terms_of(ExprPtr expr) {
  auto* sum = as<ComprehensionExpr>(expr);
  VariableList terms;
  if (!sum || sum->schedule || !adds_in_any_order(sum->type->dtype)) return {};
  if (!collect_terms(sum->body, sum->vars, terms) || terms.size() < 2) return {};
  return terms;
}

class BlockStacker {
 public:
  BlockStacker(Arena& arena, EffectAnalysis& effects, const Uses& uses, std::span<const Binding> bindings,
               ExprPtr result)
      : arena_(arena), effects_(effects), uses_(uses), bindings_(bindings) {
    for (size_t k = 0; k < bindings.size(); ++k) {
      if (bindings[k].variable) note(bindings[k], k);
      if (!as<ComprehensionExpr>(bindings[k].value) && effects_.of(bindings[k].value).has(Effect::Clock))
        clocks_.push_back(k);
      for (const Variable* used : free_variables(bindings[k].value)) first_use_.try_emplace(used, k);
    }
    for (const Variable* used : free_variables(result)) first_use_.try_emplace(used, bindings.size());
  }

  /// The bindings with products stacked; nothing if there are none.
  std::optional<std::vector<Binding>> run() {
    find_trees();
    if (trees_.empty()) return std::nullopt;
    std::vector<Group> groups = find_groups();
    std::ranges::stable_sort(groups, std::greater(), &BlockStacker::saved_by);
    for (Group& group : groups)
      if (is_worth_it(group)) stack(std::move(group));
    if (stacks_.empty()) return std::nullopt;
    return rewritten();
  }

 private:
  // --- what there is
  void note(const Binding& binding, size_t place) {
    places_.emplace(binding.variable, place);
    auto* copy = as<ComprehensionExpr>(binding.value);
    auto* read = copy && !copy->schedule ? as<ReadExpr>(copy->body) : nullptr;
    auto* tensor = read ? as<VarExpr>(read->tensor) : nullptr;
    if (tensor && tensor->variable->type == binding.variable->type && is_own_element(*read, copy->vars))
      sources_.emplace(binding.variable, source_of(tensor->variable));
  }

  /// The tensor of which a variable is a copy, or itself.
  const Variable* source_of(const Variable* variable) const {
    const auto found = sources_.find(variable);
    return found == sources_.end() ? variable : found->second;
  }

  void find_trees() {
    std::unordered_set<size_t> inner;
    for (size_t k = bindings_.size(); k-- > 0;) {
      if (inner.contains(k) || !first_use_.contains(bindings_[k].variable)) continue;
      Tree tree{k, {}, {}};
      VariableList open = terms_of(bindings_[k].value);
      std::ranges::reverse(open);
      while (!open.empty()) {
        const Variable* term = open.back();
        open.pop_back();
        const std::optional<size_t> place = place_of_own(term, k);
        const VariableList terms = place ? terms_of(bindings_[*place].value) : VariableList{};
        if (terms.empty()) {
          tree.leaves.push_back(term);
          continue;
        }
        tree.inner.push_back(*place);
        open.insert(open.end(), terms.rbegin(), terms.rend());
      }
      inner.insert(tree.inner.begin(), tree.inner.end());
      if (!tree.leaves.empty()) trees_.push_back(std::move(tree));
    }
  }

  /// Where a variable of this block is bound that has one reader, and could be computed where another binding is: what is
  /// before a read of the clock stays there.
  std::optional<size_t> place_of_own(const Variable* variable, size_t reader) const {
    const auto place = places_.find(variable);
    if (place == places_.end() || uses_.at(variable) != 1) return std::nullopt;
    return next_clock(place->second) < reader ? std::nullopt : std::optional(place->second);
  }

  /// The first binding after this one that reads the clock; the end without one.
  size_t next_clock(size_t place) const {
    const auto next = std::ranges::upper_bound(clocks_, place);
    return next == clocks_.end() ? bindings_.size() : *next;
  }

  std::optional<std::pair<std::string, Product>> product_of(const Variable* leaf, size_t reader) const {
    const std::optional<size_t> place = place_of_own(leaf, reader);
    if (!place) return std::nullopt;
    auto* value = as<ComprehensionExpr>(bindings_[*place].value);
    auto* sum = value ? as<ReduceExpr>(value->body) : nullptr;
    if (!sum || sum->reduce != ReduceKind::Sum || !adds_in_any_order(value->type->dtype)) return std::nullopt;
    if (!effects_.of(value).removable()) return std::nullopt;
    std::optional<ValueKey> key = value_key(arena_, value);
    if (!key) return std::nullopt;
    VariableList sources;
    for (const Variable* operand : key->operands) sources.push_back(source_of(operand));
    return std::pair(std::move(key->text),
                     Product{leaf, value, std::move(key->operands), std::move(sources), *place});
  }

  std::vector<Group> find_groups() const {
    std::vector<Group> groups;
    for (size_t t = 0; t < trees_.size(); ++t) {
      const size_t first = groups.size();
      std::unordered_map<std::string, size_t> numbers;
      for (const Variable* leaf : trees_[t].leaves)
        if (auto product = product_of(leaf, trees_[t].root)) {
          const auto [group, is_new] = numbers.try_emplace(std::move(product->first), groups.size());
          if (is_new) groups.push_back({t, {}, {}});
          groups[group->second].members.push_back(std::move(product->second));
        }
      const auto are_few = [](Group& group) { return group.members.size() < 2 || !compare_operands(group); };
      groups.erase(std::remove_if(groups.begin() + static_cast<std::ptrdiff_t>(first), groups.end(), are_few),
                   groups.end());
    }
    return groups;
  }

  /// Finds the operands that vary; false if one of them cannot be stacked.
  static bool compare_operands(Group& group) {
    std::ranges::sort(group.members, {}, &Product::place);
    const VariableList& first = group.members.front().sources;
    for (size_t k = 0; k < first.size(); ++k) {
      const VariableList all = group.sources(k);
      if (std::ranges::count(all, first[k]) == static_cast<std::ptrdiff_t>(all.size())) continue;
      if (!std::ranges::all_of(all, [&](const Variable* one) { return one->type == first[k]->type; }))
        return false;
      group.varying.push_back(k);
    }
    return !group.varying.empty();
  }

  // --- what is stacked
  /// Whether the stacks are written and read with fewer bytes than the products, of which one is left.
  bool is_worth_it(const Group& group) const {
    double stacked = 0;
    std::vector<VariableList> seen;
    for (const size_t number : group.varying) {
      VariableList parts = group.sources(number);
      if (find_stack(parts, place_of(group)) || std::ranges::find(seen, parts) != seen.end()) continue;
      stacked += static_cast<double>(parts.size()) * size_of(parts.front()->type);
      seen.push_back(std::move(parts));
    }
    return stacked <= saved_by(group);
  }

  /// Elements of the products that are not made.
  static double saved_by(const Group& group) {
    return static_cast<double>(group.members.size() - 1) * size_of(group.members.front().result->type);
  }

  size_t place_of(const Group& group) const { return place_of(trees_[group.tree]); }
  /// Where a sum is computed: before the first binding that reads it, or the clock.
  size_t place_of(const Tree& tree) const {
    return std::min(first_use_.at(bindings_[tree.root].variable), next_clock(tree.root));
  }

  struct Place {
    const Variable* stack;
    int64_t first;  ///< the number of the first part
  };
  /// A stack that has these parts one after the other, and can be read at a binding.
  std::optional<Place> find_stack(const VariableList& parts, size_t at) const {
    for (const Stack& stack : stacks_) {
      const auto found = std::search(stack.parts.begin(), stack.parts.end(), parts.begin(), parts.end());
      if (stack.before < at && found != stack.parts.end())
        return Place{stack.variable, found - stack.parts.begin()};
    }
    return std::nullopt;
  }

  void stack(Group group) {
    for (const size_t number : group.varying) {
      const VariableList parts = group.sources(number);
      if (!find_stack(parts, place_of(group))) make_stack(parts, after_clock(place_of(group)));
    }
    trees_[group.tree].stacked.push_back(std::move(group));
  }

  /// The first binding behind the last read of the clock before this one.
  size_t after_clock(size_t place) const {
    const auto next = std::ranges::lower_bound(clocks_, place);
    return next == clocks_.begin() ? 0 : *std::prev(next) + 1;
  }

  /// The first binding that may read a variable, wherever the sum that it may be is computed.
  size_t bound_before(const Variable* variable) const {
    const auto place = places_.find(variable);
    if (place == places_.end()) return 0;
    const auto tree = std::ranges::find(trees_, place->second, &Tree::root);
    return tree == trees_.end() ? place->second + 1 : place_of(*tree);
  }

  void make_stack(const VariableList& parts, size_t before) {
    for (const Variable* part : parts) before = std::max(before, bound_before(part));
    std::vector<Dim> shape(parts.front()->type->dims.begin(), parts.front()->type->dims.end());
    shape.insert(shape.begin(), dim_const(static_cast<int64_t>(parts.size())));
    const Type type = tensor_type(shape, parts.front()->type->dtype);
    stacks_.push_back({parts, make_variable(arena_, "stack", type), before});
  }

  // --- the new bindings
  std::vector<Binding> rewritten() {
    std::unordered_set<size_t> dropped;
    std::multimap<size_t, const Tree*> roots;
    for (const Tree& tree : trees_) {
      if (tree.stacked.empty()) continue;
      dropped.insert(tree.inner.begin(), tree.inner.end());
      dropped.insert(tree.root);
      for (const Group& group : tree.stacked)
        for (const Product& member : group.members) dropped.insert(member.place);
      roots.emplace(place_of(tree), &tree);
    }
    for (size_t k = 0; k <= bindings_.size(); ++k) {
      // A sum may be a part of a stack, of which the sums are computed later.
      const auto [first, last] = roots.equal_range(k);
      for (auto root = first; root != last; ++root) bind_tree(*root->second);
      for (const Stack& stack : stacks_)
        if (stack.before == k) bind_stack(stack);
      if (k < bindings_.size() && !dropped.contains(k)) made_.push_back(bindings_[k]);
    }
    return std::move(made_);
  }

  /// Each part is read where it stands, and the others everywhere else.
  void bind_stack(const Stack& stack) {
    const Type type = stack.variable->type;
    const Origin origin = origin_of(stack.parts.front());
    const ScalarBuilder build(arena_, origin);
    std::vector<Dim> vars, one(type->dims.begin(), type->dims.end());
    for (size_t k = 0; k < type->dims.size(); ++k) vars.push_back(dim_var("i"));
    one.front() = dim_const(1);
    const Type part_type = tensor_type(one, type->dtype);
    std::vector<bool> checked(vars.size());
    checked.front() = true;
    ExprPtr body = build.constant(0, type->dtype);
    for (size_t k = stack.parts.size(); k-- > 0;) {
      const Variable* view = make_variable(arena_, "part", part_type);
      made_.push_back({view, arena_.make<ViewExpr>(Expr{ExprKind::View, part_type, origin},
                                                   read_of(arena_, stack.parts[k], origin))});
      std::vector<Dim> at = vars;
      at.front() = dim_sub(vars.front(), dim_const(static_cast<int64_t>(k)));
      auto* read = as<ReadExpr>(build.read(read_of(arena_, view, origin), at));
      body = arena_.make<ReadExpr>(Expr{*read}, read->tensor, read->indices, arena_.copy(checked), body);
    }
    made_.push_back({stack.variable, build.comprehension(vars, type->dims, body)});
  }

  Origin origin_of(const Variable* variable) const {
    const auto place = places_.find(variable);
    return place == places_.end() ? Origin{} : bindings_[place->second].value->origin;
  }

  void bind_tree(const Tree& tree) {
    const Binding& root = bindings_[tree.root];
    VariableList terms;
    std::unordered_set<const Variable*> replaced;
    for (const Group& group : tree.stacked) {
      for (const Product& member : group.members) replaced.insert(member.result);
      const Variable* first = group.members.front().result;
      terms.push_back(make_variable(arena_, first->name, first->type));
      made_.push_back({terms.back(), product(group)});
    }
    for (const Variable* leaf : tree.leaves)
      if (!replaced.contains(leaf)) terms.push_back(leaf);
    if (terms.size() == 1) {
      made_.back().variable = root.variable;
      return;
    }
    const auto& sum = *as<ComprehensionExpr>(root.value);
    const ScalarBuilder build(arena_, root.value->origin);
    ExprPtr body = nullptr;
    for (const Variable* term : terms) {
      ExprPtr read = build.read(read_of(arena_, term, root.value->origin), sum.vars);
      body = body ? build.add(body, read) : read;
    }
    made_.push_back({root.variable, build.comprehension(sum.vars, sum.extents, body)});
  }

  /// The first product, of stacks, summed along their first axis as well.
  ExprPtr product(const Group& group) {
    const Product& first = group.members.front();
    const auto& sum = *as<ReduceExpr>(first.value->body);
    const Dim step = dim_var("k");
    std::unordered_map<const Variable*, Place> stacked;
    for (const size_t number : group.varying)
      stacked.emplace(first.operands[number], *find_stack(group.sources(number), place_of(group)));
    const ScalarBuilder build(arena_, first.value->origin);
    const std::function<ExprPtr(ExprPtr)> put = [&](ExprPtr e) -> ExprPtr {
      auto* read = as<ReadExpr>(e);
      auto* tensor = read ? as<VarExpr>(read->tensor) : nullptr;
      const auto found = tensor ? stacked.find(tensor->variable) : stacked.end();
      if (found == stacked.end()) return map_children(arena_, e, put);
      std::vector<ExprPtr> indices{build.dim(dim_add(step, dim_const(found->second.first)))};
      std::vector<bool> checked{false};
      for (size_t k = 0; k < read->indices.size(); ++k) {
        indices.push_back(put(read->indices[k]));
        checked.push_back(read->checked[k]);
      }
      return arena_.make<ReadExpr>(Expr{*read}, read_of(arena_, found->second.stack, e->origin),
                                   arena_.copy(indices), arena_.copy(checked),
                                   read->otherwise ? put(read->otherwise) : nullptr);
    };
    std::vector<Dim> vars(sum.vars.begin(), sum.vars.end()), extents(sum.extents.begin(), sum.extents.end());
    vars.insert(vars.begin(), step);
    extents.insert(extents.begin(), dim_const(static_cast<int64_t>(group.members.size())));
    return build.comprehension(first.value->vars, first.value->extents,
                               build.reduce(ReduceKind::Sum, vars, extents, put(sum.body)));
  }

  Arena& arena_;
  EffectAnalysis& effects_;
  const Uses& uses_;
  std::span<const Binding> bindings_;
  std::unordered_map<const Variable*, size_t> places_;            ///< where each is bound
  std::unordered_map<const Variable*, const Variable*> sources_;  ///< of copies
  std::unordered_map<const Variable*, size_t> first_use_;         ///< the first binding that reads it
  std::vector<size_t> clocks_;                                    ///< bindings that read the clock
  std::vector<Tree> trees_;
  std::vector<Stack> stacks_;
  std::vector<Binding> made_;
};

class Stacker {
 public:
  Stacker(Arena& arena, EffectAnalysis& effects, const Uses& uses)
      : arena_(arena), effects_(effects), uses_(uses) {}

  ExprPtr run(ExprPtr expr) {
    expr = map_children(arena_, expr, [this](ExprPtr child) { return run(child); });
    auto* block = as<BlockExpr>(expr);
    if (!block) return expr;
    std::vector<Binding> bindings(block->bindings.begin(), block->bindings.end());
    ExprPtr result = block->result;
    if (!terms_of(result).empty()) {
      const Variable* sum = make_variable(arena_, "sum", result->type);
      bindings.push_back({sum, result});
      result = read_of(arena_, sum, result->origin);
    }
    const auto stacked = BlockStacker(arena_, effects_, uses_, bindings, result).run();
    return stacked ? block_of(arena_, *stacked, result, block->origin) : expr;
  }

 private:
  Arena& arena_;
  EffectAnalysis& effects_;
  const Uses& uses_;
};

}  // namespace

ExprPtr stack_products(const PassContext& context, ExprPtr expr) {
  Uses uses;
  count_uses(expr, uses);
  EffectAnalysis effects(context.functions);
  effects.learn(expr);
  const ExprPtr stacked = Stacker(context.arena, effects, uses).run(expr);
  return stacked == expr ? expr : dead_code(context, stacked);
}

}  // namespace quern
