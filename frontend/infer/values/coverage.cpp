#include "frontend/infer/values/coverage.h"

#include <algorithm>

#include <fmt/format.h>

namespace quern {

namespace {

/// One pattern per column; null for any value.
using Row = std::vector<PatternPtr>;
using Rows = std::vector<Row>;
/// Values of the columns, as patterns.
using Witness = std::vector<std::string>;

constexpr size_t kMaxSteps = 200'000;
constexpr size_t kMaxWitnesses = 3;

bool is_open(PatternPtr pattern) {
  return !pattern || pattern->kind == PatternKind::Wildcard || pattern->kind == PatternKind::Variable;
}

/// The rows that match a first value built by `head` (a constructor, or null for a tuple), over its parts.
Rows specialised(const Rows& rows, const Constructor* head, size_t parts) {
  Rows kept;
  for (const Row& row : rows) {
    PatternPtr first = row.front();
    if (!is_open(first) && first->constructor != head) continue;
    Row next(parts, nullptr);
    if (!is_open(first)) next.assign(first->parts.begin(), first->parts.end());
    next.insert(next.end(), row.begin() + 1, row.end());
    kept.push_back(std::move(next));
  }
  return kept;
}

/// The rows that match any first value, over the remaining columns.
Rows defaults(const Rows& rows) {
  Rows kept;
  for (const Row& row : rows)
    if (is_open(row.front())) kept.emplace_back(row.begin() + 1, row.end());
  return kept;
}

/// The heads of the first column.
struct ColumnHeads {
  PatternPtr any = nullptr;  ///< one of the patterns with parts
  bool tuple = false;
  std::vector<bool> present;  ///< by tag
  bool complete = false;
  std::span<const Constructor> siblings;
};

ColumnHeads heads_of(const Rows& rows) {
  ColumnHeads heads;
  for (const Row& row : rows) {
    PatternPtr first = row.front();
    if (is_open(first)) continue;
    heads.any = first;
    if (!first->constructor) {
      heads.tuple = heads.complete = true;
      return heads;
    }
    heads.siblings = first->constructor->siblings;
    heads.present.resize(heads.siblings.size());
    heads.present[first->constructor->tag] = true;
  }
  heads.complete = heads.any && std::ranges::all_of(heads.present, [](bool p) { return p; });
  return heads;
}

std::string applied(const Constructor* head, const std::vector<std::string>& parts) {
  std::string name = head ? std::string(head->name) : "";
  if (head && parts.empty()) return name;
  return fmt::format("{}({}{})", name, fmt::join(parts, ", "), !head && parts.size() == 1 ? "," : "");
}

class Search {
 public:
  bool exhausted() const { return steps_ > kMaxSteps; }

  /// Values of `columns` columns that no row matches.
  std::vector<Witness> missing(const Rows& rows, size_t columns) {
    steps_ += 1 + rows.size();
    if (exhausted()) return {};
    if (columns == 0) return rows.empty() ? std::vector<Witness>{{}} : std::vector<Witness>{};
    ColumnHeads heads = heads_of(rows);
    if (heads.tuple) return missing_below(rows, columns, nullptr, heads.any->parts.size());
    std::vector<Witness> found;
    if (heads.complete) {
      for (const Constructor& head : heads.siblings)
        add(found, missing_below(rows, columns, &head, head.fields.size()));
      return found;
    }
    for (const Witness& rest : missing(defaults(rows), columns - 1)) {
      if (!heads.any) add(found, {with_first("_", rest)});
      for (const Constructor& head : heads.siblings)
        if (!heads.present[head.tag])
          add(found, {with_first(applied(&head, std::vector<std::string>(head.fields.size(), "_")), rest)});
    }
    // For constructors that are present, some values may be missing, too.
    for (const Constructor& head : heads.siblings)
      if (heads.present[head.tag] && found.size() < kMaxWitnesses)
        add(found, missing_below(rows, columns, &head, head.fields.size()));
    return found;
  }

  /// Whether some value matches `row` and none of `rows`.
  bool useful(const Rows& rows, const Row& row) {
    steps_ += 1 + rows.size();
    if (exhausted()) return true;
    if (row.empty()) return rows.empty();
    PatternPtr first = row.front();
    if (!is_open(first)) return useful_below(rows, row, first->constructor, first->parts.size());
    ColumnHeads heads = heads_of(rows);
    if (!heads.complete) return useful(defaults(rows), Row(row.begin() + 1, row.end()));
    if (heads.tuple) return useful_below(rows, row, nullptr, heads.any->parts.size());
    return std::ranges::any_of(heads.siblings, [&](const Constructor& head) {
      return useful_below(rows, row, &head, head.fields.size());
    });
  }

 private:
  std::vector<Witness> missing_below(const Rows& rows, size_t columns, const Constructor* head,
                                     size_t parts) {
    std::vector<Witness> found;
    for (const Witness& below : missing(specialised(rows, head, parts), columns - 1 + parts)) {
      auto rest = below.begin() + static_cast<ptrdiff_t>(parts);
      found.push_back(with_first(applied(head, {below.begin(), rest}), {rest, below.end()}));
    }
    return found;
  }

  bool useful_below(const Rows& rows, const Row& row, const Constructor* head, size_t parts) {
    return useful(specialised(rows, head, parts), specialised({row}, head, parts).front());
  }

  static Witness with_first(std::string first, const Witness& rest) {
    Witness all{std::move(first)};
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  }

  static void add(std::vector<Witness>& to, const std::vector<Witness>& from) {
    for (const Witness& witness : from)
      if (to.size() < kMaxWitnesses) to.push_back(witness);
  }

  size_t steps_ = 0;
};

}  // namespace

Coverage coverage_of(const std::vector<PatternPtr>& patterns) {
  Search search;
  Coverage coverage;
  Rows rows;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (!search.useful(rows, {patterns[i]})) coverage.unreachable.push_back(i);
    rows.push_back({patterns[i]});
  }
  for (const Witness& witness : search.missing(rows, 1)) coverage.missing.push_back(witness.front());
  coverage.undecided = search.exhausted();
  return coverage;
}

}  // namespace quern
