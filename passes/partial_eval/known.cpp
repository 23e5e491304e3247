#include "passes/partial_eval/known.h"

namespace quern::partial {

std::vector<Value*> Store::written_since(Mark mark) const {
  std::vector<Value*> cells;
  for (size_t i = mark.changes; i < changes_.size(); ++i)
    if (changes_[i].value->kind == Value::Kind::Cell && changes_[i].content != changes_[i].value->content)
      cells.push_back(changes_[i].value);
  return cells;
}

void Store::undo(Mark mark) {
  while (changes_.size() > mark.changes) {
    const Change& change = changes_.back();
    change.value->atom = change.atom;
    change.value->content = change.content;
    change.value->epoch = change.epoch;
    changes_.pop_back();
  }
  epoch_ = mark.epoch;
}

}  // namespace quern::partial
