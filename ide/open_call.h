#pragma once
// The call that is open at a place of a half-typed text: what is called, its parameters, and what fits where.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ide/known_types.h"
#include "ide/quick_parse.h"
#include "ide/signature_line.h"
#include "session/session.h"

namespace quern::ide {

/// What a place wants, as far as that is known.
struct Wanted {
  enum class Of : uint8_t { Anything, Tensor, Function, Other } of = Of::Anything;
  std::optional<size_t> rank;
  size_t least_rank = 0;
  std::optional<DType> dtype;
  std::vector<Dim> dims;  ///< of a tensor of known rank; null for one that is not known
  Type type = nullptr;    ///< Other: a tuple or a data type, over variables
};
/// How well a type fits: 0 not, 1 its kind and dtype, 2 its shape too.
int fit(const Wanted& wanted, Type type);
Wanted wanted_of(Type type);

struct Parameter {
  std::string name;            ///< without a sigil; "" for one without
  std::string attribute;       ///< its kind, for one that is no tensor: `int[]?`
  std::string fallback;        ///< the default of an attribute as it is written, or ""
  SyntaxPtr syntax = nullptr;  ///< of an operator or a function that is called by its signature
  Type type = nullptr;         ///< of others, over variables of their scheme
};

/// What is called.
struct Callable {
  DeclarationId declaration = 0;    ///< 0 for a function that no declaration declares
  const Declaration* op = nullptr;  ///< whose signature a call goes by
  bool is_constructor = false;
  SignatureLine line;
  std::vector<Parameter> parameters;  ///< as many as `line` has
  std::string documentation;
};

/// `Cons(A, List[A]) -> List[A]`
SignatureLine constructor_line(std::string_view name, const DataDefinition& data,
                               const DataConstructor& constructor);

class OpenCall {
 public:
  /// The innermost call around the place where the parse is; nothing outside of calls. Functions' bodies end
  /// the search.
  static std::optional<OpenCall> at(Session& session, ModuleId module, const QuickParse& parse,
                                    KnownTypes& types);

  uint32_t open;                         ///< the lexeme of its bracket
  std::vector<Argument> before;          ///< the arguments that are whole
  std::vector<Argument> others;          ///< those after the one that is typed
  std::optional<std::string_view> name;  ///< of the argument that is typed, where that is given by name
  Callable callable;

  /// The parameter that is typed; nothing past the last one.
  std::optional<uint32_t> active() const;
  /// The parameter with what the arguments before decide filled in.
  std::string expected(uint32_t parameter);
  Wanted wanted(uint32_t parameter);
  /// Whether an attribute has been given, by name or by position.
  bool is_given(uint32_t parameter) const;

 private:
  OpenCall(Session& session, ModuleId module, KnownTypes& types, const LexedText& text)
      : session_(&session), module_(module), types_(&types), text_(&text) {}
  bool find_callable(LexemeRange callee);
  bool call_declared(DeclarationId declaration, const Scheme* scheme);
  bool call_local(LexemeRange callee);
  bool call_constructor(std::string_view name);
  bool call_form(std::string_view name);
  void call_type(const std::string& name, Type function);
  bool call_result(LexemeRange callee);
  const StaticEnv& known();
  Type filled_in(Type type);
  bool names_unknown_of(SyntaxPtr expr);
  std::string type_text(SyntaxPtr type);
  std::string shape_text(SyntaxPtr shape);
  std::string item_text(SyntaxPtr item);
  std::string source_text(SyntaxPtr node);
  std::string dtype_text(SyntaxPtr dtype);

  Session* session_;
  ModuleId module_;
  KnownTypes* types_;
  const LexedText* text_;
  std::optional<StaticEnv> known_;
};

}  // namespace quern::ide
