#pragma once
// What an incomplete text determines by itself: the role of each token, the names in scope at a place, and the calls
// open there. One pass over the tokens, without a session.

#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ide/lexed_text.h"

namespace quern::ide {

/// The role of a token, as far as the text determines it.
enum class Role : uint8_t {
  Plain,   ///< as its lexeme: a symbol, a number, …
  Word,    ///< of the grammar
  Kind,    ///< of an attribute: `int`, `shape`
  Tensor,  ///< the word `Tensor`; `ref` of a type
  Type,
  Constructor,
  Definition,  ///< `@f`, which may be `static`
  Static,
  Operator,
  Name,  ///< a bare name that is not called
  Variable,
  Field,          ///< declared or read; a dotted name consists of several
  NamedArgument,  ///< `x` of `f(x=1)`
  Attribute,
  TypeParameter,
  Index,
  Constant,   ///< `static n = …`
  Primitive,  ///< of a schedule
  Module,
};

struct Mark {
  Role role = Role::Plain;
  bool declares = false;
  bool bound = false;          ///< by the text; not set for declarations of the text
  bool sees_variables = true;  ///< those of statements; false in a definition
};

/// A name that is in scope.
struct Binding {
  Role role;              ///< Variable, Attribute, TypeParameter, Index or Constant
  std::string_view name;  ///< without a sigil
  uint32_t declared;      ///< the lexeme
};

/// The content of brackets, or the whole text.
enum class Form : uint8_t {
  Top,
  Block,
  Arms,        ///< of a `match`
  TypeBody,    ///< `{ Cons(A, List[A]), Nil }`
  FieldTypes,  ///< of a constructor's declaration
  Schedule,
  ScheduleArguments,
  Params,
  TypeParams,
  Call,
  Group,
  List,
  Condition,
  Pattern,
  Types,  ///< in types: a tuple, parameters of a function, arguments
  TensorType,
  Read,     ///< `%x[…]`
  Binders,  ///< of an index expression or a reduction
  Other,    ///< `meta[…]`, TVM's notes
};

enum class Mode : uint8_t { Value, Type, Pattern };

/// The part of a declaration or a function literal before its body.
enum class Head : uint8_t {
  None,
  Function,
  Definition,
  Composite,
  Operator,
  Static,
  Type,
  Test,
  Import,
  Infix
};

struct Frame {
  Form form = Form::Top;
  uint32_t open = kNoLexeme;   ///< the lexeme that opens it
  Mode mode = Mode::Value;     ///< of what comes next
  bool is_static = false;      ///< the compile-time language
  bool is_index = false;       ///< an index expression
  bool inside_index = false;   ///< the same at the beginning of an item
  bool in_shape = false;       ///< inside of `Tensor[…]`
  bool implicit_dims = false;  ///< names in `Tensor[…]` declare dims and dtypes
  bool in_definition = false;  ///< where the variables of statements are not visible
  uint32_t items = 0;          ///< separators so far
  uint32_t item_begin = 0;     ///< the first lexeme of the current item
  /// The size of the scope at the beginning of the frame, of its content, and of its item.
  size_t base = 0, inner_base = 0, item_base = 0;
  // Of a declaration or a function literal whose body has not begun.
  Head head = Head::None;
  size_t head_base = 0;
  bool has_params = false, has_body = false, expects_name = false;
  uint32_t matches = 0;          ///< `match`es whose arms have not begun
  std::vector<Binding> pending;  ///< of a `let`, up to its `;`
  bool in_pattern = false;       ///< of a `let`, up to its `=`
  bool is_alias = false;         ///< after the `=` of a type
};

/// The names in scope, the innermost last.
class Scoped {
 public:
  size_t size() const { return bound_.size(); }
  const Binding& operator[](size_t i) const { return bound_[i].binding; }
  void push(const Binding& binding);
  /// Drops all but the first `size`.
  void cut(size_t size);
  /// The innermost binding of a name without a sigil, or of a variable, from `first` on; null if there is none.
  const Binding* find(std::string_view name, bool variable, size_t first = 0) const;

 private:
  static constexpr size_t kNone = SIZE_MAX;
  struct Bound {
    Binding binding;
    size_t hidden;  ///< the previous one of the same name
  };
  using Latest = std::unordered_map<std::string_view, size_t>;
  static bool is_variable(const Binding& binding) { return binding.role == Role::Variable; }

  std::vector<Bound> bound_;
  Latest variables_, names_;
};

class QuickParse {
 public:
  /// The text has to outlive it.
  explicit QuickParse(const LexedText& text);

  /// Advances to this lexeme, which is not visited.
  void run_to(size_t lexeme);
  void run() { run_to(text_.lexemes.size()); }

  /// Ends a complete declaration: what comes next does not belong to it.
  void end_declaration();

  const LexedText& text() const { return text_; }
  const std::vector<Mark>& marks() const { return marks_; }
  size_t at() const { return at_; }
  /// The lexeme that opens the innermost bracket around a visited lexeme, or kNoLexeme.
  uint32_t opened_by(size_t lexeme) const { return around_[lexeme]; }
  /// The open frames, the whole text first.
  const std::vector<Frame>& frames() const { return frames_; }
  const Scoped& scope() const { return scope_; }
  /// The innermost binding of a name without a sigil, or of a variable; null where there is none.
  const Binding* find(std::string_view name, bool variable) const {
    return scope_.find(name, variable, variable ? visible_ : 0);
  }
  /// Whether an entry of the scope is visible: in a definition, the variables of statements are not.
  bool sees(size_t in_scope) const { return scope_[in_scope].role != Role::Variable || in_scope >= visible_; }
  /// Whether a value ends with a lexeme, so that a bracket after it belongs to it.
  bool ends_value(size_t lexeme) const;
  /// Whether a word of the grammar that may be a name is one at the current lexeme.
  bool is_name(size_t lexeme) const;

 private:
  Frame& top() { return frames_.back(); }
  bool prev_is(std::string_view word) const { return at_ > 0 && text_.word(at_ - 1) == word; }
  Mark& mark(Role role) {
    marks_[at_].role = role;
    return marks_[at_];
  }
  bool begins_item() const { return at_ == frames_.back().item_begin; }

  void step();
  void symbol(std::string_view text);
  void open();
  Form form_of_paren() const;
  Form form_of_square() const;
  Form form_of_brace();
  bool is_comprehension() const;
  bool is_type_arguments() const;
  void push(Form form);
  void pop();
  void close();
  void comma();
  void semicolon();
  void equals();
  void colon();

  // names (quick_names.cpp)
  void word();
  bool begins_clause() const;
  void name();
  void declared_name();
  void local();
  void global();
  void value_name(std::string_view name);
  void declare(Role role, std::string_view name);
  void declare_loops();

  // declarations
  bool continues() const;
  void begin_declaration(Head head);
  void begin_clause(std::string_view word);
  void resolve_late();
  void bind_pending();
  Frame* pattern_of_let();

  const LexedText& text_;
  std::vector<Mark> marks_;
  std::vector<uint32_t> around_;  ///< by lexeme: the opening of the bracket around it
  size_t at_ = 0;
  std::vector<Frame> frames_;
  std::vector<bool> is_open_;  ///< by lexeme: it opens one of the frames
  Scoped scope_;
  size_t visible_ = 0;          ///< variables before it are not visible in the current definition
  std::vector<Form> closed_;    ///< by lexeme: the form that a bracket closes
  std::vector<uint32_t> late_;  ///< names of the current head that its clauses may declare
  /// `k` of `e for k < n`, by the bracket around it, in order.
  std::vector<std::pair<uint32_t, Binding>> for_names_;
};

/// The lexemes of the type that a variable is declared with, [first, last); empty where there is none.
struct LexemeRange {
  size_t first = 0, last = 0;
  bool empty() const { return first == last; }
};
LexemeRange annotation_of(const LexedText& text, const Binding& binding);
/// The lexemes of the value of a `let`; empty for anything else.
LexemeRange value_of(const LexedText& text, const Binding& binding);
/// The lexeme after an item: the separator before the next, or the closing bracket.
size_t end_of_item(const LexedText& text, size_t first, std::string_view separators);

}  // namespace quern::ide
