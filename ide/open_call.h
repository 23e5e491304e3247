#pragma once
// The open call at a place of an incomplete text: the callee, its parameters, and what each of them accepts.

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

/// The type expected at a place, as far as it is known.
struct Wanted {
  enum class Of : uint8_t { Anything, Tensor, Function, Other } of = Of::Anything;
  std::optional<size_t> rank;
  size_t least_rank = 0;
  std::optional<DType> dtype;
  std::vector<Dim> dims;  ///< of a tensor of known rank; null if unknown
  Type type = nullptr;    ///< Other: a tuple or a data type, over variables
};
/// How well a type fits: 0 not at all, 1 in kind and dtype, 2 in shape too.
int fit(const Wanted& wanted, Type type);
Wanted wanted_of(Type type);

struct Parameter {
  std::string name;            ///< without a sigil; "" for one without
  std::string attribute;       ///< its kind, for a non-tensor: `int[]?`
  std::string fallback;        ///< the default of an attribute as it is written, or ""
  SyntaxPtr syntax = nullptr;  ///< of an operator or a function that is called by its signature
  Type type = nullptr;         ///< of others, over variables of their scheme
};

/// The callee of a call.
struct Callable {
  DeclarationId declaration = 0;    ///< 0 for a function without a declaration
  const Declaration* op = nullptr;  ///< whose signature applies to a call
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
  /// The innermost call around the current place of the parse; nothing outside of calls. The search ends at function
  /// bodies.
  static std::optional<OpenCall> at(Session& session, ModuleId module, const QuickParse& parse,
                                    KnownTypes& types);

  uint32_t open;                         ///< the lexeme of its bracket
  std::vector<Argument> before;          ///< the complete arguments before the one being typed
  std::vector<Argument> others;          ///< those after the one being typed
  std::optional<std::string_view> name;  ///< of the argument being typed, if it is passed by name
  Callable callable;

  /// The parameter being typed; nothing past the last one.
  std::optional<uint32_t> active() const;
  /// The parameter, filled in with what the arguments before determine.
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
