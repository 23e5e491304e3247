// Cyclic references, which reference counting never frees. A reference is the only mutable value, so each
// cycle contains one, and the search starts from the references of a thread.

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "ir/value/ref_snapshot.h"
#include "ir/value/value.h"

namespace quern {

/// The live references that a thread made.
class RefHeap {
 public:
  void add(RefObject* reference) {
    std::lock_guard lock(mutex_);
    living_.insert(reference);
  }
  void remove(RefObject* reference) {
    std::lock_guard lock(mutex_);
    living_.erase(reference);
  }
  bool is_full() {
    std::lock_guard lock(mutex_);
    return living_.size() >= limit_;
  }
  std::vector<std::pair<Value, Value>> contents() {
    std::lock_guard lock(mutex_);
    std::vector<std::pair<Value, Value>> held;
    held.reserve(living_.size());
    for (RefObject* reference : living_) held.emplace_back(Value(reference), reference->content);
    return held;
  }
  void collect() {
    // Drop the contents of the lost references only after the search is done.
    std::vector<Value> lost;
    {
      std::lock_guard lock(mutex_);
      for (RefObject* reference : unheld()) lost.push_back(std::move(reference->content));
    }
    drop(std::move(lost));
    std::lock_guard lock(mutex_);
    limit_ = std::max(kLeast, 2 * living_.size());
  }

 private:
  static constexpr size_t kLeast = 4096;

  // As in CPython's collector: an object with more holders than those found from the references is held
  // externally, and so is everything it reaches.
  std::vector<RefObject*> unheld() const {
    std::unordered_map<const Object*, uint32_t> inside;
    std::vector<const Object*> rest;
    for (RefObject* reference : living_) {
      inside.emplace(reference, 0);
      rest.push_back(reference);
    }
    go_over(rest, [&](const Object* part) {
      auto [known, first] = inside.try_emplace(part, 0);
      ++known->second;
      return first;
    });
    std::unordered_set<const Object*> held;
    for (const auto& [object, count] : inside)
      if (object->holders() > count && held.insert(object).second) rest.push_back(object);
    go_over(rest, [&](const Object* part) { return held.insert(part).second; });
    std::vector<RefObject*> out;
    for (RefObject* reference : living_)
      if (!held.contains(reference)) out.push_back(reference);
    return out;
  }

  // `visit` is called on each part that may hold others, and returns whether to descend into it.
  template <class F>
  static void go_over(std::vector<const Object*>& rest, F&& visit) {
    while (!rest.empty()) {
      const Object* object = rest.back();
      rest.pop_back();
      for (const Value& value : object->parts()) {
        const Object* part = value.object();
        if (part && part->kind != ObjectKind::Tensor && visit(part)) rest.push_back(part);
      }
    }
  }

  std::mutex mutex_;
  std::unordered_set<RefObject*> living_;
  size_t limit_ = kLeast;
};

namespace {

std::shared_ptr<RefHeap>& heap_of_thread() {
  thread_local auto heap = std::make_shared<RefHeap>();
  return heap;
}

}  // namespace

RefObject::RefObject(Value c) : Object(kKind), content(std::move(c)), heap_(heap_of_thread()) {
  heap_->add(this);
}

RefObject::~RefObject() {
  heap_->remove(this);
  drop(std::move(content));
}

Value Value::reference(Value content) {
  if (heap_of_thread()->is_full()) collect_cycles();
  return Value(new RefObject(std::move(content)));
}

void collect_cycles() { heap_of_thread()->collect(); }

namespace {

bool is_same(const Value& a, const Value& b) {
  if (a.is_scalar() != b.is_scalar()) return false;
  if (!a.is_scalar()) return a.object() == b.object();
  return a.scalar().dtype == b.scalar().dtype && a.scalar().bits == b.scalar().bits;
}

}  // namespace

RefSnapshot RefSnapshot::take() {
  RefSnapshot snapshot;
  snapshot.held_ = heap_of_thread()->contents();
  return snapshot;
}

void RefSnapshot::restore() const {
  for (const auto& [reference, content] : held_) reference.object_as<RefObject>()->content = content;
}

void RefSnapshot::keep_changed() {
  std::erase_if(held_, [](const auto& held) {
    return is_same(held.first.template object_as<RefObject>()->content, held.second);
  });
}

}  // namespace quern
