#pragma once
// The tables of a database: what its inputs and queries have in common, so that each is declared once and
// dropping, bounds, the memory report and the subjects of failures are derived.
//
// Tables whose keys have the same meaning (declarations, names of types, …) share one key space, and a key
// removed from the space is dropped from all of them:
//
//     struct ByDeclaration : KeySpace<DeclarationId> {};
//     tables.drop<ByDeclaration>(id);
//
// The memory report has a row for the tables of one purpose, which a MemoryRow before them names.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "session/query/engine.h"
#include "session/query/memory.h"

namespace quern {

template <class K, class H = std::hash<K>>
struct KeySpace {
  using Key = K;
  using Hash = H;
};

/// A declaration as reported by a failed check.
struct Subject {
  uint32_t declaration = 0;
  std::string_view name = {};
};

class Tables;

class AnyTable {
 public:
  explicit AnyTable(std::string name) : name_(std::move(name)) {}
  virtual ~AnyTable() = default;
  AnyTable(const AnyTable&) = delete;
  AnyTable& operator=(const AnyTable&) = delete;
  const std::string& name() const { return name_; }
  virtual size_t size() const = 0;
  /// Bytes of keys, memos and values; shared objects count at their first occurrence.
  virtual size_t bytes(MemoryCount& count) const = 0;
  /// Drops recomputable values beyond what the table may keep.
  virtual void bound() {}

 private:
  const std::string name_;
};

template <class Space>
class TableOf : public AnyTable {
 public:
  using Key = typename Space::Key;
  TableOf(Tables& tables, std::string name);
  virtual void drop(const Key& key) = 0;

 protected:
  Subject subject_of(const Key& key) const { return space_.subject ? space_.subject(key) : Subject{}; }
  /// Empty for a key without.
  std::string lasting_name_of(const Key& key) const {
    return space_.lasting_name ? space_.lasting_name(key) : std::string();
  }

 private:
  friend class Tables;
  struct State {
    std::vector<TableOf*> tables;
    std::function<Subject(const Key&)> subject;
    std::function<std::string(const Key&)> lasting_name;
  };
  State& space_;
};

/// All tables of a database, in the order of their declaration.
class Tables {
 public:
  QueryEngine engine;

  /// Drops a key from all tables of its space.
  template <class Space>
  void drop(const typename Space::Key& key) {
    for (TableOf<Space>* table : state<Space>().tables) table->drop(key);
  }
  /// Sets how to find the declaration that a key concerns.
  template <class Space>
  void set_subject(std::function<Subject(const typename Space::Key&)> subject) {
    state<Space>().subject = std::move(subject);
  }
  /// Sets what the name of a key is that one which comes later may have too: it takes over the variables of one that
  /// is gone (session/query/left_series.h).
  template <class Space>
  void set_lasting_name(std::function<std::string(const typename Space::Key&)> name) {
    state<Space>().lasting_name = std::move(name);
  }
  void bound() {
    if (!engine.idle()) return;
    for (const Row& row : rows_)
      for (AnyTable* table : row.tables) table->bound();
  }
  /// The rows of which a table is not empty. They have no count: their tables count different things.
  std::vector<MemoryUse> memory() const {
    std::vector<MemoryUse> report;
    MemoryCount count;
    for (const Row& row : rows_) {
      MemoryUse use{row.name};
      for (const AnyTable* table : row.tables) use.bytes += table->bytes(count);
      if (use.bytes > 0) report.push_back(std::move(use));
    }
    return report;
  }

 private:
  template <class Space>
  friend class TableOf;
  friend class MemoryRow;
  /// Tables of one purpose.
  struct Row {
    std::string name;
    std::vector<AnyTable*> tables;
  };
  template <class Space>
  typename TableOf<Space>::State& state() {
    std::shared_ptr<void>& found = spaces_[typeid(Space)];
    if (!found) found = std::make_shared<typename TableOf<Space>::State>();
    return *static_cast<typename TableOf<Space>::State*>(found.get());
  }
  std::vector<Row> rows_{{"tables", {}}};
  std::unordered_map<std::type_index, std::shared_ptr<void>> spaces_;
};

/// Begins a row of the memory report: of the tables that are declared after it, up to the next one. Its name is for
/// users.
class MemoryRow {
 public:
  MemoryRow(Tables& tables, std::string name) { tables.rows_.push_back({std::move(name), {}}); }
};

template <class Space>
TableOf<Space>::TableOf(Tables& tables, std::string name)
    : AnyTable(std::move(name)), space_(tables.state<Space>()) {
  space_.tables.push_back(this);
  tables.rows_.back().tables.push_back(this);
}

}  // namespace quern
