#include "jit/vm/decision_tree.h"

#include <map>
#include <utility>

namespace quern::vm {

namespace {

/// A possible arm with the remaining patterns: one per column, null for anything.
struct Row {
  std::vector<PatternPtr> patterns;
  uint32_t arm;
  std::vector<DecisionTree::Name> names;
};
using Rows = std::vector<Row>;
using Columns = std::vector<uint32_t>;  ///< subject numbers

class Decider {
 public:
  explicit Decider(const MatchExpr& match) {
    result_.leaves.resize(match.arms.size());
    result_.subjects.push_back({0, 0, match.scrutinee->type});
    Rows rows;
    for (uint32_t arm = 0; arm < match.arms.size(); ++arm)
      rows.push_back({{match.arms[arm].pattern}, arm, {}});
    result_.tree = decide({0}, std::move(rows));
  }

  Decision take() { return std::move(result_); }

 private:
  std::unique_ptr<DecisionTree> decide(Columns columns, Rows rows) {
    auto tree = std::make_unique<DecisionTree>();
    for (Row& row : rows) name_variables(columns, row);
    if (rows.empty()) return tree;
    Row& first = rows.front();
    size_t column = 0;
    while (column < columns.size() && !first.patterns[column]) ++column;
    if (column == columns.size()) {
      tree->kind = DecisionTree::Kind::Leaf;
      tree->arm = first.arm;
      tree->names = std::move(first.names);
      ++result_.leaves[tree->arm];
      return tree;
    }
    const Pattern& pattern = *first.patterns[column];
    const size_t siblings = pattern.constructor ? pattern.constructor->siblings.size() : 1;
    if (siblings == 1) return decide_case(columns, rows, column, pattern);
    tree->kind = DecisionTree::Kind::Switch;
    tree->subject = columns[column];
    tree->cases.resize(siblings);
    std::vector<const Pattern*> present(siblings);
    bool all = true;
    for (const Row& row : rows)
      if (PatternPtr p = row.patterns[column]; p && !present[p->constructor->tag])
        present[p->constructor->tag] = p;
    for (size_t tag = 0; tag < siblings; ++tag) {
      if (present[tag]) tree->cases[tag] = decide_case(columns, rows, column, *present[tag]);
      all = all && present[tag];
    }
    if (!all) tree->otherwise = decide(without(columns, column), others(rows, column));
    return tree;
  }

  /// Removes variable patterns, which match anything, and records their names.
  static void name_variables(const Columns& columns, Row& row) {
    for (size_t i = 0; i < columns.size(); ++i) {
      PatternPtr pattern = row.patterns[i];
      if (!pattern || pattern->kind == PatternKind::Constructor || pattern->kind == PatternKind::Tuple)
        continue;
      if (pattern->variable) row.names.push_back({pattern->variable, pattern->type, columns[i]});
      row.patterns[i] = nullptr;
    }
  }

  /// Decides among the rows that are possible if the column's value matches `pattern`, over its parts.
  std::unique_ptr<DecisionTree> decide_case(const Columns& columns, const Rows& rows, size_t column,
                                            const Pattern& pattern) {
    Columns parts;
    for (uint32_t i = 0; i < pattern.parts.size(); ++i) parts.push_back(part(columns[column], pattern, i));
    Columns next = without(columns, column);
    next.insert(next.begin(), parts.begin(), parts.end());
    Rows kept;
    for (const Row& row : rows) {
      PatternPtr p = row.patterns[column];
      if (p && p->constructor != pattern.constructor) continue;
      Row copy = row;
      copy.patterns.erase(copy.patterns.begin() + static_cast<ptrdiff_t>(column));
      std::vector<PatternPtr> inner(pattern.parts.size(), nullptr);
      if (p) inner.assign(p->parts.begin(), p->parts.end());
      copy.patterns.insert(copy.patterns.begin(), inner.begin(), inner.end());
      kept.push_back(std::move(copy));
    }
    return decide(std::move(next), std::move(kept));
  }

  static Columns without(Columns columns, size_t column) {
    columns.erase(columns.begin() + static_cast<ptrdiff_t>(column));
    return columns;
  }

  static Rows others(const Rows& rows, size_t column) {
    Rows kept;
    for (const Row& row : rows) {
      if (row.patterns[column]) continue;
      kept.push_back(row);
      kept.back().patterns.erase(kept.back().patterns.begin() + static_cast<ptrdiff_t>(column));
    }
    return kept;
  }

  uint32_t part(uint32_t of, const Pattern& pattern, uint32_t index) {
    // Fields of different constructors are different subjects, since their types differ.
    auto key = std::make_tuple(of, pattern.constructor, index);
    auto [entry, added] = parts_.try_emplace(key, static_cast<uint32_t>(result_.subjects.size()));
    if (added) result_.subjects.push_back({of, index, pattern.parts[index]->type});
    return entry->second;
  }

  Decision result_;
  std::map<std::tuple<uint32_t, const Constructor*, uint32_t>, uint32_t> parts_;
};

}  // namespace

Decision decide(const MatchExpr& match) { return Decider(match).take(); }

}  // namespace quern::vm
