#pragma once
// What is known of values while a program is specialised: "partially static" values and a store of which
// parts are simulated (Roesch 2020, section 4.0.3).

#include <deque>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"

namespace quern::partial {

struct Frame;

/// A value. What has no name yet does not exist in the residual program: a tuple whose fields alone are read,
/// a function that is called where it is known, a reference that never leaves what is known.
struct Value {
  enum class Kind : uint8_t {
    Dynamic,    ///< nothing is known but its name, which may be a constant
    Structure,  ///< a tuple, or a constructor's value
    Closure,
    Cell,  ///< a reference
  };
  Kind kind;
  Type type;
  Origin origin;
  ExprPtr atom = nullptr;  ///< its name in the residual program, in the block that is open
  // Structure
  const Constructor* constructor = nullptr;  ///< null: a tuple
  std::string_view name = {};                ///< of the constructor, as written; of the function
  std::vector<Value*> parts = {};
  // Closure
  const FnExpr* fn = nullptr;
  Frame* frame = nullptr;
  bool is_open = false;  ///< its residual function is being made, so a call of it stays
  // Cell
  Value* content = nullptr;  ///< null: unknown
  Value* initial = nullptr;
  uint64_t epoch = 0;  ///< in which the content of a named cell is known
};

/// One evaluation of a function's body.
struct Frame {
  Frame* outer;
  Substitution at;  ///< the dims and types of this evaluation, those of the outer frames among them
  std::optional<Origin> call;  ///< that is unfolded
  std::unordered_map<const Variable*, Value*> values = {};

  Value* find(const Variable* variable) const {
    for (const Frame* frame = this; frame; frame = frame->outer)
      if (auto known = frame->values.find(variable); known != frame->values.end()) return known->second;
    return nullptr;
  }
};

/// Owns values and frames, and takes changes back: what happens in an arm of a dynamic `if`, or in the body
/// of a residual function, has not happened after it.
class Store {
 public:
  struct Mark {
    size_t changes;
    uint64_t epoch;
  };

  Value* make(Value value) { return &values_.emplace_back(std::move(value)); }
  Frame* frame(Frame* outer, Substitution at, std::optional<Origin> call) {
    return &frames_.emplace_back(Frame{outer, std::move(at), call});
  }

  void set_atom(Value* value, ExprPtr atom) {
    record(value);
    value->atom = atom;
  }
  /// The content of a cell; null if it is not known.
  Value* content(const Value* cell) const {
    return cell->atom && cell->epoch != epoch_ ? nullptr : cell->content;
  }
  void set_content(Value* cell, Value* content) {
    record(cell);
    cell->content = content;
    cell->epoch = epoch_;
  }
  /// Code ran that may have written to every cell with a name.
  void forget() { epoch_ = ++last_epoch_; }

  Mark mark() const { return {changes_.size(), epoch_}; }
  /// The cells written since; whether any named one may have been.
  std::vector<Value*> written_since(Mark mark) const;
  bool forgot_since(Mark mark) const { return epoch_ != mark.epoch; }
  void undo(Mark mark);

 private:
  struct Change {
    Value* value;
    ExprPtr atom;
    Value* content;
    uint64_t epoch;
  };
  void record(Value* value) { changes_.push_back({value, value->atom, value->content, value->epoch}); }

  std::deque<Value> values_;
  std::deque<Frame> frames_;
  std::vector<Change> changes_;
  uint64_t epoch_ = 0, last_epoch_ = 0;
};

}  // namespace quern::partial
