#pragma once
// What evaluating an expression may do besides giving its value. Passes ask before they drop, move or copy an
// expression: evaluation is strict and from left to right, and no pass may be seen to change that.
//
// The effects of a function are those of its body. A parameter that is a function is called with an effect of
// its own, `Parameter`, in whose place a call of the function puts the effects of the functions that it is
// given (D. Lucassen and D. Gifford, Polymorphic effect systems, 1988, with sets in place of effect
// variables). A function that comes out of a data structure, a reference or a call may do anything.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

enum class Effect : uint8_t {
  NewReference = 1,
  ReadReference = 2,
  WriteReference = 4,
  Print = 8,
  File = 16,
  Fail = 32,        ///< stops the program, or does not end
  Clock = 64,       ///< reads the clock, so that what stands before it has to be done by then
  Parameter = 128,  ///< whatever the functions do that the function is given
};

class Effects {
 public:
  Effects() = default;
  Effects(Effect effect) : bits_(static_cast<uint8_t>(effect)) {}  // NOLINT
  static Effects all() { return Effects(uint8_t{255}); }

  bool none() const { return bits_ == 0; }
  bool has(Effect effect) const { return bits_ & static_cast<uint8_t>(effect); }
  Effects without(Effect effect) const {
    return Effects(static_cast<uint8_t>(bits_ & ~static_cast<uint8_t>(effect)));
  }
  Effects& operator|=(Effects other) {
    bits_ |= other.bits_;
    return *this;
  }
  friend bool operator==(Effects, Effects) = default;

  /// Whether what it does depends on what references hold, or changes that.
  bool uses_references() const { return has(Effect::ReadReference) || has(Effect::WriteReference); }
  /// Whether an expression may be left out where nobody uses its value.
  bool removable() const {
    return without(Effect::NewReference).without(Effect::ReadReference).without(Effect::Clock).none();
  }

 private:
  explicit Effects(uint8_t bits) : bits_(bits) {}
  uint8_t bits_ = 0;
};

/// "prints, may fail"; "none".
std::string to_string(Effects effects);

/// What evaluating the node may do, beside what its parts do.
Effects own_effects(ExprPtr expr);

/// Effects within one program. Definitions are looked at when something asks for them, each once.
class EffectAnalysis {
 public:
  explicit EffectAnalysis(FunctionSource& functions) : functions_(functions) {}

  /// Makes known what the variables in `root` are bound to: a call of a function that has a name has the
  /// effects of its body.
  void learn(ExprPtr root);
  /// Of evaluating the expression.
  Effects of(ExprPtr expr);
  /// Of calling the function.
  Effects of_call(const FnExpr& fn);

 private:
  /// A function that is called is in it with its effects but `Parameter`; one that is given to another that
  /// is called, with all.
  struct Edge {
    const FnExpr* to;
    bool called;
  };
  struct Summary {
    Effects effects;
    std::vector<Edge> edges;
    bool open = true;  ///< functions that it calls are still being looked at
  };
  enum class Known : uint8_t { Function, Parameter, Anything };
  struct Target {
    Known known;
    const FnExpr* function = nullptr;
  };

  void scan(ExprPtr root, Summary& summary);
  void scan_call(const CallExpr& call, Summary& summary);
  Target target(ExprPtr function);
  /// Summaries of what the edges lead to.
  void solve(const std::vector<Edge>& edges);
  Effects with_edges(const Summary& summary) const;

  FunctionSource& functions_;
  std::unordered_map<const Variable*, ExprPtr> bound_;  ///< null: a parameter
  std::unordered_map<const FnExpr*, Summary> summaries_;
  std::vector<std::shared_ptr<const Arena>> arenas_;  ///< of the definitions that were looked at
};

}  // namespace quern
