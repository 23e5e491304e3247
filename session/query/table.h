#pragma once
// The tables of a database: what its inputs and queries have in common, so that each is declared once and
// dropping, bounds, the memory report and the subjects of failures are derived.
//
// Tables whose keys have the same meaning (declarations, names of types, …) share one key space, and a key
// removed from the space is dropped from all of them:
//
//     struct ByDeclaration : KeySpace<DeclarationId> {};
//     tables.drop<ByDeclaration>(id);

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <typeindex>
#include <unordered_map>
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

 private:
  friend class Tables;
  struct State {
    std::vector<TableOf*> tables;
    std::function<Subject(const Key&)> subject;
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
  void bound() {
    if (!engine.idle()) return;
    for (AnyTable* table : all_) table->bound();
  }
  /// A row for each nonempty table.
  std::vector<MemoryUse> memory() const {
    std::vector<MemoryUse> report;
    MemoryCount count;
    for (const AnyTable* table : all_)
      if (table->size() > 0) report.push_back({table->name(), table->size(), table->bytes(count)});
    return report;
  }

 private:
  template <class Space>
  friend class TableOf;
  template <class Space>
  typename TableOf<Space>::State& state() {
    std::shared_ptr<void>& found = spaces_[typeid(Space)];
    if (!found) found = std::make_shared<typename TableOf<Space>::State>();
    return *static_cast<typename TableOf<Space>::State*>(found.get());
  }
  std::vector<AnyTable*> all_;
  std::unordered_map<std::type_index, std::shared_ptr<void>> spaces_;
};

template <class Space>
TableOf<Space>::TableOf(Tables& tables, std::string name)
    : AnyTable(std::move(name)), space_(tables.state<Space>()) {
  space_.tables.push_back(this);
  tables.all_.push_back(this);
}

}  // namespace quern
