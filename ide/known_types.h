#pragma once
// The types of parts of an incomplete text, as far as annotations, the session and signatures determine them. The text
// itself is not inferred.

#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/signature/known_names.h"
#include "frontend/static/scope.h"
#include "ide/quick_parse.h"
#include "ir/base/series.h"
#include "session/session.h"

namespace quern::ide {

/// One argument of a call: its lexemes, without the name.
struct Argument {
  std::string_view name;  ///< "" by position
  LexemeRange value;
};

/// A part of a source's text.
struct SourceWindow {
  SourceId source;
  Range range;
};

class KnownTypes {
 public:
  /// `window`: the part of a source that is parsed; without it, the text is an input after all of the module's.
  KnownTypes(Session& session, ModuleId module, const QuickParse& parse,
             std::optional<SourceWindow> window = std::nullopt);

  /// The statements before the text, whose variables it may name.
  std::vector<DeclarationId> statements_before() const;
  /// The last of them that binds a variable, or 0.
  DeclarationId statement_of(std::string_view name) const;
  /// A variable that a statement binds: for an input it is inferred, for a source it may not be known yet. Null if
  /// unknown.
  std::shared_ptr<const TopLevelVariable> variable_of(DeclarationId statement, std::string_view name) const;

  /// The type of an expression; null if unknown.
  Type of(LexemeRange expression) { return of(expression, 0); }
  /// The type of a name in scope, or of a variable of the module, without its sigil; null if unknown.
  Type of_variable(std::string_view name) { return of_variable(name, 0); }
  Type of_binding(const Binding& binding) { return of_binding(binding, 0); }
  /// The scheme of `@name`, `%name` or a function of the text that is declared with all of its types; null
  /// for others.
  const Scheme* scheme_of_global(std::string_view name);
  /// The arguments between a bracket and its partner, or `end`.
  std::vector<Argument> arguments(uint32_t open, size_t end) const;
  /// The call of an operator with these arguments.
  PartialCall partial_call(const Declaration& op, const std::vector<Argument>& arguments);
  /// The value of an attribute that is a literal or a list of them.
  static std::optional<StaticValue> literal(const LexedText& text, LexemeRange value);
  /// The constructor of a record type, which has only one; null for other types.
  const DataConstructor* record(Type type);
  /// The type of a field or a position of a value of this type; null if there is none.
  Type member(Type of, std::string_view name);
  /// The type of a field of a value of this type: over the arguments of the type.
  Type field_type(Type record, const DataField& field);
  /// The operator, or the definition with attributes, whose signature applies to calls of a name; null if none.
  const Declaration* called_by_signature(LexemeRange callee);
  /// The lexemes of the callee whose arguments a bracket opens.
  std::optional<LexemeRange> callee_before(uint32_t open) const;
  /// The value that ends before a lexeme: a name with the field reads and calls after it.
  LexemeRange value_before(size_t lexeme) const;
  const Binding* local(std::string_view name) const { return parse_.find(name, true); }

 private:
  static constexpr int kDeepest = 12;

  Type of(LexemeRange expression, int depth);
  Type of_variable(std::string_view name, int depth);
  Type of_binding(const Binding& binding, int depth);
  Type primary(LexemeRange expression, size_t& next, int depth);
  Type number(std::string_view text) const;
  Type group(uint32_t open, int depth);
  Type list(uint32_t open, int depth);
  Type result_of_call(LexemeRange callee, uint32_t open, int depth);
  Type result_of_operator(const Declaration& op, const std::vector<Argument>& arguments);
  Type annotated(LexemeRange type);
  Type known_of_statement(const Binding& binding);

  Session& session_;
  ModuleId module_;
  const QuickParse& parse_;
  const LexedText& text_;
  std::optional<SourceWindow> window_;
  std::vector<DeclarationId> statements_;  ///< of the source
  Series::Turn turn_;
  std::map<uint32_t, Type> bindings_;  ///< by the lexeme that binds
};

/// Binds the variables of a type so that it matches the type of a given value; false if they do not match.
bool match_types(Type pattern, Type actual, Substitution& found);

}  // namespace quern::ide
