#pragma once
// What evaluating an expression may do besides yielding its value. Passes ask before they drop, move or copy
// an expression: evaluation is strict and left to right, and no pass may observably change that.
//
// The effects of a function are those of its body. Calling a function parameter has the special effect
// `Parameter`, which a call of the function replaces by the effects of the functions it passes (D. Lucassen
// and D. Gifford, Polymorphic effect systems, 1988, with sets instead of effect variables). A function taken
// from a data structure, a reference or a call may do anything.

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

enum class Effect : uint16_t {
  NewReference = 1,
  ReadReference = 2,
  WriteReference = 4,
  Print = 8,
  File = 16,
  Fail = 32,        ///< stops the program, or does not terminate
  Clock = 64,       ///< reads the clock, so everything before it must be done by then
  Parameter = 128,  ///< the effects of the functions passed as arguments
  Draw = 256,       ///< takes the next of the run's random keys
};

class Effects {
 public:
  Effects() = default;
  Effects(Effect effect) : bits_(static_cast<uint16_t>(effect)) {}  // NOLINT
  static Effects all() { return Effects(uint16_t{511}); }

  bool none() const { return bits_ == 0; }
  bool has(Effect effect) const { return bits_ & static_cast<uint16_t>(effect); }
  Effects without(Effect effect) const {
    return Effects(static_cast<uint16_t>(bits_ & ~static_cast<uint16_t>(effect)));
  }
  Effects& operator|=(Effects other) {
    bits_ |= other.bits_;
    return *this;
  }
  friend bool operator==(Effects, Effects) = default;

  /// Whether it depends on the contents of references, or changes them.
  bool uses_references() const { return has(Effect::ReadReference) || has(Effect::WriteReference); }
  /// Whether an expression may be dropped if its value is unused.
  bool removable() const {
    return without(Effect::NewReference).without(Effect::ReadReference).without(Effect::Clock).none();
  }

 private:
  explicit Effects(uint16_t bits) : bits_(bits) {}
  uint16_t bits_ = 0;
};

/// "prints, may fail"; "none".
std::string to_string(Effects effects);

/// What evaluating the node may do, besides what its parts do.
Effects own_effects(ExprPtr expr);

/// Effects within one program. Definitions are analysed on demand, each once.
class EffectAnalysis {
 public:
  explicit EffectAnalysis(FunctionSource& functions) : functions_(functions) {}

  /// Records what the variables in `root` are bound to, so that a call of a named function has the effects of
  /// its body.
  void learn(ExprPtr root);
  /// The effects of evaluating the expression.
  Effects of(ExprPtr expr);
  /// The effects of calling the function.
  Effects of_call(const FnExpr& fn);

 private:
  /// A called function contributes its effects except `Parameter`; one that is passed to a called function
  /// contributes all.
  struct Edge {
    const FnExpr* to;
    bool called;
  };
  struct Summary {
    Effects effects;
    std::vector<Edge> edges;
    bool open = true;  ///< functions that it calls are still being analysed
  };
  enum class Known : uint8_t { Function, Parameter, Anything };
  struct Target {
    Known known;
    const FnExpr* function = nullptr;
  };

  void scan(ExprPtr root, Summary& summary);
  void scan_call(const CallExpr& call, Summary& summary);
  Target target(ExprPtr function);
  /// Computes the summaries of the edges' targets.
  void solve(const std::vector<Edge>& edges);
  Effects with_edges(const Summary& summary) const;

  FunctionSource& functions_;
  std::unordered_map<const Variable*, ExprPtr> bound_;  ///< null: a parameter
  std::unordered_map<const FnExpr*, Summary> summaries_;
  std::vector<std::shared_ptr<const Arena>> arenas_;  ///< of the analysed definitions
};

}  // namespace quern
