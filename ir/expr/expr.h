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

/// What is the same for all nodes of a kind; columns of ir/expr/nodes.def.
struct KindFacts {
  enum class Level : uint8_t { Graph, Element, Both } level;
  enum class Operands : uint8_t { All, None, Own } operands;
  enum class Fusion : uint8_t { Opaque, Parts } fusion;
};
constexpr KindFacts facts(ExprKind kind) {
  constexpr KindFacts kFacts[] = {
#define QUERN_NODE(kind, level, operands, effects, fusion) \
  {KindFacts::Level::level, KindFacts::Operands::operands, KindFacts::Fusion::fusion},
#include "ir/expr/nodes.def"
#undef QUERN_NODE
  };
  return kFacts[static_cast<size_t>(kind)];
}

struct Expr {
  ExprKind kind;
  Type type;
  Origin origin;
};
using ExprPtr = const Expr*;

/// A parameter, a `let` or a graph binding. Identity is the pointer; the name is for people.
struct Variable {
  std::string_view name;
  Type type;
  uint32_t id;         ///< unique within the process, for printing shadowed names and for stable orders
  bool graph = false;  ///< bound as `%n = …`
};

struct FnExpr;

/// An operator's definition at given ranks, dtypes and attribute values: a function over tensors whose dims
/// are its own variables, with an index expression (or, for composites, a graph) as body.
struct OpInstance {
  std::string name;  ///< as called: "nn.conv2d"
  std::string key;   ///< name, ranks, dtypes, attribute values
  std::vector<std::pair<std::string, StaticValue>>
      attributes;                    ///< those that differ from their defaults, as printed
  std::vector<Dim> dim_vars;         ///< the first are bound by OpCallExpr::dims, the others inside the body
  const FnExpr* function = nullptr;  ///< null when the definition had errors, and where it is asked for late
  /// Whether the operator may still be edited: its definition is asked for when it is needed
  /// (FunctionSource::instance), so that who calls it does not depend on its body.
  bool late = false;
  std::shared_ptr<const Arena> arena;
  uint32_t declaration = 0;  ///< of the operator, where it has one
};

/// A schedule that a program states, and where: of the clause, of each step, and in each step of the words in
/// it (the names that it makes, then those that it takes).
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
/// types that this use instantiates it to.
struct GlobalExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Global;
  std::string_view name;
  std::span<const Dim> dims;    ///< one per Scheme::dim_vars
  std::span<const Type> types;  ///< one per Scheme::type_vars
  uint32_t module = 0;          ///< of the session: where the name was written
};
struct OpCallExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::OpCall;
  const OpInstance* instance;
  std::span<const Dim> dims;  ///< what the instance's dim_vars are here
  std::span<const ExprPtr> args;
  const ScheduleClause* schedule = nullptr;  ///< in the place of the operator's own
};
struct CallExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Call;
  ExprPtr callee;
  std::span<const ExprPtr> args;
};
/// What a Relay file notes at a function (`Primitive=1`, `hash="…"`): kept and printed, without a meaning.
struct FnAttribute {
  std::string_view name, value;  ///< the value as written
};
/// A function. `dim_vars` are the dims it is general in, bound from its arguments' shapes on entry. A
/// primitive function is one kernel: closed but for its parameters, its body a Comprehension, or a block of
/// them that share their rows (passes/row_group.h).
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
/// Bindings in order, each visible after it (a function literal also in itself), then the result. Never
/// nested deeper for a longer chain of lets.
struct BlockExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Block;
  std::span<const Binding> bindings;
  ExprPtr result;
};
/// Only the chosen arm is evaluated. In index expressions this is a lazy select.
struct IfExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::If;
  ExprPtr condition, then_arm, else_arm;
};
/// What a value is compared with. Constructor: the value is of this constructor and its fields match the
/// parts; Tuple: its fields match the parts; Variable: always, and the value gets a name.
enum class PatternKind : uint8_t { Wildcard, Variable, Constructor, Tuple };
struct Pattern {
  PatternKind kind;
  Type type;  ///< of the values that it is compared with
  Origin origin;
  const Variable* variable = nullptr;
  const Constructor* constructor = nullptr;
  std::string_view name =
      {};  ///< of the constructor as written: an imported one has the import's name before
  std::span<const Pattern* const> parts = {};
};
using PatternPtr = const Pattern*;
struct MatchArm {
  PatternPtr pattern;
  ExprPtr body;
  friend bool operator==(const MatchArm&, const MatchArm&) = default;
};
/// The body of the first arm whose pattern matches. With `partial` (`match?`) there may be none: evaluation
/// fails then.
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
  std::string_view
      name;  ///< as written: that of an imported constructor has the import's name before its own
  std::span<const ExprPtr> fields;
};
/// A new reference that holds a value, what it holds now, and giving it another value (whose value is `()`).
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
  /// args: values, null for a label; texts: one per argument, the label, of a value in a format string `:` and
  /// its format (`:8.3f`, ir/value/value_style.h), of another one nothing. They stand at each other: blanks
  /// between arguments are labels.
  Print,
  Load,    ///< texts: path, entry name or ""; the type says what to expect
  Save,    ///< texts: path; args[0]: a tensor, tuple or record
  Assert,  ///< args: a value and what it has to be; texts: rtol and atol, none where it has to be equal
  Clock,   ///< seconds since some point in time, float64
  // args: a function. Passes put a function in the place of the first four.
  Gradient,  ///< of the same parameters: their gradients, each in its parameter's structure, as a tuple
  ValueAndGradient,  ///< of the same parameters: the pair of the function's result and the gradients
  VectorJacobian,    ///< of the parameters and a cotangent of the result: the pair of the result and the
                     ///< gradients
  JacobianVector,    ///< of the parameters and a tangent of each: the pair of the result and its tangent
  Checkpoint,        ///< the function itself; its gradient computes again what it needs of it
  StopGradient,      ///< args: a value, which passes nothing on
  /// args: a value, a function of its cotangent (and perhaps of the value), and what the value depends on.
  /// The function gives the gradient of what it depends on, a tuple of them where that are several.
  WithGradient,
};
/// As called: "print". An assertion is `assert_close`, `with_gradient` a clause of a declaration.
std::string_view to_string(IntrinsicKind kind);
/// Whether it is a function made of a function by differentiation.
constexpr bool is_derivative(IntrinsicKind kind) {
  return kind >= IntrinsicKind::Gradient && kind <= IntrinsicKind::JacobianVector;
}
struct IntrinsicExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Intrinsic;
  IntrinsicKind intrinsic;
  std::span<const ExprPtr> args;
  std::span<const std::string_view> texts;
};

/// What has to hold of two dims.
enum class DimRelation : uint8_t {
  Equal,
  NotEqual,
  LessEqual,
  Broadcast,  ///< equal, or one of them is 1
};
struct DimCondition {
  DimRelation relation;
  Dim left, right;
  /// What is said where it does not hold, the values of the two sides in the place of its two `{}`: passes
  /// write dims for others, this names them as the source does.
  std::string_view message;
  Origin origin;  ///< of the expression that needs it
  Origin source;  ///< where what is expected comes from; its declaration is 0 where nothing says
};
/// The value of `value`, a tensor or a tuple, once its shape is that of this node's type and the conditions
/// hold; otherwise evaluation fails. The `opened` dims are bound here, from the shape: each stands where the
/// type of `value` has a `?`. They are in scope from here to the end of the function (as if a `match_cast` of
/// Lai et al. 2023, Relax).
struct CheckDimsExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::CheckDims;
  ExprPtr value;
  std::span<const Dim> opened;
  std::span<const DimCondition> conditions;
};

class ExternAttributes;
/// A call of a kernel in C++ (ir/extern/kernels.h); it stands in the definition of an `extern op` alone.
struct ExternExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Extern;
  std::string_view kernel;
  const ExternAttributes* attributes;  ///< in the arena of the operator's instance
  std::span<const ExprPtr> args;
};

/// `[i < m, j < n] => body`: a tensor whose element at (i, j) is the body. `extents` equal the type's dims.
/// With a schedule it is a kernel by itself, whose loops run as that says (ir/expr/scheduled.h).
struct ComprehensionExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Comprehension;
  std::span<const Dim> vars;
  std::span<const Dim> extents;
  ExprPtr body;
  const ScheduleClause* schedule = nullptr;
  std::span<const ExprPtr> scheduled = {};  ///< the tensors that it names, in the order of loops::tensors_of
};
/// The row-major elements of `tensor` under this node's shape.
struct ViewExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::View;
  ExprPtr tensor;
};
/// A dim over dimension and index variables, as a value of dtype index.
struct DimValueExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::DimValue;
  Dim dim;
};
/// A scalar function on single elements; with `is_cast` the conversion of args[0] to this node's dtype.
struct ScalarExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Scalar;
  ScalarOp op;
  bool is_cast;
  std::span<const ExprPtr> args;
};
/// A reduction over index variables; ArgMax and ArgMin give the row-major position among `extents` as index.
struct ReduceExpr : Expr {
  static constexpr ExprKind kKind = ExprKind::Reduce;
  ReduceKind reduce;
  std::span<const Dim> vars;
  std::span<const Dim> extents;
  ExprPtr body;
};
/// `scan[k < i] op body` and `scan[k <= i] op body`: the running result of an operation, up to position i of
/// an index variable of the enclosing comprehension (`vars` is k alone, `extents` i or i + 1). Its value is
/// that of the reduction over k in order; the form says that all positions of i share one pass.
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
/// How an element that is there takes a further value; nothing for Set.
std::optional<ScalarOp> scatter_op(ScatterKind kind);

/// `scatter[m < M] init at (idx) op= value`, the whole body of a comprehension: its tensor is `init` at each
/// point first; then, at each point of `vars` in row-major order, the element at `indices` becomes `value` or
/// takes it in. `init` is over the comprehension's index variables, `indices` and `value` are over `vars`.
/// `checked` is as in a Read.
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
/// k must be tested at run time: outside the bounds the value is `otherwise`, and without one evaluation
/// stops with a diagnostic.
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

/// Calls `f` with the node as its own struct; a kind that `f` does not take does not compile.
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
/// The node with each direct child replaced by f(child), in evaluation order; the node itself where none
/// changed.
ExprPtr map_children(Arena& arena, ExprPtr expr, const std::function<ExprPtr(ExprPtr)>& f);

/// The expression with variables, dims and types replaced, and every binder inside renewed (new Variables and
/// new index variables), so that the copy can stand beside or inside the original.
struct ExprSubstitution {
  std::unordered_map<const Variable*, ExprPtr> variables;
  Substitution types;
  const Origin* call = nullptr;  ///< the call whose place the copy takes, for the origins of its nodes
};
ExprPtr substitute(Arena& arena, ExprPtr expr, const ExprSubstitution& substitution);

/// A new variable in the arena.
const Variable* make_variable(Arena& arena, std::string_view name, Type type, bool graph = false);
uint32_t next_variable_id();

/// Calls `f` with each variable that the pattern binds, from left to right.
void for_each_variable(PatternPtr pattern, const std::function<void(const Variable*)>& f);
/// A copy of the pattern in the arena with other variables and types.
PatternPtr map_pattern(Arena& arena, PatternPtr pattern,
                       const std::function<const Variable*(const Variable*)>& variable,
                       const std::function<Type(Type)>& type);

/// Variables that occur free, each once, in order of first occurrence.
std::vector<const Variable*> free_variables(ExprPtr expr);

/// A typed definition: what inference makes of a `def` or a statement.
struct Definition {
  std::string name;
  Scheme scheme;
  ExprPtr body = nullptr;  ///< an FnExpr for a def; any expression for a statement
  std::shared_ptr<const Arena> arena;
};

/// Where evaluation finds top-level functions; supplied by the session.
class FunctionSource {
 public:
  virtual ~FunctionSource() = default;
  /// The typed definition of @name as a module sees it (general in its scheme's variables), or null when it
  /// has errors.
  virtual const Definition* function(uint32_t module, std::string_view name) = 0;
  /// The definition of the statement that binds a variable of the top level to a function; null where there
  /// is none.
  virtual const Definition* bound(const Variable*) { return nullptr; }
  /// An instance with its definition; its `function` is null when that has errors. Its dim_vars stand for
  /// those of `called`, one by one.
  virtual std::shared_ptr<const OpInstance> instance(const OpInstance& called) {
    return {std::shared_ptr<const void>(), &called};
  }
};

}  // namespace quern
