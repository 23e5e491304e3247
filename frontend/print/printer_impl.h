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

/// The names of what is in scope, each different from every other.
class NameTable {
 public:
  /// A name for `key` while it is in scope: the wanted one, or `wanted_1`, …; for a number the next one free.
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

/// Names of variables and, apart from them, of dims, index variables and type variables. What is met without
/// having been bound is free, and keeps its name to the end.
class Names {
 public:
  explicit Names(const PrintOptions& options)
      : spelling_(options.spelling), other_names_(options.other_names), slash_names_(options.slash_names) {}

  /// What it is called where that is free.
  std::string wanted(const Variable& variable) const;
  void bind(const Variable* variable) { bind(variable, variable); }
  /// Under the name of `as`, if there is one.
  void bind(const Variable* variable, const Variable* as) {
    locals_.bind(variable, wanted(as ? *as : *variable));
  }
  void bind(Dim var);
  void bind_type(Type var);
  /// A dim that has no name in the text: types have `_` for it.
  void leave_out(Dim var) { left_out_.insert(var); }
  bool is_left_out(Dim var) const { return left_out_.contains(var); }
  void release(const Variable* variable) { locals_.release(variable); }
  void release(Dim var) { bare_.release(var); }
  void release_type(Type var) { bare_.release(var); }
  bool has_type(Type var) const { return bare_.find(var); }

  /// Without the sigil.
  const std::string& of(const Variable* variable);
  const std::string& of(Dim var);
  const std::string& of_type(Type var);
  /// The dim or type with every variable under its name here.
  Dim renamed(Dim dim);
  Type renamed(Type type);

  /// Whether each data type in it has a name in the file.
  bool can_spell(Type type) const;

 private:
  Type qualified(Type type) const;

  NameTable locals_, bare_;
  Spelling* spelling_;
  const std::unordered_map<const Variable*, std::string>* other_names_;
  bool slash_names_;
  std::unordered_set<Dim> left_out_;
};

/// Bound as `%3 = …`.
bool is_numbered(const Variable& variable);

// --- expressions -----------------------------------------------------------------------------------------

/// How tightly a text holds together, loosest first: the grammar's precedences.
enum class Level : uint8_t {
  Scheduled,  ///< ends with a schedule: stands alone as a statement or between commas
  Open,       ///< a comprehension: reaches as far right as it can
  Or,
  And,
  Not,
  Equality,
  Comparison,
  Sum,
  Reduction,
  Product,
  Unary,
  Primary,  ///< ends with a brace or is a list: nothing can be applied to it as it stands
  Postfix,
};

/// Prints in steps, so that nothing recurses however deep an expression is: what a node's function queues is
/// printed after it returns, in the order in which it was queued.
class Printer {
 public:
  explicit Printer(const PrintOptions& options)
      : options_(options),
        names_(options),
        constants_(options.constants ? *options.constants : own_constants_) {}

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

  // What nodes are made of.
  void text(std::string text) { queue({Step::Kind::Text, {}, {}, std::move(text)}); }
  void line(std::string flat = " ") { queue({Step::Kind::Line, {}, {}, std::move(flat)}); }
  void hard_line() { queue({Step::Kind::HardLine}); }
  void open() { queue({Step::Kind::Open}); }
  void close() { queue({Step::Kind::Close}); }
  void indent() { queue({Step::Kind::Indent}); }
  void dedent() { queue({Step::Kind::Dedent}); }
  /// An expression, in parentheses unless it holds together at least as tightly as `level`.
  void at(ExprPtr expr, Level level) { queue({Step::Kind::At, level, expr}); }
  /// An expression between commas. Comparisons get parentheses: `f(a < b, c > (d))` could be read as type
  /// arguments.
  void item(ExprPtr expr) { queue({Step::Kind::Item, {}, expr}); }
  /// What is done in its turn: it may queue more.
  void run(std::function<void()> action) { queue({Step::Kind::Run, {}, {}, {}, std::move(action)}); }
  /// `(a, b)`, or one item per line where that is too long; `print_item` queues item i.
  void list(std::string open, size_t count, const std::function<void(size_t)>& print_item, std::string close);
  void list(std::string open, std::span<const ExprPtr> items, std::string close);
  /// A text with brackets and commas, broken there where it is too long: a type, a shape.
  void bracketed(std::string_view text);

  void queue(Step step) { steps_.push_back(std::move(step)); }
  void print_queued();
  void perform(const Step& step);
  /// Queues the node; how tightly it holds together.
  Level node(ExprPtr expr);

#define QUERN_NODE(kind, ...) Level node(const kind##Expr& e);
#include "ir/expr/nodes.def"
#undef QUERN_NODE

  // graph level
  /// What stands around an expression says its type: constructors in it need no type arguments.
  void expected(ExprPtr expr) { expected_.insert(expr); }
  void expected_with(const Expr& around, ExprPtr expr) {
    if (expected_.contains(&around)) expected(expr);
  }
  /// Whether fields or what stands around tell each type parameter.
  bool tells_type(const ConstructExpr& e) const;
  void find_named(ExprPtr expr);
  /// The dims that a function is general in, by name. Those that operators inside broadcast with others were
  /// inferred, since no parameter can be written so: they are left out.
  std::vector<std::string> bind_general(std::span<const Dim> dims, const FnExpr& fn);
  std::string type_text(Type type);
  /// Whether it is over a dim that has no name in the text.
  bool forgets_dims(Type type);
  bool is_from_around(Type type, const FnExpr& fn);
  std::string annotation(Type type, std::string_view before);
  void signature(const std::string& head, const FnExpr& fn);
  void gradient_clause(const FnExpr& clause);
  /// The inside of braces: a block's statements, or the expression.
  void contents(ExprPtr expr);
  void braced(ExprPtr expr);
  void bindings(const BlockExpr& block, size_t from);
  void binding(const Binding& binding);
  bool is_annotated(const Variable& variable, ExprPtr value);
  /// Whether a binding opens the `?` of a pattern's variable, which a reader does as well.
  static const Variable* opened_variable(const Binding& binding);
  std::string binding_head(const Variable& variable, ExprPtr value);
  void arm(const MatchArm& arm);
  /// Puts the variables in scope.
  std::string pattern_text(const Pattern& pattern, const std::function<std::string(const Variable*)>& name);
  std::string arm_pattern(const Pattern& pattern);
  std::string statement_pattern(const Pattern& pattern);
  /// `print("loss", %l)`, or `print("loss {%l:.4}")` where that says more.
  void printed(const IntrinsicExpr& e);
  /// A label or a value of it, as it stands in a format string.
  std::string in_string(const IntrinsicExpr& print, size_t part);
  /// The text of an expression on a line of its own, while others are being printed.
  std::string aside(ExprPtr expr);
  void attribute(const StaticValue& value, const DimMap& dims);
  /// A call with the attributes of an instance, whose dims are `dims` here.
  void call(const std::string& head, std::span<const ExprPtr> args, const OpInstance& instance,
            std::span<const Dim> dims);

  // slice.cpp
  struct SliceItem {
    std::string text;
    ExprPtr computed;  ///< a position in place of a text
  };
  std::optional<std::vector<SliceItem>> slice_items(const ComprehensionExpr& e);
  void slice(const ReadExpr& e, const std::vector<SliceItem>& items);
  std::optional<std::string> position(Dim at, Dim extent);
  std::string list_text(ExprPtr list, Dim extent);
  std::optional<std::string> slice_text(Dim at, Dim var, Dim count, Dim extent);

  // index expressions
  std::string dim_text(Dim dim);
  /// Puts the variables in scope. `i < n, j < 4`
  std::string binders(std::span<const Dim> vars, std::span<const Dim> extents);
  /// After a head on its line: the body, further right where it is too long.
  void body(std::string head, std::span<const Dim> vars, ExprPtr body, Level level);
  void schedule(const loops::Schedule& schedule);
  /// That of an index expression, by the names that loops and tensors have here.
  void own_schedule(const ComprehensionExpr& e);
  void nested_lists(const HostTensor& tensor, size_t axis, int64_t offset);

  PrintOptions options_;
  TextLayout layout_;
  std::vector<Step> steps_;  ///< what is next is last
  Names names_;
  ConstantPool own_constants_;
  ConstantPool& constants_;
  std::unordered_set<ExprPtr> expected_;
  std::unordered_map<Dim, std::string> bound_as_;  ///< index variables of scheduled index expressions
  int scheduled_depth_ = 0;                        ///< of these around
  int index_depth_ = 0;                            ///< bodies of index expressions around
  std::unordered_map<const Variable*, const Variable*> opened_;  ///< those of patterns that they stand for
  std::unordered_set<Dim> named_;                                ///< opened dims that the text names
};

}  // namespace quern::printer_detail
