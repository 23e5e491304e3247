#pragma once
// The parts of the printer: names, and the walk over expressions.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "frontend/print/printer.h"
#include "frontend/text/text_layout.h"
#include "ir/expr/expr.h"

namespace quern::printer_detail {

// --- names -----------------------------------------------------------------------------------------------

/// Distinct names for the entities in scope.
class NameTable {
 public:
  /// A name for `key` while it is in scope: the wanted one, or `wanted_1`, …; for a number, the next free
  /// one.
  const std::string& bind(const void* key, const std::string& wanted);
  const std::string* find(const void* key) const;
  void release(const void* key);

 private:
  struct Entry {
    std::string name, wanted;
    uint32_t suffix;
  };
  std::unordered_map<const void*, Entry> entries_;
  std::unordered_map<std::string, const void*> taken_;
  std::unordered_map<std::string, uint32_t> next_suffix_;  ///< the smallest that may be free
};

/// Names of variables and, in a separate table, of dims, index variables and type variables. An entity used
/// before being bound is free, and keeps its name to the end.
class Names {
 public:
  explicit Names(const PrintOptions& options)
      : spelling_(options.spelling), other_names_(options.other_names), slash_names_(options.slash_names) {}

  /// Its preferred name.
  std::string wanted(const Variable& variable) const;
  void bind(const Variable* variable) { bind(variable, variable); }
  /// Under the name of `as`, if there is one.
  void bind(const Variable* variable, const Variable* as) {
    locals_.bind(variable, wanted(as ? *as : *variable));
  }
  void bind(Dim var);
  void bind_type(Type var);
  /// Leaves a dim without a name: types show `_` for it.
  void leave_out(Dim var) { left_out_.insert(var); }
  /// Says that a dim is computed, so that it has the text of what computes it: `%k`.
  void mark_computed(Dim var) { spelled_.try_emplace(var); }
  void spell(Dim var, std::string text) { spelled_.insert_or_assign(var, std::move(text)); }
  bool is_computed(Dim dim) const;
  bool is_left_out(Dim var) const { return left_out_.contains(var); }
  void release(const Variable* variable) { locals_.release(variable); }
  void release(Dim var) { bare_.release(var); }
  void release_type(Type var) { bare_.release(var); }
  bool has_type(Type var) const { return bare_.find(var); }

  /// Without the sigil.
  const std::string& of(const Variable* variable);
  const std::string& of(Dim var);
  const std::string& of_type(Type var);
  /// The dim or type with every variable renamed to its name here.
  Dim renamed(Dim dim);
  Type renamed(Type type);

  /// Whether the file has a name for each data type in it.
  bool can_spell(Type type) const;

 private:
  Type qualified(Type type) const;

  NameTable locals_, bare_;
  Spelling* spelling_;
  const std::unordered_map<const Variable*, std::string>* other_names_;
  bool slash_names_;
  std::unordered_set<Dim> left_out_;
  std::unordered_map<Dim, std::string> spelled_;  ///< "" before the block that computes it
};

/// Bound as `%3 = …`.
bool is_numbered(const Variable& variable);

// --- expressions -----------------------------------------------------------------------------------------

/// Binding strength of a text, loosest first: the grammar's precedences.
enum class Level : uint8_t {
  Scheduled,  ///< ends with a schedule: only as a statement or between commas
  Open,       ///< a comprehension: extends as far right as possible
  Or,
  And,
  Not,
  Equality,
  Comparison,
  Sum,
  Reduction,
  Product,
  Unary,
  Primary,  ///< ends with a brace or is a list: postfix operators need parentheses
  Postfix,
};

/// Prints in steps, without recursion however deep an expression is: steps that a node's function queues are
/// printed after it returns, in queue order.
class Printer {
 public:
  explicit Printer(const PrintOptions& options, LineOrigins* origins = nullptr)
      : options_(options),
        names_(options),
        constants_(options.constants ? *options.constants : own_constants_),
        origins_(origins) {}

  std::string expression(ExprPtr expr);
  std::string definition(const Definition& definition);
  std::string statement(const Definition& definition, const StatementBinding& binding);
  std::string input(const Definition& input, const Variable& variable);

 private:
  struct Step {
    enum class Kind : uint8_t { Text, Line, HardLine, Open, Close, Indent, Dedent, At, Item, Run };
    Kind kind;
    Level level = Level::Open;
    ExprPtr expr = nullptr;
    std::string text = {};
    std::function<void()> run = {};
  };

  // The building blocks of nodes.
  void text(std::string text) { queue({Step::Kind::Text, {}, {}, std::move(text)}); }
  void line(std::string flat = " ") { queue({Step::Kind::Line, {}, {}, std::move(flat)}); }
  void hard_line() { queue({Step::Kind::HardLine}); }
  void open() { queue({Step::Kind::Open}); }
  void close() { queue({Step::Kind::Close}); }
  void indent() { queue({Step::Kind::Indent}); }
  void dedent() { queue({Step::Kind::Dedent}); }
  /// An expression, in parentheses unless it binds at least as tightly as `level`.
  void at(ExprPtr expr, Level level) { queue({Step::Kind::At, level, expr}); }
  /// An expression between commas. Comparisons get parentheses: `f(a < b, c > (d))` could be read as type
  /// arguments.
  void item(ExprPtr expr) { queue({Step::Kind::Item, {}, expr}); }
  /// An action performed in its turn; it may queue more steps.
  void run(std::function<void()> action) { queue({Step::Kind::Run, {}, {}, {}, std::move(action)}); }
  /// `(a, b)`, or one item per line if that is too long; `print_item` queues item i.
  void list(std::string open, size_t count, const std::function<void(size_t)>& print_item, std::string close);
  void list(std::string open, std::span<const ExprPtr> items, std::string close);
  /// A text with brackets and commas (a type, a shape), broken at these if it is too long.
  void bracketed(std::string_view text);

  void queue(Step step) { steps_.push_back(std::move(step)); }
  /// What is printed next is, or begins, an expression of this origin.
  void note(const Origin& origin);
  std::string rendered();
  void print_queued();
  void perform(const Step& step);
  /// Queues the node and returns its binding strength.
  Level node(ExprPtr expr);

#define QUERN_NODE(kind, ...) Level node(const kind##Expr& e);
#include "ir/expr/nodes.def"
#undef QUERN_NODE

  // graph level
  /// The context of an expression determines its type: constructors in it need no type arguments.
  void expected(ExprPtr expr) { expected_.insert(expr); }
  void expected_with(const Expr& around, ExprPtr expr) {
    if (expected_.contains(&around)) expected(expr);
  }
  /// Whether fields or the context determine each type parameter.
  bool tells_type(const ConstructExpr& e) const;
  std::string constructor_text(std::string_view name, Type type);
  void find_named(ExprPtr expr);
  /// The names of the dims in which a function is polymorphic. Dims that operators inside broadcast with
  /// others were inferred, since no parameter can express this, and are left out.
  std::vector<std::string> bind_general(std::span<const Dim> dims, const FnExpr& fn);
  std::string type_text(Type type);
  /// Whether it mentions a dim without a name in the text.
  bool forgets_dims(Type type);
  bool is_from_around(Type type, const FnExpr& fn);
  std::string annotation(Type type, std::string_view before);
  void signature(const std::string& head, const FnExpr& fn);
  void gradient_clause(const FnExpr& clause);
  /// The contents of braces: a block's statements, or the expression.
  void contents(ExprPtr expr);
  void braced(ExprPtr expr);
  void bindings(const BlockExpr& block, size_t from);
  void binding(const Binding& binding);
  bool is_annotated(const Variable& variable, ExprPtr value);
  /// The pattern variable whose `?` a binding opens, as reading the text does again; or null.
  static const Variable* opened_variable(const Binding& binding);
  std::optional<std::string> operand_text(ExprPtr expr);
  bool spells_extent(const Binding& binding);
  void mark_computed(const BlockExpr& block);
  std::string binding_head(const Variable& variable, ExprPtr value);
  void arm(const MatchArm& arm);
  /// Brings the variables into scope.
  std::string pattern_text(const Pattern& pattern, const std::function<std::string(const Variable*)>& name);
  std::string arm_pattern(const Pattern& pattern);
  std::string statement_pattern(const Pattern& pattern);
  /// `print("loss", %l)`, or `print("loss {%l:.4}")` if a format requires it.
  void printed(const IntrinsicExpr& e);
  /// `load`, `save` and `restore`
  void of_file(const IntrinsicExpr& e);
  /// A label or a value of it, as in a format string.
  std::string in_string(const IntrinsicExpr& print, size_t part);
  /// The text of an expression on a separate line, while others are being printed.
  std::string aside(ExprPtr expr);
  void attribute(const StaticValue& value, const DimMap& dims);
  /// A call with the attributes of an instance, at dims `dims`.
  void call(const std::string& head, std::span<const ExprPtr> args, const OpInstance& instance,
            std::span<const Dim> dims);

  // slice.cpp
  struct SliceItem {
    std::string text;
    ExprPtr computed;  ///< a computed position instead of a text
  };
  std::optional<std::vector<SliceItem>> slice_items(const ComprehensionExpr& e);
  void slice(const ReadExpr& e, const std::vector<SliceItem>& items);
  std::optional<std::string> position(Dim at, Dim extent);
  std::string list_text(ExprPtr list, Dim extent);
  std::optional<std::string> slice_text(Dim at, Dim var, Dim count, Dim extent);

  // index expressions
  std::string dim_text(Dim dim);
  /// Brings the variables into scope. `i < n, j < 4`
  std::string binders(std::span<const Dim> vars, std::span<const Dim> extents);
  /// The body after a head on its line, or indented below if it is too long.
  void body(std::string head, std::span<const Dim> vars, ExprPtr body, Level level);
  void schedule(const loops::Schedule& schedule);
  /// The schedule of an index expression, with the names of loops and tensors here.
  void own_schedule(const ComprehensionExpr& e);
  void nested_lists(const HostTensor& tensor, size_t axis, int64_t offset);

  PrintOptions options_;
  TextLayout layout_;
  std::vector<Step> steps_;  ///< a stack: the next step is last
  Names names_;
  ConstantPool own_constants_;
  ConstantPool& constants_;
  std::unordered_set<ExprPtr> expected_;
  std::unordered_map<Dim, std::string> bound_as_;  ///< names of index variables of scheduled index
                                                   ///< expressions
  int scheduled_depth_ = 0;                        ///< nesting depth of these
  int index_depth_ = 0;                            ///< nesting depth of index expression bodies
  std::unordered_map<const Variable*, const Variable*> opened_;  ///< the pattern variables that they
                                                                 ///< represent
  std::unordered_set<Dim> named_;                                ///< opened dims named in the text
  LineOrigins* origins_;                                         ///< null if nobody asks
  std::vector<size_t> noted_places_;                             ///< holes of the layout
  std::vector<Origin> noted_;
};

}  // namespace quern::printer_detail
