#pragma once
// The typed IR: one level for graphs and index expressions. Nodes are immutable, owned by an arena, and carry
// their type and their origin (declaration and syntax node), never a position.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/arena.h"
#include "ir/base/origin.h"
#include "ir/dim/dim.h"
#include "ir/expr/schedule.h"
#include "ir/type/scheme.h"
#include "ir/type/static_value.h"
#include "ir/type/type.h"
#include "ir/value/scalar.h"
#include "ir/value/tensor.h"

namespace quern {

enum class ExprKind : uint8_t {
#define QUERN_NODE(kind, ...) kind,
#include "ir/expr/nodes.def"
#undef QUERN_NODE
};

/// Properties shared by all nodes of a kind; columns of ir/expr/nodes.def.
struct KindFacts {
  enum class Level : uint8_t { Graph, Element, Both } level;
  enum class Operands : uint8_t { All, None, Own } operands;
  enum class Fusion : uint8_t { Opaque, Parts } fusion;
  enum class Derivative : uint8_t { Tensors, Lifted, Parts, Elements, None } derivative;

  constexpr bool has_rule(Derivative of) const { return derivative == of || derivative == Derivative::Parts; }
};
constexpr KindFacts facts(ExprKind kind) {
  constexpr KindFacts kFacts[] = {
#define QUERN_NODE(kind, level, operands, effects, fusion, derivative)                \
  {KindFacts::Level::level, KindFacts::Operands::operands, KindFacts::Fusion::fusion, \
   KindFacts::Derivative::derivative},
#include "ir/expr/nodes.def"
#undef QUERN_NODE
  };
  return kFacts[static_cast<size_t>(kind)];
}

/// A node of a kind that no index expression holds. A visitor with an overload for these needs one for each
/// other kind.
template <class Node>
concept GraphNode = (facts(Node::kKind).level == KindFacts::Level::Graph);
/// A node of a kind without such rules of derivatives.
template <class Node, KindFacts::Derivative rules>
concept NodeWithout = (!facts(Node::kKind).has_rule(rules));

struct Expr {
  ExprKind kind;
  Type type;
  Origin origin;
};
using ExprPtr = const Expr*;

/// A parameter, a `let` or a graph binding. Identity is the pointer; the name is for display.
struct Variable {
  std::string_view name;
  Type type;
  uint32_t id;         ///< unique within the process, for printing shadowed names and for stable ordering
  bool graph = false;  ///< bound as `%n = …`
  /// A kernel's parameter whose argument is another tensor at each call: what is prepacked of it serves one call.
  bool fresh = false;
};

struct FnExpr;

/// An operator's definition at given ranks, dtypes and attribute values: a function over tensors whose dims
/// are its own variables; its body is an index expression or, for composites, a graph.
struct OpInstance {
  std::string name;  ///< as called: "nn.conv2d"
  std::string key;   ///< name, ranks, dtypes, attribute values
  std::vector<std::pair<std::string, StaticValue>>
      attributes;                    ///< those that differ from their defaults, as printed
  std::vector<Dim> dim_vars;         ///< OpCallExpr::dims binds the first ones, the body binds the rest
  const FnExpr* function = nullptr;  ///< null if the definition had errors, and if it is resolved late
  /// Whether the operator may still be edited: its definition is fetched when needed
  /// (FunctionSource::instance), so that callers do not depend on its body.
  bool late = false;
  std::shared_ptr<const Arena> arena;
  uint32_t declaration = 0;                                     ///< of the operator, if it has one
  std::vector<std::pair<std::string, StaticValue>> known = {};  ///< all attributes and statics
};

/// A schedule stated in the program, with the origins of the clause, of each step, and of the words in each
/// step (the names that it makes, then those that it takes).
struct ScheduleClause {
  struct StepOrigin {
    Origin step;
    std::vector<Origin> words;
  };
  loops::Schedule schedule;
  Origin origin;
  std::vector<StepOrigin> steps;
};

struct ConstExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Const;
  std::shared_ptr<const HostTensor> value;
};
struct VarExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Var;
  const Variable* variable;
};
/// A top-level definition `@f` (its name without the @, as the module `module` sees it), at the dims and
/// types of this use.
struct GlobalExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Global;
  std::string_view name;
  std::span<const Dim> dims;    ///< one per Scheme::dim_vars
  std::span<const Type> types;  ///< one per Scheme::type_vars
  uint32_t module = 0;          ///< the session's module in which the name was written
};
struct OpCallExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::OpCall;
  const OpInstance* instance;
  std::span<const Dim> dims;  ///< values of the instance's dim_vars
  std::span<const ExprPtr> args;
  const ScheduleClause* schedule = nullptr;  ///< overrides the operator's own
};
struct CallExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Call;
  ExprPtr callee;
  std::span<const ExprPtr> args;
};
/// A function attribute of a Relay file (`Primitive=1`, `hash="…"`): kept and printed, without effect.
struct FnAttribute {
  std::string_view name, value;  ///< the value as written
};
/// A function. It is polymorphic in `dim_vars`, which are bound from its arguments' shapes on entry. A
/// primitive function is one kernel: closed except for its parameters; its body is a Comprehension, or a
/// block of them that share their rows (passes/row_group.h).
struct FnExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Fn;
  std::span<const Variable* const> params;
  std::span<const Dim> dim_vars;
  ExprPtr body;
  bool primitive;
  std::span<const FnAttribute> attributes;
};
struct Binding {
  const Variable* variable;  ///< null for an expression evaluated for its effects: `a; b`
  ExprPtr value;
  friend bool operator==(const Binding&, const Binding&) = default;
};
/// Bindings in order, each visible after itself (a function literal also inside itself), then the result. A
/// longer chain of lets does not nest deeper.
struct BlockExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Block;
  std::span<const Binding> bindings;
  ExprPtr result;
};
/// Only the chosen arm is evaluated. In index expressions it is a lazy select.
struct IfExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::If;
  ExprPtr condition, then_arm, else_arm;
};
/// What a pattern matches. Constructor: a value of this constructor whose fields match the parts; Tuple: one
/// whose fields match the parts; Variable: any value, and binds it.
enum class PatternKind : uint8_t { Wildcard, Variable, Constructor, Tuple };
struct Pattern {
  PatternKind kind;
  Type type;  ///< of the values it is matched against
  Origin origin;
  const Variable* variable = nullptr;
  const Constructor* constructor = nullptr;
  std::string_view name =
      {};  ///< of the constructor as written: an imported one is prefixed by the import's name
  std::span<const Pattern* const> parts = {};
};
using PatternPtr = const Pattern*;
struct MatchArm {
  PatternPtr pattern;
  ExprPtr body;
  friend bool operator==(const MatchArm&, const MatchArm&) = default;
};
/// The body of the first arm whose pattern matches. With `partial` (`match?`) there may be none; then
/// evaluation fails.
struct MatchExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Match;
  ExprPtr scrutinee;
  std::span<const MatchArm> arms;
  bool partial;
};
struct TupleExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Tuple;
  std::span<const ExprPtr> fields;
};
/// Field `index` of a tuple or of a value with one constructor; `name` is the record field's name or empty.
struct FieldExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Field;
  ExprPtr tuple;
  uint32_t index;
  std::string_view name;
};
struct ConstructExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Construct;
  const Constructor* constructor;
  std::string_view name;  ///< as written: an imported constructor's is prefixed by the import's name
  std::span<const ExprPtr> fields;
};
/// Creates a reference that holds a value; reads its content; replaces its content (and yields `()`).
struct RefExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Ref;
  ExprPtr content;
};
struct RefReadExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::RefRead;
  ExprPtr reference;
};
struct RefWriteExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::RefWrite;
  ExprPtr reference, content;
};

enum class IntrinsicKind : uint8_t {
  /// args: values, null for a label; texts: one per argument: a label; for a value in a format string `:` and
  /// its format (`:8.3f`, ir/value/value_style.h); empty for other values. They are printed without
  /// separators: blanks between arguments are labels.
  Print,
  // A file's name is as Print has a line, of values of rank 0; one arg and one text follow it.
  Load,  ///< a file's name; null, and the entry's name or ""; for text the vocabulary's file or "". The type is
         ///< the expected one
  Save,      ///< a file's name; a tensor, tuple or record, and for text the vocabulary's file, or ""
  Assert,    ///< args: actual and expected value; texts: rtol and atol, none for exact equality
  Clock,     ///< seconds since an arbitrary point in time, float64
  Restore,   ///< a file's name; the value where there is no such file, and ""
  NextKey,   ///< the next of the run's random keys, Tensor[(10,), uint64]
  Progress,  ///< args: done and of, int32; then as Print
  /// args: a value; texts: the name of the device that computes it, and of the one whose memory it is in for its uses; "" is
  /// whatever suits what is around (Roesch 2020, 5.4.2: `on_device` gives the first, `device_copy` both).
  ToDevice,
  /// args: `fn (carry, row) -> (carry, row of the result)`, the first carry, and tensors whose leading axes are
  /// equal: calls the function with each row (ir/type/row_types.h), from the first to the last;
  /// from the last to the first with the text "reverse". The pair of the last carry and the rows of the results.
  ScanOver,
  // args: a function. Passes replace the first five by a function.
  Gradient,  ///< of the same parameters: their gradients, each in its parameter's structure, as a tuple
  ValueAndGradient,  ///< of the same parameters: the pair of the function's result and the gradients
  VectorJacobian,    ///< of the parameters and a cotangent of the result: the pair of the result and the
                     ///< gradients
  JacobianVector,    ///< of the parameters and a tangent of each: the pair of the result and its tangent
  Vmap,              ///< of tensors with a leading axis more: the results for their rows, as rows
  Checkpoint,        ///< the function itself; its gradient recomputes the values it needs
  Specialize,        ///< the function itself, partially evaluated
  StopGradient,      ///< args: a value; no cotangent flows through it
  /// args: a value, a function of its cotangent (and perhaps of the value), and the value's dependencies. The
  /// function returns the gradient of the dependency, or a tuple of them if there are several.
  WithGradient,
};
/// As called: "print". An assertion is `assert_close`, `with_gradient` a clause of a declaration.
std::string_view to_string(IntrinsicKind kind);
/// Whether it derives a function from a function.
constexpr bool is_derivative(IntrinsicKind kind) {
  return kind >= IntrinsicKind::Gradient && kind <= IntrinsicKind::Vmap;
}
struct IntrinsicExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Intrinsic;
  IntrinsicKind intrinsic;
  std::span<const ExprPtr> args;
  std::span<const std::string_view> texts;
};

/// A relation that two dims must satisfy.
enum class DimRelation : uint8_t {
  Equal,
  NotEqual,
  LessEqual,
  Broadcast,  ///< equal, or one of them is 1
};
struct DimCondition {
  DimRelation relation;
  Dim left, right;
  /// The failure message; its two `{}` are replaced by the values of the two sides. Passes substitute dims,
  /// so the message keeps their names in the source.
  std::string_view message;
  Origin origin;  ///< of the expression that needs it
  Origin source;  ///< where the expectation comes from; declaration 0 if unknown
};
/// The value of `value`, a tensor or a tuple, once its shape is that of this node's type and the conditions
/// hold; otherwise evaluation fails. It binds the `opened` dims from the shape: each stands where the type of
/// `value` has a `?`. They are in scope from here to the end of the function (like a `match_cast` in Lai et
/// al. 2023, Relax).
struct CheckDimsExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::CheckDims;
  ExprPtr value;
  std::span<const Dim> opened;
  std::span<const DimCondition> conditions;
};

class ExternAttributes;
/// A call of a C++ kernel (ir/extern/kernels.h); occurs only in the definition of an `extern op`.
struct ExternExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Extern;
  std::string_view kernel;
  const ExternAttributes* attributes;  ///< in the arena of the operator's instance
  std::span<const ExprPtr> args;
};

/// `[i < m, j < n] => body`: a tensor whose element at (i, j) is the body. `extents` equal the type's dims.
/// With a schedule it is a kernel of its own, whose loops follow it (ir/expr/scheduled.h).
struct ComprehensionExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Comprehension;
  std::span<const Dim> vars;
  std::span<const Dim> extents;
  ExprPtr body;
  const ScheduleClause* schedule = nullptr;
  std::span<const ExprPtr> scheduled = {};  ///< the tensors that the schedule names, in the order of
                                            ///< loops::tensors_of
};
/// The elements of `tensor`, in row-major order, under this node's shape.
struct ViewExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::View;
  ExprPtr tensor;
};
/// A dim over dimension and index variables, as a value of dtype index.
struct DimValueExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::DimValue;
  Dim dim;
};
/// A scalar function on single elements; with `is_cast`, conversion of args[0] to this node's dtype.
struct ScalarExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Scalar;
  ScalarOp op;
  bool is_cast;
  std::span<const ExprPtr> args;
};
/// A reduction over index variables; ArgMax and ArgMin yield the row-major position within `extents` as
/// index.
struct ReduceExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Reduce;
  ReduceKind reduce;
  std::span<const Dim> vars;
  std::span<const Dim> extents;
  ExprPtr body;
};
/// `scan[k < i] op body` and `scan[k <= i] op body`: the running result of an operation, up to position i of
/// an index variable of the enclosing comprehension (`vars` is k alone, `extents` i or i + 1). Its value is
/// that of the reduction over k in order; as a separate node it lets all positions of i share one pass.
struct ScanExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Scan;
  ReduceKind reduce;
  std::span<const Dim> vars;
  std::span<const Dim> extents;
  ExprPtr body;
};

enum class ScatterKind : uint8_t { Set, Add, Multiply, Max, Min };
/// `=`, `+=`, `*=`, `max=`, `min=`
std::string_view to_string(ScatterKind kind);
std::optional<ScatterKind> find_scatter_kind(std::string_view symbol);
/// How an existing element is combined with a further value; nothing for Set.
std::optional<ScalarOp> scatter_op(ScatterKind kind);

/// `scatter[m < M] init at (idx) op= value`, the whole body of a comprehension: its tensor starts as `init`
/// at each point; then, at each point of `vars` in row-major order, the element at `indices` is set to
/// `value` or combined with it. `init` is over the comprehension's index variables, `indices` and `value` are
/// over `vars`. `checked` is as in a Read.
struct ScatterExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Scatter;
  ScatterKind scatter;
  std::span<const Dim> vars;
  std::span<const Dim> extents;
  ExprPtr init;
  std::span<const ExprPtr> indices;
  std::span<const bool> checked;
  ExprPtr value;
};
/// One element of a tensor. Each index is a DimValue or a computed value of dtype index. `checked[k]`: index
/// k must be tested at run time: out of bounds the value is `otherwise`; without one, evaluation stops with a
/// diagnostic.
struct ReadExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Read;
  ExprPtr tensor;
  std::span<const ExprPtr> indices;
  std::span<const bool> checked;
  ExprPtr otherwise;  ///< or null
};
struct ErrorExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Error;
};

template <class T>
const T* as(ExprPtr expr) {
  return expr && expr->kind == T::kKind ? static_cast<const T*>(expr) : nullptr;
}

/// Calls `f` with the node as its own struct; a kind that `f` does not accept does not compile.
template <class F>
decltype(auto) visit(ExprPtr expr, F&& f) {
  switch (expr->kind) {
#define QUERN_NODE(kind, ...) \
  case ExprKind::kind:        \
    return f(*static_cast<const kind##Expr*>(expr));
#include "ir/expr/nodes.def"
#undef QUERN_NODE
  }
  std::abort();
}
template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

std::string_view to_string(ExprKind kind);

/// Calls `f` on each direct child, in evaluation order.
void for_each_child(ExprPtr expr, const std::function<void(ExprPtr)>& f);
/// The node with each direct child replaced by f(child), in evaluation order; the node itself if none
/// changed.
ExprPtr map_children(Arena& arena, ExprPtr expr, const std::function<ExprPtr(ExprPtr)>& f);

/// The expression with variables, dims and types replaced, and every binder inside renamed (new Variables and
/// new index variables), so that the copy may occur beside or inside the original.
struct ExprSubstitution {
  std::unordered_map<const Variable*, ExprPtr> variables;
  Substitution types;
  const Origin* call = nullptr;  ///< the call that the copy replaces, for the origins of its nodes
};
ExprPtr substitute(Arena& arena, ExprPtr expr, const ExprSubstitution& substitution);

/// A new variable in the arena.
const Variable* make_variable(Arena& arena, std::string_view name, Type type, bool graph = false,
                              bool fresh = false);
uint32_t next_variable_id();

/// Calls `f` with each variable that the pattern binds, from left to right.
void for_each_variable(PatternPtr pattern, const std::function<void(const Variable*)>& f);
/// A copy of the pattern in the arena with other variables and types.
PatternPtr map_pattern(Arena& arena, PatternPtr pattern,
                       const std::function<const Variable*(const Variable*)>& variable,
                       const std::function<Type(Type)>& type);

/// Variables that occur free, each once, in order of first occurrence.
std::vector<const Variable*> free_variables(ExprPtr expr);

/// A typed definition: the result of inference on a `def` or a statement.
struct Definition {
  std::string name;
  Scheme scheme;
  ExprPtr body = nullptr;  ///< an FnExpr for a def; any expression for a statement
  std::shared_ptr<const Arena> arena;
};

struct TypedConstructor {
  const Constructor* constructor;
  std::vector<Type> fields;
};

/// Supplies evaluation with top-level functions; implemented by the session.
class FunctionSource {
 public:
  virtual ~FunctionSource() = default;
  /// The typed definition of @name as a module sees it (polymorphic in its scheme's variables), or null if it
  /// has errors.
  virtual const Definition* function(uint32_t module, std::string_view name) = 0;
  /// The definition of the statement that binds a top-level variable to a function; null if there is none.
  virtual const Definition* bound(const Variable*) { return nullptr; }
  /// The constructors of a data type, by tag, as the module of `user` knows it; none for a type that it cannot
  /// name.
  virtual std::vector<TypedConstructor> constructors(Origin /*user*/, Type /*data*/) { return {}; }
  /// An instance with its definition; its `function` is null if that has errors. Its dim_vars correspond to
  /// those of `called`, one by one.
  virtual std::shared_ptr<const OpInstance> instance(const OpInstance& called) {
    return {std::shared_ptr<const void>(), &called};
  }
  /// The names of the devices besides the host. Marks of others mean nothing.
  virtual std::vector<std::string> devices() { return {}; }
};

}  // namespace quern
