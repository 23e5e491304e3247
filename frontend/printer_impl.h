#pragma once
// The parts of the printer: layout of text to a width, names, and the walk over expressions.

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "frontend/printer.h"
#include "ir/expr.h"

namespace quern::printer_detail {

// --- layout ----------------------------------------------------------------------------------------------

enum class DocKind : uint8_t {
  Text,
  Line,      ///< `text` where its group fits on the line, else a new line
  HardLine,  ///< always a new line; no group around it fits
  Concat,
  Indent,  ///< new lines inside start two columns further right
  Group,   ///< all of its own Lines are new lines, or none
};

struct Doc {
  DocKind kind;
  int64_t width;  ///< on one line
  std::string text = {};
  std::vector<const Doc*> parts = {};
};
using DocPtr = const Doc*;

/// Owner of the parts of one text (P. Wadler, A prettier printer, 2003).
class Docs {
 public:
  DocPtr text(std::string text);
  DocPtr line(std::string_view flat = " ");
  DocPtr hard_line();
  DocPtr concat(std::vector<DocPtr> parts);
  DocPtr indent(DocPtr part);
  DocPtr group(DocPtr part);
  /// `(a, b)`, or one item per line where that is too long.
  DocPtr list(std::string_view open, const std::vector<DocPtr>& items, std::string_view close);

 private:
  DocPtr add(Doc doc) { return &docs_.emplace_back(std::move(doc)); }

  std::deque<Doc> docs_;
};

std::string render(DocPtr doc, int width);

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
  void bind(const Variable* variable);
  void bind(Dim var);
  void bind_type(Type var);
  void release(const Variable* variable) { locals_.release(variable); }
  void release(Dim var) { bare_.release(var); }

  /// Without the sigil.
  const std::string& of(const Variable* variable);
  const std::string& of(Dim var);
  const std::string& of_type(Type var);
  /// The dim or type with every variable under its name here.
  Dim renamed(Dim dim);
  Type renamed(Type type);

 private:
  NameTable locals_, bare_;
};

/// Bound as `%3 = …`.
bool is_numbered(const Variable& variable);

// --- expressions -----------------------------------------------------------------------------------------

/// How tightly a text holds together, loosest first: the grammar's precedences.
enum class Level : uint8_t {
  Open,  ///< a comprehension: reaches as far right as it can
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

struct Printed {
  DocPtr doc;
  Level level;
};

class Printer {
 public:
  explicit Printer(const PrintOptions& options) : options_(options) {}

  std::string expression(ExprPtr expr);
  std::string definition(const Definition& definition);

 private:
  Printed print(ExprPtr expr);
  /// In parentheses unless it holds together at least as tightly as `level`.
  DocPtr at(ExprPtr expr, Level level);
  /// Between commas. Comparisons get parentheses: `f(a < b, c > (d))` could be read as type arguments.
  DocPtr item(ExprPtr expr);
  std::vector<DocPtr> items(std::span<const ExprPtr> exprs);
  DocPtr parenthesised(DocPtr doc);

  Printed node(const ConstExpr& e);
  Printed node(const VarExpr& e);
  Printed node(const GlobalExpr& e);
  Printed node(const OpCallExpr& e);
  Printed node(const CallExpr& e);
  Printed node(const FnExpr& e);
  Printed node(const BlockExpr& e);
  Printed node(const IfExpr& e);
  Printed node(const TupleExpr& e);
  Printed node(const FieldExpr& e);
  Printed node(const ConstructExpr& e);
  Printed node(const IntrinsicExpr& e);
  Printed node(const ComprehensionExpr& e);
  Printed node(const ViewExpr& e);
  Printed node(const DimValueExpr& e);
  Printed node(const ScalarExpr& e);
  Printed node(const ReduceExpr& e);
  Printed node(const ReadExpr& e);
  Printed node(const ErrorExpr& e);

  // graph level
  std::string type_text(Type type);
  std::string annotation(Type type, std::string_view before);
  DocPtr signature(std::string head, const FnExpr& fn);
  /// The inside of braces: a block's statements, or the expression.
  DocPtr contents(ExprPtr expr);
  DocPtr braced(ExprPtr expr);
  DocPtr if_chain(const IfExpr& e);
  DocPtr binding(const Binding& binding);
  DocPtr attribute(const StaticValue& value, const DimMap& dims);

  // index expressions
  std::string dim_text(Dim dim);
  /// Puts the variables in scope. `i < n, j < 4`
  std::string binders(std::span<const Dim> vars, std::span<const Dim> extents);

  PrintOptions options_;
  Docs docs_;
  Names names_;
  std::unordered_map<const HostTensor*, size_t> large_constants_;
};

}  // namespace quern::printer_detail
