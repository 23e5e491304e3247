#pragma once
// Drafts: the result of the walk over syntax. A draft is a value whose type may have unknowns. Each construct
// that waits for its type has its own kind, with what is needed to continue once the type is known. One that
// waits for nothing is a form: a node of the typed IR whose children are drafts. Finishing turns drafts into
// nodes of the typed IR.

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "frontend/signature/signature.h"
#include "frontend/syntax/literals.h"
#include "ir/expr/expr.h"
#include "ir/io/data_files.h"

namespace quern {

enum class DraftKind : uint8_t {
  Form,
  Literal,
  OperatorCall,
  Projection,
  RecordField,
  Slice,
  IndexExpression,
  GeneralUse,
  Load,
  Derivative,
  Assertion,
  Waiting,
  Error,
};

struct Draft {
  DraftKind kind;
  Type type;
  Origin origin;
  Draft* replacement = nullptr;               ///< replaces it once its type is known
  std::span<const DimCondition> checks = {};  ///< on its value, before it is used
};
using DraftPtr = Draft*;
using DraftSpan = std::span<const DraftPtr>;

/// A node of the typed IR without its children, and their drafts in the order of its table
/// (ir/expr/fields.h): for a binding or an arm, its expression. An absent child is null.
struct FormDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Form;
  Expr* node;
  DraftSpan children;
};
/// A number, or a tensor of numbers in row-major order.
struct LiteralDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Literal;
  using Element = std::pair<NumberLiteral, SyntaxPtr>;
  std::span<const Element> elements;
  bool is_bool;
};
/// A call of an operator, or of a definition called by signature.
struct OperatorCallDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::OperatorCall;
  /// For a constraint of a type scheme: what needs it.
  struct Need {
    std::string name;  ///< of the polymorphic function; empty for a call in the text
    Origin stated;     ///< the call inside it that needs the constraint
    size_t use = 0;    ///< the use that instantiates the constraint
  };
  const Declaration* op;
  std::vector<DraftPtr> args;
  SignatureCall call;
  Need need = {};
  SignatureBinding binding = {};
  bool matched = false;
  bool open = false;     ///< matched before all dims and dtypes were known
  bool assumed = false;  ///< discharged at uses of the function: a constraint of its scheme
};
/// Field `index` of a potential tuple.
struct ProjectionDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Projection;
  DraftPtr tuple;
  uint32_t index;
};
/// `record.name`.
struct RecordFieldDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::RecordField;
  DraftPtr record;
  std::string_view name;
};
/// `%x[…]`, with the positions that are computed at run time, by child index; null for the others.
struct SliceDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Slice;
  DraftPtr tensor;
  DraftSpan computed;
};
/// A variable of an index expression that stands for a tensor it reads.
struct IndexOperand {
  SyntaxPtr at;
  DraftPtr tensor;
  const VarExpr* read = nullptr;
};
/// An index expression in typed IR, except for its operands. Null while it waits for their types.
struct IndexDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::IndexExpression;
  std::span<IndexOperand> operands;
  ExprPtr expression = nullptr;
};
/// A use of a function that is specialised per rank and dtype.
struct GeneralUseDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::GeneralUse;
};
struct LoadDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Load;
  // As in the intrinsic.
  DraftSpan args;
  std::span<const std::string_view> texts;

  std::string_view entry() const { return texts.back(); }
  /// The file's name; nothing where values stand in it.
  std::optional<std::string_view> path() const {
    return args.size() == 2 && !args[0] ? std::optional(texts[0]) : std::nullopt;
  }
  /// Whether the entry is the vocabulary's file.
  bool is_of_tokens() const {
    return !entry().empty() && !args[args.size() - 2] && is_text_file(texts[texts.size() - 2]);
  }
};
/// `grad(f)`, `vmap(f)` and the like.
struct DerivativeDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Derivative;
  IntrinsicKind intrinsic;
  DraftPtr function;
};
/// `assert_close(…)` and `assert_equal(…)`; `tolerances` as in the intrinsic.
struct AssertionDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Assertion;
  DraftPtr value, expected;
  std::span<const std::string_view> tolerances;
};
/// `map_leaves(…)`, `fold_leaves(…)` and `scan_over(…)`: what they stand for depends on types.
struct WaitingDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Waiting;
};
/// An expression with a diagnostic.
struct ErrorDraft : Draft {
  static constexpr DraftKind kKind = DraftKind::Error;
};

template <std::derived_from<Draft> T>
T* as(DraftPtr draft) {
  return draft && draft->kind == T::kKind ? static_cast<T*>(draft) : nullptr;
}
/// The node of a form of this kind; null for other drafts.
template <std::derived_from<Expr> Node>
Node* form_of(DraftPtr draft) {
  auto* form = as<FormDraft>(draft);
  return form && form->node->kind == Node::kKind ? static_cast<Node*>(form->node) : nullptr;
}
/// Whether evaluating it again is the same function, at no cost.
inline bool names_function(DraftPtr function) {
  return form_of<FnExpr>(function) || form_of<VarExpr>(function) || form_of<GlobalExpr>(function) ||
         function->kind == DraftKind::GeneralUse;
}
inline DraftPtr child_of(DraftPtr form, size_t i) { return as<FormDraft>(form)->children[i]; }

/// A binding of a block: a variable, or null, and its value.
struct DraftBinding {
  const Variable* variable;
  DraftPtr value;
};

/// Owns the drafts of one inference and their parts.
class Drafts {
 public:
  DraftPtr error(Origin origin, Type type = error_type()) { return make<ErrorDraft>(origin, type); }
  template <class Node>
  DraftPtr form(Origin origin, Type type, Node node, DraftSpan children) {
    node.kind = Node::kKind;
    return arena_.make<FormDraft>(Draft{DraftKind::Form, type, origin}, arena_.make<Node>(std::move(node)),
                                  arena_.copy(children));
  }
  template <class Node>
  DraftPtr form(Origin origin, Type type, Node node, std::initializer_list<DraftPtr> children = {}) {
    return form(origin, type, std::move(node), DraftSpan(children.begin(), children.size()));
  }
  template <std::derived_from<Draft> T, class... Fields>
  T* make(Origin origin, Type type, Fields&&... fields) {
    return arena_.make<T>(Draft{T::kKind, type, origin}, std::forward<Fields>(fields)...);
  }

  DraftPtr read(Origin origin, const Variable* variable, Type type) {
    return form(origin, type, VarExpr{.variable = variable});
  }
  /// The placeholder for a tensor of a known type in an index expression.
  const VarExpr* operand(DraftPtr tensor, Type type);
  DraftPtr call(Origin origin, Type type, DraftPtr callee, DraftSpan args);
  IndexDraft* index(Origin origin, Type type, const std::vector<IndexOperand>& operands,
                    ExprPtr expression = nullptr);
  DraftPtr tuple(Origin origin, DraftSpan fields);
  /// The bindings in order, then the result.
  DraftPtr block(Origin origin, std::span<const DraftBinding> bindings, DraftPtr result);
  Variable* variable(std::string_view name, Type type, bool graph = false);
  void check(DraftPtr draft, const DimCondition& condition);

  template <class T>
  auto copy(const T& items) {
    return arena_.copy(items);
  }
  Arena& arena() { return arena_; }

 private:
  Arena arena_;
};

}  // namespace quern
