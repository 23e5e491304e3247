#include "frontend/infer/relations/relations.h"

#include <algorithm>

namespace quern {

void Relations::relate(SyntaxPtr at, DraftPtr draft, std::string wanting, std::function<bool()> try_it) {
  if (scope_.cancelled()) return;
  // Equalities found at this point hold from here on, whenever the relation is finally solved.
  auto attempt = [this, point = checks_.step(), try_it = std::move(try_it)] {
    return checks_.attempt_at(point, try_it);
  };
  // Most relations can be solved when made. A `load` always waits for its annotation.
  unifier_.observe();
  bool done = draft->kind != DraftKind::Load && attempt();
  std::vector<Unknown> waits_for = unifier_.observed();
  if (done) return;
  auto number = static_cast<uint32_t>(all_.size());
  for (Unknown u : waits_for) unifier_.watch(u, number);
  all_.push_back({std::move(attempt), at, context_.declaration, draft, std::move(wanting), false, false,
                  false, std::move(waits_for)});
}

bool Relations::attempt(size_t number) {
  Relation& relation = all_[number];
  if (relation.done) return true;
  // A relation that makes a copy may run the queue: a relation woken during its own attempt is retried.
  relation.again = relation.running;
  if (relation.running) return false;
  uint32_t outer = std::exchange(context_.declaration, relation.declaration);
  relation.running = true;
  do {
    relation.again = false;
    unifier_.observe();
    relation.done = relation.attempt();
    relation.waits_for = unifier_.observed();
  } while (!relation.done && relation.again);
  relation.running = false;
  context_.declaration = outer;
  if (relation.done)
    relation.attempt = nullptr;
  else
    for (Unknown u : relation.waits_for) unifier_.watch(u, static_cast<uint32_t>(number));
  return relation.done;
}

void Relations::run() {
  for (auto woken = unifier_.take_woken(); !woken.empty(); woken = unifier_.take_woken())
    for (uint32_t number : woken) attempt(number);
}

bool Relations::has_waiting() const {
  return std::ranges::any_of(all_, [](const Relation& relation) { return !relation.done; });
}

std::set<Unknown> Relations::awaiting_literals() {
  std::set<Unknown> awaiting;
  for (const Relation& relation : all_) {
    if (relation.done) continue;
    auto* call = as<OperatorCallDraft>(relation.draft);
    if (!call) continue;
    bool is_open = false;
    std::vector<Unknown> literals;
    for (Type operand : call->call.tensors)
      for (Unknown u : unifier_.unknowns(operand)) {
        if (unifier_.is_literal(u))
          literals.push_back(u);
        else
          is_open |= u.kind != Unknown::Kind::Dim;
      }
    if (is_open) awaiting.insert(literals.begin(), literals.end());
  }
  return awaiting;
}

}  // namespace quern
