#include "ide/known_types.h"

#include <algorithm>
#include <cctype>

#include "frontend/signature/resolve_type.h"
#include "frontend/syntax/literals.h"
#include "ir/type/dtype.h"

namespace quern::ide {

namespace {

bool is_upper(std::string_view name) {
  return !name.empty() && std::isupper(static_cast<unsigned char>(name[name.rfind('.') + 1])) != 0;
}

}  // namespace

bool match_types(Type pattern, Type actual, Substitution& found) {
  if (pattern == actual) return true;
  if (pattern->kind == TypeKind::Var) return found.types.try_emplace(pattern, actual).first->second == actual;
  if (pattern->kind != actual->kind || pattern->args.size() != actual->args.size() ||
      pattern->dims.size() != actual->dims.size() || pattern->name != actual->name)
    return false;
  for (size_t i = 0; i < pattern->dims.size(); ++i) {
    const Dim wanted = pattern->dims[i], given = actual->dims[i];
    if (wanted->kind == DimKind::Var)
      found.dims.try_emplace(wanted, given);
    else if (wanted != given && as_const(wanted) && as_const(given))
      return false;
  }
  if (pattern->dtype.is_var())
    found.dtypes.try_emplace(pattern->dtype, actual->dtype);
  else if (pattern->is_tensor() && pattern->dtype != actual->dtype)
    return false;
  for (size_t i = 0; i < pattern->args.size(); ++i)
    if (!match_types(pattern->args[i], actual->args[i], found)) return false;
  return true;
}

KnownTypes::KnownTypes(Session& session, ModuleId module, const QuickParse& parse,
                       std::optional<SourceWindow> window)
    : session_(session),
      module_(module),
      parse_(parse),
      text_(parse.text()),
      window_(window),
      turn_(session.request_variables()) {
  if (window) statements_ = session.statements(window->source);
}

std::vector<DeclarationId> KnownTypes::statements_before() const {
  if (!window_) return session_.statements_of_module(module_);
  const auto end = std::ranges::partition_point(
      statements_, [&](DeclarationId id) { return session_.range_of(id).begin < window_->range.begin; });
  return {statements_.begin(), end};
}

const Scheme* KnownTypes::scheme_of_global(std::string_view name) {
  Scope& scope = session_.scope(module_);
  if (const DeclarationId id = session_.find_definition(module_, name))
    if (const Scheme* known = session_.known_scheme(id)) return known;
  const Annotations* written = scope.annotations(name);
  return written ? &written->scheme : nullptr;
}

Type KnownTypes::of_variable(std::string_view name, int depth) {
  if (const Binding* local = parse_.find(name, true)) return of_binding(*local, depth);
  if (parse_.frames().front().in_definition) return nullptr;
  const auto variable = variable_of(statement_of(name), name);
  return variable && !variable->variable->type->is_error() ? variable->variable->type : nullptr;
}

DeclarationId KnownTypes::statement_of(std::string_view name) const {
  if (!window_) return session_.find_variable(module_, name);
  const std::vector<DeclarationId> before = statements_before();
  const auto statement = std::find_if(before.rbegin(), before.rend(), [&](DeclarationId id) {
    bool binds = false;
    for_each_name(session_.info(id).name, [&](std::string_view bound) { binds |= bound == name; });
    return binds;
  });
  return statement == before.rend() ? 0 : *statement;
}

std::shared_ptr<const TopLevelVariable> KnownTypes::variable_of(DeclarationId statement,
                                                                std::string_view name) const {
  if (statement == 0) return nullptr;
  if (!window_) session_.statement_variable(statement, name);
  return session_.known_variable(statement, name);
}

Type KnownTypes::of_binding(const Binding& binding, int depth) {
  if (binding.role != Role::Variable || depth > kDeepest) return nullptr;
  const auto [known, is_new] = bindings_.try_emplace(binding.declared, nullptr);
  if (!is_new) return known->second;
  const LexemeRange annotation = annotation_of(text_, binding);
  Type type = annotation.empty() ? known_of_statement(binding) : annotated(annotation);
  if (!type && annotation.empty()) type = of(value_of(text_, binding), depth + 1);
  bindings_[binding.declared] = type;
  return type;
}

// The type of what a statement of the source binds, if it is already inferred.
Type KnownTypes::known_of_statement(const Binding& binding) {
  const uint32_t offset = text_.lexemes[binding.declared].range.begin;
  const auto statement = std::ranges::partition_point(
      statements_, [&](DeclarationId id) { return session_.range_of(id).end <= offset; });
  if (statement == statements_.end()) return nullptr;
  const uint32_t begin = session_.range_of(*statement).begin;
  for (size_t i = binding.declared; i > 0 && text_.lexemes[i].range.begin > begin; --i)
    if (text_.is_symbol(i, "=")) return nullptr;  // bound inside of the value
  const auto variable = offset < begin ? nullptr : session_.known_variable(*statement, binding.name);
  return variable && !variable->variable->type->is_error() ? variable->variable->type : nullptr;
}

Type KnownTypes::of(LexemeRange expression, int depth) {
  if (expression.empty() || depth > kDeepest) return nullptr;
  size_t next = expression.first;
  Type type = primary(expression, next, depth);
  while (type && next < expression.last) {
    if (text_.is(next, LexemeKind::Projection)) {
      type = member(type, text_.word(next).substr(1));
      ++next;
    } else if (text_.is_symbol(next, ".") && text_.is(next + 1, LexemeKind::Name)) {
      std::string_view path = text_.word(next + 1);
      while (type && !path.empty()) {
        const std::string_view name = path.substr(0, path.find('.'));
        path.remove_prefix(std::min(name.size() + 1, path.size()));
        type = member(type, name);
      }
      next += 2;
    } else {
      return nullptr;
    }
  }
  return type;
}

Type KnownTypes::primary(LexemeRange expression, size_t& next, int depth) {
  const size_t first = next++;
  const std::string_view word = text_.word(first);
  // A call whose callee, including type arguments, ends at `callee_end`.
  auto call = [&](size_t callee_end) -> Type {
    if (!text_.is_symbol(callee_end, "(") || callee_end >= expression.last) return nullptr;
    const auto open = static_cast<uint32_t>(callee_end);
    if (text_.partner[open] == kNoLexeme) return nullptr;
    Type type = result_of_call({first, callee_end}, open, depth);
    next = text_.partner[open] + 1;
    while (type && text_.is_symbol(next, "(") && next < expression.last && text_.partner[next] != kNoLexeme) {
      const bool called = type->kind == TypeKind::Function;
      type = called ? type->result() : nullptr;
      next = text_.partner[next] + 1;
    }
    return type;
  };
  switch (text_.lexemes[first].kind) {
    case LexemeKind::Local:
      if (text_.is_symbol(next, "(") && next < expression.last) return call(next);
      return of_variable(word.substr(1), depth);
    case LexemeKind::Number: return number(word);
    case LexemeKind::Name:
    case LexemeKind::Global: return call(next);
    case LexemeKind::Word: return word == "True" || word == "False" ? scalar_type(DType::boolean()) : nullptr;
    case LexemeKind::Symbol: {
      const auto open = static_cast<uint32_t>(first);
      const bool whole =
          text_.opens(first) && text_.partner[first] != kNoLexeme && text_.partner[first] < expression.last;
      if (!whole || (word != "(" && word != "[")) return nullptr;
      next = text_.partner[first] + 1;
      return word == "(" ? group(open, depth) : list(open, depth);
    }
    case LexemeKind::String:
    case LexemeKind::Projection:
    case LexemeKind::Unknown: return nullptr;
  }
  return nullptr;
}

Type KnownTypes::number(std::string_view text) const {
  const auto literal = parse_number(text);
  if (!literal) return nullptr;
  if (literal->dtype) return scalar_type(*literal->dtype);
  const bool wide = literal->is_integer && literal->integer != static_cast<int32_t>(literal->integer);
  return scalar_type(!literal->is_integer ? DType::float32() : wide ? DType::int64() : DType::int32());
}

Type KnownTypes::group(uint32_t open, int depth) {
  const std::vector<Argument> members = arguments(open, text_.partner[open]);
  const bool is_tuple = members.size() != 1 || text_.is_symbol(text_.partner[open] - 1, ",");
  std::vector<Type> types;
  for (const Argument& member : members) {
    types.push_back(of(member.value, depth + 1));
    if (!types.back()) return nullptr;
  }
  return is_tuple ? tuple_type(types) : types[0];
}

// The tensor type of a list literal whose members have equal shapes.
Type KnownTypes::list(uint32_t open, int depth) {
  const std::vector<Argument> members = arguments(open, text_.partner[open]);
  Type first = members.empty() ? nullptr : of(members[0].value, depth + 1);
  if (!first || !first->is_tensor()) return nullptr;
  DType dtype = first->dtype;
  constexpr size_t kLookedAt = 64;
  for (size_t i = 1; i < std::min(members.size(), kLookedAt); ++i) {
    Type member = of(members[i].value, depth + 1);
    if (!member || !member->is_tensor() || !std::ranges::equal(member->dims, first->dims)) return nullptr;
    if (member->dtype.is_float()) dtype = member->dtype;
  }
  std::vector<Dim> dims{dim_const(static_cast<int64_t>(members.size()))};
  dims.insert(dims.end(), first->dims.begin(), first->dims.end());
  return tensor_type(dims, dtype);
}

std::vector<Argument> KnownTypes::arguments(uint32_t open, size_t end) const {
  std::vector<Argument> all;
  for (size_t i = open + 1; i < end;) {
    Argument argument{{}, {i, std::min(end_of_item(text_, i, ",;"), end)}};
    if (text_.is_symbol(i + 1, "=") && i + 1 < end) {
      argument.name = text_.word(i);
      argument.value.first = std::min(i + 2, argument.value.last);
    }
    if (argument.value.last > i) all.push_back(argument);
    if (argument.value.last >= end || !text_.is_symbol(argument.value.last, ",")) break;
    i = argument.value.last + 1;
  }
  return all;
}

std::optional<StaticValue> KnownTypes::literal(const LexedText& text, LexemeRange value) {
  if (value.empty()) return std::nullopt;
  const std::string_view word = text.word(value.first);
  if (text.is_symbol(value.first, "[") || text.is_symbol(value.first, "(")) {
    StaticList items;
    for (size_t i = value.first + 1; i + 1 < value.last;) {
      const size_t end = end_of_item(text, i, ",");
      auto item = literal(text, {i, std::min(end, value.last - 1)});
      if (!item) return std::nullopt;
      items.push_back(std::move(*item));
      i = end + 1;
    }
    return StaticValue::list(std::move(items));
  }
  if (value.last - value.first != 1) return std::nullopt;
  if (word == "True" || word == "False") return StaticValue(word == "True");
  if (word == "None") return StaticValue();
  if (text.is(value.first, LexemeKind::String) && word.size() >= 2)
    return StaticValue(std::string(word.substr(1, word.size() - 2)));
  if (!text.is(value.first, LexemeKind::Number)) return std::nullopt;
  const auto number = parse_number(word);
  if (!number) return std::nullopt;
  return number->is_integer ? StaticValue::integer(number->integer) : StaticValue(number->real);
}

PartialCall KnownTypes::partial_call(const Declaration& op, const std::vector<Argument>& given) {
  std::vector<std::string_view> attributes;
  for (SyntaxPtr p : params_of(op.syntax)->children)
    if (p->is(SyntaxKind::AttributeParam)) attributes.push_back(p->text);
  PartialCall call;
  const size_t tensors = tensor_param_count(op.syntax);
  size_t positional = 0;
  for (const Argument& argument : given) {
    if (argument.name.empty() && call.tensors.size() < tensors) {
      call.tensors.push_back(of(argument.value));
      continue;
    }
    const size_t slot = argument.name.empty() ? positional++ : attributes.size();
    const std::string_view name = slot < attributes.size() ? attributes[slot] : argument.name;
    if (auto value = literal(text_, argument.value)) call.attributes.emplace_back(name, std::move(*value));
  }
  return call;
}

const DataConstructor* KnownTypes::record(Type type) {
  if (type->kind != TypeKind::Data) return nullptr;
  const DataDefinition* data = session_.data(module_, type);
  return data && data->constructors.size() == 1 ? &data->constructors[0] : nullptr;
}

Type KnownTypes::member(Type of, std::string_view name) {
  if (of->kind == TypeKind::Tuple) {
    for (size_t i = 0; i < of->args.size(); ++i)
      if (std::to_string(i) == name) return of->args[i];
    return nullptr;
  }
  const DataConstructor* made = record(of);
  if (!made) return nullptr;
  const auto field = std::ranges::find(made->fields, name, &DataField::name);
  return field == made->fields.end() ? nullptr : field_type(of, *field);
}

Type KnownTypes::field_type(Type record, const DataField& field) {
  const DataDefinition* data = session_.data(module_, record);
  if (!data || field.type->is_error()) return nullptr;
  return substitute(field.type, data->header.arguments_of(record));
}

const Declaration* KnownTypes::called_by_signature(LexemeRange callee) {
  if (callee.last - callee.first != 1) return nullptr;
  const std::string_view word = text_.word(callee.first);
  Scope& scope = session_.scope(module_);
  if (text_.is(callee.first, LexemeKind::Name) || text_.is(callee.first, LexemeKind::Word))
    return scope.op(word);
  if (!text_.is(callee.first, LexemeKind::Global)) return nullptr;
  const Declaration* head = scope.global(word.substr(1));
  return head && has_attributes_or_packs(*head) ? head : nullptr;
}

Type KnownTypes::result_of_call(LexemeRange callee, uint32_t open, int depth) {
  if (depth > kDeepest) return nullptr;
  const std::vector<Argument> given = arguments(open, text_.partner[open]);
  const std::string_view word = text_.word(callee.first);
  if (text_.is(callee.first, LexemeKind::Name) && is_upper(word)) {
    const DataDefinition* data = session_.scope(module_).data_of_constructor(word);
    return data && data->header.params.empty() ? data->header.type : nullptr;
  }
  if (const Declaration* op = called_by_signature(callee)) return result_of_operator(*op, given);
  Type function = nullptr;
  if (text_.is(callee.first, LexemeKind::Local)) function = of_variable(word.substr(1), depth);
  if (text_.is(callee.first, LexemeKind::Global))
    if (const Scheme* scheme = scheme_of_global(word.substr(1))) function = scheme->type;
  if (!function || function->kind != TypeKind::Function) return nullptr;
  Substitution found;
  for (size_t i = 0; i < std::min(given.size(), function->params().size()); ++i)
    if (Type type = of(given[i].value, depth + 1)) match_types(function->params()[i], type, found);
  return substitute(function->result(), found);
}

Type KnownTypes::result_of_operator(const Declaration& op, const std::vector<Argument>& given) {
  Scope& home = session_.scope(module_).home(op);
  const TypeEnv env{known_names(op, partial_call(op, given), session_.scope(module_)), {}};
  Diagnostics unseen;
  StaticEvaluator evaluator(home, op.id, unseen);
  if (!op.syntax->child(2)) return nullptr;
  Type result = resolve_type(op.syntax->child(2), env, evaluator, home, unseen, op.id);
  return unseen.empty() && !contains_error(result) ? result : nullptr;
}

LexemeRange KnownTypes::value_before(size_t lexeme) const {
  size_t first = lexeme;
  while (first > 0) {
    const size_t last = first - 1;
    if (text_.closes(last) || text_.is_symbol(last, ">")) {
      // `<` and `>` have no partners; type arguments are short.
      size_t open = text_.partner[last];
      constexpr size_t kLookedAt = 24;
      if (text_.is_symbol(last, ">"))
        for (open = last; open > 0 && last - open < kLookedAt && !text_.is_symbol(open, "<");) --open;
      if (open == kNoLexeme || open >= last || text_.word(last) == "}") break;
      first = open;
      if (first == 0 || !parse_.ends_value(first - 1) || text_.is_symbol(first - 1, ",")) break;
      continue;
    }
    if (text_.is(last, LexemeKind::Projection)) {
      first = last;
      continue;
    }
    const bool is_field = last > 0 && text_.is_symbol(last - 1, ".") && text_.is(last, LexemeKind::Name);
    if (is_field) {
      first = last - 1;
      continue;
    }
    if (parse_.ends_value(last)) first = last;
    break;
  }
  return {first, lexeme};
}

std::optional<LexemeRange> KnownTypes::callee_before(uint32_t open) const {
  const LexemeRange callee = value_before(open);
  if (callee.empty()) return std::nullopt;
  // `cast<float32>(…)`
  const bool has_types = text_.is_symbol(callee.last - 1, ">");
  return has_types ? LexemeRange{callee.first, callee.first + 1} : callee;
}

// A type as it is written, over the dims and the types that are in scope there.
Type KnownTypes::annotated(LexemeRange type) {
  if (type.last > text_.lexemes.size() || type.empty()) return nullptr;
  const uint32_t begin = text_.lexemes[type.first].range.begin, end = text_.lexemes[type.last - 1].range.end;
  const ParseOutcome parsed =
      parse_declaration("let %_: " + std::string(text_.in_text({begin, end})) + " = 0", false);
  SyntaxPtr let = parsed.tree.root;
  if (!parsed.problems.empty() || !let->is(SyntaxKind::Let) || !let->child(0)) return nullptr;
  TypeEnv env;
  for (size_t i = type.first; i < type.last; ++i) {
    const Mark& mark = parse_.marks()[i];
    if (mark.role != Role::TypeParameter || !mark.bound) continue;
    const std::string name(text_.word(i));
    if (!env.statics.contains(name)) env.statics.insert_or_assign(name, StaticValue(dim_var(name)));
    if (!env.types.contains(name)) env.types.emplace(name, type_var(name));
  }
  Scope& scope = session_.scope(module_);
  Diagnostics unseen;
  StaticEvaluator evaluator(scope, 0, unseen);
  Type found = resolve_type(let->child(0), env, evaluator, scope, unseen, 0);
  return unseen.empty() && !contains_error(found) ? found : nullptr;
}

}  // namespace quern::ide
