#include "ide/tokens.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "frontend/signature/signature.h"
#include "frontend/static/builtins.h"
#include "ide/quick_parse.h"
#include "ide/words.h"
#include "ir/type/dtype.h"
#include "ir/value/scalar.h"

namespace quern::ide {

namespace {

using Names = std::unordered_set<std::string_view>;

std::string_view before_dot(std::string_view name) { return name.substr(0, name.find('.')); }

/// The names that a text declares.
struct Declared {
  Names definitions, statics, operators, types, constructors, modules;
  bool imports_all = false;  ///< an import without a name may declare anything

  explicit Declared(const QuickParse& parse) {
    const LexedText& text = parse.text();
    for (size_t i = 0; i < text.lexemes.size(); ++i) {
      const std::string_view word = text.word(i);
      imports_all |= word == "import" && text.is(i + 1, LexemeKind::String) && text.word(i + 2) != "as";
      if (parse.marks()[i].declares) add(parse.marks()[i].role, word);
    }
  }

 private:
  void add(Role role, std::string_view name) {
    if (role == Role::Definition) definitions.insert(name.substr(1));
    if (role == Role::Static) statics.insert(name.substr(1));
    if (role == Role::Operator) operators.insert(name);
    if (role == Role::Type) types.insert(name);
    if (role == Role::Constructor) constructors.insert(name);
    if (role == Role::Module) modules.insert(name);
  }
};

class Tokens {
 public:
  /// `whole`: the text has all statements, and no variables of another text.
  Tokens(Session& session, ModuleId module, LexedText text, bool whole)
      : session_(session),
        module_(module),
        whole_(whole),
        text_(std::move(text)),
        parse_(text_),
        declared_((parse_.run(), parse_)) {
    for (auto& [name, declaration] : session.import_names(module)) modules_.insert(name);
  }

  std::vector<Token> run() {
    auto comment = text_.comments.begin();
    auto comments_before = [&](uint32_t offset) {
      for (; comment != text_.comments.end() && comment->begin < offset; ++comment)
        add(*comment, TokenKind::Comment);
    };
    for (size_t i = 0; i < text_.lexemes.size(); ++i) {
      comments_before(text_.lexemes[i].range.begin);
      lexeme(i);
    }
    comments_before(UINT32_MAX);
    return std::move(tokens_);
  }

 private:
  void add(Range range, TokenKind kind, bool unresolved = false) {
    tokens_.push_back({range, kind, unresolved});
  }

  void lexeme(size_t i) {
    const Range range = text_.lexemes[i].range;
    switch (text_.lexemes[i].kind) {
      case LexemeKind::Number: return add(range, TokenKind::Number);
      case LexemeKind::String: return add(range, TokenKind::String);
      case LexemeKind::Unknown: return add(range, TokenKind::Unknown);
      case LexemeKind::Projection: return add(range, TokenKind::Field);
      case LexemeKind::Symbol: return symbol(i, range);
      case LexemeKind::Local:
      case LexemeKind::Global:
      case LexemeKind::Name:
      case LexemeKind::Word: return name(i, range);
    }
  }

  void symbol(size_t i, Range range) {
    const bool bracket = text_.opens(i) || text_.closes(i);
    if (bracket && range.end - range.begin > 1) {
      add({range.begin, range.end - 1}, TokenKind::Keyword);
      range.begin = range.end - 1;
    }
    add(range, bracket ? TokenKind::Bracket : TokenKind::Symbol);
  }

  void name(size_t i, Range range) {
    const Mark& mark = parse_.marks()[i];
    const std::string_view name = text_.word(i);
    switch (mark.role) {
      case Role::Plain: return add(range, TokenKind::Unknown);
      case Role::Word: return add(range, TokenKind::Keyword);
      case Role::Kind:
      case Role::Tensor: return add(range, TokenKind::Type);
      case Role::Primitive: return add(range, TokenKind::Operator);
      case Role::NamedArgument: return argument(callee_of(i), name, range);
      case Role::Attribute: return add(range, TokenKind::Attribute);
      case Role::TypeParameter: return add(range, TokenKind::TypeParameter, !mark.declares && !mark.bound);
      case Role::Index: return add(range, TokenKind::Index);
      case Role::Constant: return add(range, TokenKind::Static);
      case Role::Module: return add(range, TokenKind::Module);
      case Role::Field: return fields(range);
      case Role::Variable: return add(range, TokenKind::Variable, !mark.bound && !has_variable(mark, name));
      case Role::Definition:
      case Role::Static: return global(mark, name.substr(1), range);
      case Role::Type: return imported(range, name, TokenKind::Type, !mark.declares && !has_type(name));
      case Role::Constructor:
        return imported(range, name, TokenKind::Constructor, !mark.declares && !has_constructor(name));
      case Role::Operator:
      case Role::Name: return bare(mark, name, range);
    }
  }

  // `a.b` of `%x.a.b` is one lexeme.
  void fields(Range range) {
    const std::string_view text = text_.in_text(range);
    for (size_t begin = 0, dot = 0; dot != std::string_view::npos; begin = dot + 1) {
      dot = text.find('.', begin);
      const auto end = static_cast<uint32_t>(std::min(dot, text.size()));
      add({range.begin + static_cast<uint32_t>(begin), range.begin + end}, TokenKind::Field);
      if (dot != std::string_view::npos) add({range.begin + end, range.begin + end + 1}, TokenKind::Symbol);
    }
  }

  std::string_view callee_of(size_t argument) const {
    const uint32_t open = parse_.opened_by(argument);
    return open == 0 || open == kNoLexeme ? "" : text_.word(open - 1);
  }

  // The names of a constructor's arguments are fields, those of other calls attributes.
  void argument(std::string_view callee, std::string_view name, Range range) {
    if (declared_.constructors.contains(callee)) return add(range, TokenKind::Field);
    if (const DataDefinition* data = session_.scope(module_).data_of_constructor(callee)) {
      const DataConstructor* made = find_constructor(*data, callee);
      const bool is_field =
          !made || std::ranges::find(made->fields, name, &DataField::name) != made->fields.end();
      return add(range, TokenKind::Field, !is_field);
    }
    const Declaration* called = called_by_signature(callee);
    const auto is_named = [&](SyntaxPtr p) { return p->is(SyntaxKind::AttributeParam) && p->text == name; };
    add(range, TokenKind::Attribute,
        called && std::ranges::none_of(params_of(called->syntax)->children, is_named));
  }

  // The module's operator, or its definition with attributes; null where the text declares one of that name.
  const Declaration* called_by_signature(std::string_view callee) {
    Scope& scope = session_.scope(module_);
    if (!callee.starts_with('@')) return declared_.operators.contains(callee) ? nullptr : scope.op(callee);
    callee.remove_prefix(1);
    const Declaration* called = declared_.definitions.contains(callee) ? nullptr : scope.global(callee);
    return called && has_attributes_or_packs(*called) ? called : nullptr;
  }

  bool is_imported(std::string_view name) const {
    return name.find('.') != std::string_view::npos && declared_.modules.contains(before_dot(name));
  }
  // Whether a name may exist nevertheless: an import that cannot be resolved may declare it.
  bool may_be(std::string_view name) const {
    return declared_.imports_all || is_imported(name) || session_.scope(module_).in_broken_import(name);
  }
  bool has_variable(const Mark& mark, std::string_view name) const {
    return mark.sees_variables && !whole_ && session_.find_variable(module_, name.substr(1)) != 0;
  }
  bool has_type(std::string_view name) const {
    return declared_.types.contains(name) || parse_dtype(name) || name == "Ref" ||
           session_.find_type(module_, name) || may_be(name);
  }
  bool has_constructor(std::string_view name) const {
    return declared_.constructors.contains(name) || session_.find_constructor(module_, name) || may_be(name);
  }

  // The name of an import before the name is a separate token; `range` is without a sigil.
  void imported(Range range, std::string_view name, TokenKind kind, bool unresolved, uint32_t sigil = 0) {
    const std::string_view module = before_dot(name);
    if (module.size() < name.size() &&
        (declared_.modules.contains(module) || modules_.contains(std::string(module)))) {
      const uint32_t dot = range.begin + sigil + static_cast<uint32_t>(module.size());
      add({range.begin, dot}, TokenKind::Module);
      add({dot, dot + 1}, TokenKind::Symbol);
      range.begin = dot + 1;
    }
    add(range, kind, unresolved);
  }

  void global(const Mark& mark, std::string_view name, Range range) {
    const bool is_static = declared_.statics.contains(name) || session_.find_static(module_, name);
    const bool is_definition =
        declared_.definitions.contains(name) || session_.find_definition(module_, name);
    const bool as_static =
        mark.role == Role::Static ? is_static || !is_definition : is_static && !is_definition;
    imported(range, name, as_static ? TokenKind::Static : TokenKind::Definition,
             !mark.declares && !is_static && !is_definition && !may_be(name), 1);
  }

  void bare(const Mark& mark, std::string_view name, Range range) {
    if (mark.declares || declared_.operators.contains(name)) return add(range, TokenKind::Operator);
    if (declared_.constructors.contains(name) || session_.find_constructor(module_, name))
      return imported(range, name, TokenKind::Constructor, false);
    const Word* word = find_word(name);
    const bool is_form = word && (word->kind == WordKind::Form || word->kind == WordKind::IndexForm);
    if (is_form || find_scalar_op(name) || session_.find_operator(module_, name))
      return imported(range, name, TokenKind::Operator, false);
    if (find_static_builtin(name)) return add(range, TokenKind::Static);
    if (parse_dtype(name)) return add(range, TokenKind::Type);
    if (mark.bound) return add(range, TokenKind::Unknown);
    imported(range, name, mark.role == Role::Operator ? TokenKind::Operator : TokenKind::Unknown,
             !may_be(name));
  }

  Session& session_;
  ModuleId module_;
  bool whole_;
  LexedText text_;
  QuickParse parse_;
  Declared declared_;
  std::unordered_set<std::string> modules_;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens(Session& session, ModuleId module, std::string_view text) {
  return Tokens(session, module, lexed_text(text), false).run();
}

std::vector<Token> tokens(Session& session, SourceId source) {
  return Tokens(session, session.module_of(source), lexed_text(session.text(source)), true).run();
}

std::vector<Token> tokens(Session& session, SourceId source, Range window) {
  LexedText text = lexed_text(session.text(source), window, session.has_slash_names(source));
  return Tokens(session, session.module_of(source), std::move(text), true).run();
}

}  // namespace quern::ide
