#include "ir/dim/intern.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include "ir/base/result.h"
#include "ir/base/series.h"
#include "ir/dim/arena.h"
#include "ir/dim/poly.h"

namespace quern {

using namespace dim_detail;

namespace {

std::atomic<uint32_t> next_order{0};
/// Arena nodes are ordered after all others, so their number does not affect the order of the others.
constexpr uint32_t kFirstInArena = uint32_t{1} << 31;
thread_local uint32_t next_in_arena = kFirstInArena;
thread_local size_t living_arenas = 0;
thread_local DimArena* current_arena = nullptr;
thread_local DimScratch* current_scratch = nullptr;

struct Interner {
  std::mutex mutex;
  NodeTable table;
};

/// Never destroyed, so that dims in other static objects stay valid to the end of the process.
Interner& interner() {
  static Interner* const instance = new Interner;
  return *instance;
}

template <class Property>
bool any_of(std::span<const Dim> dims, const Property& property) {
  return std::any_of(dims.begin(), dims.end(), property);
}

bool in_arena(Dim d) { return d->in_arena; }

constexpr size_t kFewestSlots = 64;

Dim found_or_made(NodeTable& table, const NodeKey& key) {
  const size_t hash = key.hash();
  if (const Dim found = table.find(key, hash)) return found;
  const Dim node = table.make(key, {});
  table.add(node, hash);
  return node;
}

}  // namespace

struct DimScratch::Impl {
  NodeTable table;
  int64_t next_id = 0;
  DimMap bound;
};

// --- tables ----------------------------------------------------------------------------------------------

namespace dim_detail {

size_t NodeKey::hash() const {
  size_t hash = static_cast<size_t>(kind) * 0x9e3779b97f4a7c15u ^ static_cast<size_t>(value);
  for (Dim arg : args) hash = (hash ^ arg->order) * 0x100000001b3u + (hash >> 29);
  hash *= 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 32);
}

Dim NodeTable::find(const NodeKey& key, size_t hash) const {
  if (slots_.empty()) return nullptr;
  const size_t mask = slots_.size() - 1;
  for (size_t at = hash & mask; slots_[at].node; at = (at + 1) & mask) {
    const Dim node = slots_[at].node;
    if (slots_[at].hash == hash && node->kind == key.kind && node->value == key.value &&
        std::ranges::equal(node->args, key.args))
      return node;
  }
  return nullptr;
}

void NodeTable::insert(Slot slot) {
  const size_t mask = slots_.size() - 1;
  size_t at = slot.hash & mask;
  while (slots_[at].node) at = (at + 1) & mask;
  slots_[at] = slot;
}

void NodeTable::add(Dim node, size_t hash) {
  if (++full_ * 2 > slots_.size()) {
    const std::vector<Slot> before = std::exchange(slots_, {});
    slots_.resize(std::max(kFewestSlots, before.size() * 2));
    for (const Slot& slot : before)
      if (slot.node) insert(slot);
  }
  insert({hash, node});
}

Dim NodeTable::make(const NodeKey& key, std::string_view name, bool opened) {
  ++made_;
  DimNode* node = static_cast<DimNode*>(memory_.allocate(sizeof(DimNode), alignof(DimNode)));
  return new (node) DimNode{
      .kind = key.kind,
      .has_infer = key.kind == DimKind::Infer || any_of(key.args, [](Dim arg) { return arg->has_infer; }),
      .has_any = key.kind == DimKind::Any || any_of(key.args, [](Dim arg) { return arg->has_any; }),
      .opened = opened,
      .in_arena = in_arena_,
      .order = in_arena_ ? next_in_arena++ : next_order.fetch_add(1, std::memory_order_relaxed),
      .value = key.value,
      .name = {copy(name.data(), name.size()), name.size()},
      .args = {copy(key.args.data(), key.args.size()), key.args.size()},
  };
}

Interned NodeTable::size() const {
  return {made_, made_ * sizeof(DimNode) + parts_ + slots_.size() * sizeof(Slot)};
}

template <typename T>
const T* NodeTable::copy(const T* from, size_t count) {
  if (count == 0) return nullptr;
  parts_ += count * sizeof(T);  // NOLINT(bugprone-sizeof-expression): dims are pointers
  T* to = std::pmr::polymorphic_allocator<T>(&memory_).allocate(count);
  return std::uninitialized_copy_n(from, count, to) - count;
}

Dim make_node(DimKind kind, int64_t value, std::span<const Dim> args) {
  const NodeKey key{kind, value, args};
  if (any_of(args, [](Dim arg) { return arg->has_infer; }) && !any_of(args, in_arena)) {
    QUERN_CHECK(current_scratch != nullptr);
    return found_or_made(current_scratch->impl().table, key);
  }
  if (current_arena) return current_arena->intern(key);
  QUERN_CHECK(!any_of(args, in_arena));
  Interner& all = interner();
  std::lock_guard lock(all.mutex);
  return found_or_made(all.table, key);
}

}  // namespace dim_detail

// --- arenas ----------------------------------------------------------------------------------------------

DimArena::DimArena() { ++living_arenas; }
DimArena::~DimArena() {
  if (--living_arenas == 0) next_in_arena = kFirstInArena;
}

DimArena::Use::Use(DimArena& arena) : around_(current_arena) {
  if (around_ != &arena) arena.around_ = around_;
  current_arena = &arena;
}
DimArena::Use::~Use() { current_arena = around_; }

DimArena::Outside::Outside() : around_(std::exchange(current_arena, nullptr)) {}
DimArena::Outside::~Outside() { current_arena = around_; }

Dim DimArena::intern(const NodeKey& key) {
  const size_t hash = key.hash();
  if (Dim found = table_.find(key, hash)) return found;
  Dim node = nullptr;
  for (const DimArena* around = around_; around && !node; around = around->around_)
    node = around->table_.find(key, hash);
  if (!node && !any_of(key.args, in_arena)) {
    Interner& all = interner();
    std::lock_guard lock(all.mutex);
    node = all.table.find(key, hash);
  }
  if (!node) node = table_.make(key, {});
  table_.add(node, hash);
  return node;
}

Dim DimArena::make_var(std::string_view name, int64_t id, bool opened) {
  return table_.make({DimKind::Var, id, {}}, name, opened);
}

Interned interned_dims() {
  Interner& all = interner();
  std::lock_guard lock(all.mutex);
  return all.table.size();
}

// --- variables and unknowns ------------------------------------------------------------------------------

namespace {

Dim make_var(std::string_view name, bool opened) {
  static std::atomic<int64_t> next_id{0};
  if (current_arena) return current_arena->make_var(name, next_id++, opened);
  return Series::next(opened ? Series::Kind::OpenedDim : Series::Kind::Dim, name, [&] {
    Interner& all = interner();
    std::lock_guard lock(all.mutex);
    return all.table.make({DimKind::Var, next_id++, {}}, name, opened);
  });
}

}  // namespace

Dim dim_var(std::string_view name) { return make_var(name, false); }
Dim dim_opened(std::string_view name) { return make_var(name, true); }

DimScratch::DimScratch() : impl_(std::make_unique<Impl>()), previous_(current_scratch) {
  current_scratch = this;
}
DimScratch::~DimScratch() { current_scratch = previous_; }
DimScratch* DimScratch::current() { return current_scratch; }

Dim DimScratch::fresh() { return impl_->table.make({DimKind::Infer, impl_->next_id++, {}}, {}); }

void DimScratch::bind(Dim infer, Dim value) { impl_->bound[infer] = value; }

Dim DimScratch::resolve(Dim d) {
  // Values may contain unknowns that were bound later; they never contain themselves, so this ends.
  while (d->has_infer) {
    Dim next = replace_nodes(d, impl_->bound);
    if (next == d) break;
    d = next;
  }
  return d;
}

}  // namespace quern
