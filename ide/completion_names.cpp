// Completion: the names that are possible at a place.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <unordered_map>

#include "frontend/static/builtins.h"
#include "ide/completer.h"
#include "ir/expr/schedule.h"
#include "ir/type/dtype.h"
#include "ir/value/scalar.h"

namespace quern::ide {

namespace {

constexpr ScalarOp kScalarOps[] = {
#define QUERN_SCALAR(name, text, arity, signature, code) ScalarOp::name,
#include "ir/value/scalar_ops.def"
#undef QUERN_SCALAR
};

}  // namespace

std::string scalar_form(ScalarOp op) {
  constexpr std::string_view kOperands = "abc";
  std::string form = std::string(info(op).name) + "(";
  for (int i = 0; i < info(op).arity; ++i)
    form += (i ? ", " : "") + std::string(1, kOperands[static_cast<size_t>(i)]);
  return form + ")";
}

void Completer::item(std::string label, CompletionKind kind, Group group, std::string detail) {
  found_.add({std::move(label), kind, group, 0, 0,
              detail.empty() ? std::function<std::string()>() : [d = std::move(detail)] { return d; }});
}

void Completer::declared(const std::string& label, CompletionKind kind, Group group, DeclarationId id,
                         int fit) {
  if (!found_.wants(label)) return;
  found_.add({label, kind, group, fit, 0, [this, id] { return signature_line(session_.text_of(id)).text; }});
}

void Completer::word(std::string_view text, Group group) {
  if (const Word* found = find_word(text))
    item(std::string(text),
         found->kind == WordKind::Form ? CompletionKind::Operator : CompletionKind::Keyword, group,
         std::string(found->form));
}

void Completer::words(WordKind kind, Group group) {
  for (const Word& w : ide::words())
    if (w.kind == kind && w.text != "as") word(w.text, group);
}

// --- variables

void Completer::variables(Group group) {
  constexpr size_t kTyped = 64;  // variables of the text whose types are looked up
  const Scoped& scope = parse_.scope();
  int recency = 1 << 20;
  std::unordered_map<std::string_view, bool> seen;
  for (size_t i = scope.size(); i-- > 0;) {
    const Binding& binding = scope[i];
    if (binding.role != Role::Variable || !parse_.sees(i) || !seen.emplace(binding.name, true).second)
      continue;
    std::string label = fmt::format("%{}", binding.name);
    if (!found_.wants(label)) continue;
    Type type = seen.size() <= kTyped ? types_.of_binding(binding) : nullptr;
    const LexemeRange annotation = annotation_of(lexed_, binding);
    auto detail = [this, type, annotation]() -> std::string {
      if (annotation.empty()) return type ? to_string(type) : "";
      return in_one_line(lexed_.in_text(
          {lexed_.lexemes[annotation.first].range.begin, lexed_.lexemes[annotation.last - 1].range.end}));
    };
    const int fits = fit(wanted_, type);
    found_.add({std::move(label), CompletionKind::Variable, fits && group != Best ? Fitting : group, fits,
                --recency, detail});
  }
  if (parse_.frames().front().in_definition) return;
  const std::vector<DeclarationId> statements = types_.statements_before();
  auto add = [&](DeclarationId statement, std::string_view bound) {
    const std::string name(bound);
    if (!seen.emplace(bound, true).second) return;
    std::string label = "%" + name;
    if (!found_.wants(label)) return;
    const auto variable = session_.known_variable(statement, name);
    const int fits = variable ? fit(wanted_, variable->variable->type) : 0;
    // The results of a prompt, `%_1`, have no name that somebody chose: they come after those that have.
    const bool is_result =
        name.size() > 1 && name[0] == '_' && std::isdigit(static_cast<unsigned char>(name[1]));
    --recency;
    found_.add({std::move(label), CompletionKind::Variable, fits && group != Best ? Fitting : group, fits,
                is_result ? recency - (1 << 20) : recency, [variable]() -> std::string {
                  if (!variable) return "";
                  return variable->scheme.type ? to_string(variable->scheme)
                                               : to_string(variable->variable->type);
                }});
  };
  for (size_t i = statements.size(); i-- > 0;)
    for_each_name(session_.info(statements[i]).name,
                  [&](std::string_view name) { add(statements[i], name); });
}

void Completer::bound_names() {
  const Scoped& scope = parse_.scope();
  for (size_t i = scope.size(); i-- > 0;) {
    const Binding& binding = scope[i];
    const std::string name(binding.name);
    if (binding.role == Role::TypeParameter) item(name, CompletionKind::TypeParameter, Bound);
    if (binding.role == Role::Constant) item(name, CompletionKind::Static, Bound);
    if (binding.role == Role::Attribute) item(name, CompletionKind::Attribute, Bound);
    if (binding.role == Role::Index && name != "_")
      found_.add({name, CompletionKind::Index, Bound, 1, static_cast<int>(i)});
  }
}

// --- declarations

void Completer::definitions(Group group) {
  const bool wants_function = wanted_.of == Wanted::Of::Function;
  for (size_t i = 0; i < at_; ++i)
    if (const Mark& mark = parse_.marks()[i]; mark.declares && mark.role == Role::Definition)
      item(std::string(lexed_.word(i)), CompletionKind::Definition, group);
  for (const std::string& name : session_.scope(module_).names(Scope::Names::Globals)) {
    const std::string label = "@" + name;
    if (!found_.wants(label)) continue;
    const DeclarationId id = session_.find_definition(module_, name);
    // The module's own come before the library's.
    const int fits = (wants_function ? 2 : 0) + (session_.in_library(id) ? 0 : 1);
    auto detail = [this, id, label] {
      std::string line = signature_line(session_.text_of(id)).text;
      const auto scheme = line.find("->") == std::string::npos ? session_.known_scheme(id) : nullptr;
      return scheme ? fmt::format("{}: {}", label, to_string(*scheme)) : line;
    };
    found_.add({label, CompletionKind::Definition, wants_function && group != Best ? Fitting : group, fits, 0,
                detail});
  }
}

void Completer::statics() {
  for (const std::string& name : session_.static_functions(module_))
    declared("@" + name, CompletionKind::Static, Best, session_.find_static(module_, name));
}

void Completer::operators() {
  for (size_t i = 0; i < at_; ++i)
    if (const Mark& mark = parse_.marks()[i]; mark.declares && mark.role == Role::Operator)
      item(std::string(lexed_.word(i)), CompletionKind::Operator, Called);
  for (const std::string& name : session_.scope(module_).names(Scope::Names::Operators))
    if (found_.wants(name))
      declared(name, CompletionKind::Operator, Called, session_.find_operator(module_, name));
  words(WordKind::Form, Called);
  for (auto& [name, id] : session_.import_names(module_))
    if (found_.typed().size() <= name.size())
      item(name + ".", CompletionKind::Module, Declared, std::string(session_.text_of(id)));
}

void Completer::constructors(Group group, Type wanted) {
  for (size_t i = 0; i < at_; ++i)
    if (const Mark& mark = parse_.marks()[i]; mark.declares && mark.role == Role::Constructor)
      item(std::string(lexed_.word(i)), CompletionKind::Constructor, group);
  Scope& scope = session_.scope(module_);
  for (const std::string& name : scope.names(Scope::Names::Constructors)) {
    const bool is_data = wanted && wanted->kind == TypeKind::Data && found_.wants(name);
    const DataDefinition* owner = is_data ? scope.data_of_constructor(name) : nullptr;
    const bool fits = owner && owner->header.type->id == wanted->id;
    const int order = fits ? static_cast<int>(quern::find_constructor(*owner, name)->tag) : 0;
    auto detail = [&scope, name]() -> std::string {
      const DataDefinition* data = scope.data_of_constructor(name);
      const DataConstructor* constructor = data ? quern::find_constructor(*data, name) : nullptr;
      return constructor ? constructor_line(name, *data, *constructor).text : "";
    };
    found_.add({name, CompletionKind::Constructor, group, fits ? 1 : 0, -order, detail});
  }
}

// --- types

void Completer::dtypes(std::string_view quote) {
  const auto kind = quote.empty() ? CompletionKind::Type : CompletionKind::Value;
  int recency = 0;
  for (std::string_view common : {"float32", "int32", "bool"})
    found_.add({fmt::format("{0}{1}{0}", quote, common), kind, Best, 1, --recency});
  for (const std::string& name : dtype_names())
    found_.add({fmt::format("{0}{1}{0}", quote, name), kind, Best});
}

void Completer::types() {
  for (size_t i = 0; i < at_; ++i)
    if (const Mark& mark = parse_.marks()[i]; mark.declares && mark.role == Role::Type)
      item(std::string(lexed_.word(i)), CompletionKind::Type, Next);
  item("Tensor", CompletionKind::Type, Best, std::string(find_word("Tensor")->form));
  item("Ref", CompletionKind::Type, Next, std::string(find_word("Ref")->form));
  item("fn", CompletionKind::Keyword, Next, "fn (type, …) -> type");
  dtypes("");
  for (const std::string& name : session_.scope(module_).names(Scope::Names::Types)) {
    const DeclarationId id = parse_dtype(name) ? 0 : session_.find_type(module_, name);
    if (id) declared(name, CompletionKind::Type, Next, id);
  }
}

void Completer::in_types() {
  const Frame& f = frame();
  if (!f.in_shape) {
    if (f.form == Form::Params && lexed_.is(f.item_begin, LexemeKind::Name)) {
      words(WordKind::Kind, Best);
      item("shape", CompletionKind::Keyword, Best, "attribute: shape = (2, 3)");
      return;
    }
    if (at_ > 0 && !begins_item() && parse_.ends_value(at_ - 1)) return;
    bound_names();
    return types();
  }
  if (f.form == Form::TensorType && f.items > 0) {
    bound_names();
    return dtypes("");
  }
  if (at_ > 0 && !begins_item() && parse_.ends_value(at_ - 1)) return;
  bound_names();
  item("?", CompletionKind::Keyword, Declared, "an extent that is known as the program runs");
  for (const std::string& name : static_builtin_names()) item(name, CompletionKind::Static, Rest);
}

// --- expressions

void Completer::values() {
  const Frame& f = frame();
  const bool is_whole =
      begins_item() && (f.form == Form::Top || f.form == Form::Block || f.form == Form::Arms);
  // Text typed without a sigil may name a variable; those come after the items that match as typed.
  const bool bare = !found_.typed().empty();
  bound_names();
  variables(bare ? Rest : Local);
  definitions(bare ? Rest : Declared);
  constructors(Declared);
  operators();
  words(WordKind::Expression, Rest);
  words(WordKind::Value, wanted_.dtype == DType::boolean() ? Fitting : Rest);
  if (is_whole) words(WordKind::Statement, Next);
  if (is_whole && f.form == Form::Top) words(WordKind::Declaration, Next);
}

void Completer::index_values() {
  bound_names();
  variables(found_.typed().empty() ? Local : Rest);
  words(WordKind::Bracket, Declared);
  words(WordKind::IndexForm, Declared);
  for (const ScalarOp op : kScalarOps)
    if (const std::string name(info(op).name);
        std::isalpha(static_cast<unsigned char>(name[0])) && !find_word(name))
      item(name, CompletionKind::Function, Declared, scalar_form(op));
  for (const std::string& name : static_builtin_names()) item(name, CompletionKind::Static, Rest);
  for (std::string_view text : {"if", "not", "True", "False"}) word(text, Rest);
}

void Completer::static_values() {
  bound_names();
  for (const std::string& name : static_builtin_names()) item(name, CompletionKind::Static, Called);
  statics();
  for (std::string_view text : {"True", "False", "None", "if", "not"}) word(text, Rest);
  for (const std::string& name : dtype_names()) item(name, CompletionKind::Type, Rest);
}

void Completer::patterns() {
  if (at_ > 0 && !begins_item() && parse_.ends_value(at_ - 1)) return;
  constructors(Best, matched_type());
  item("_", CompletionKind::Keyword, Next, "anything");
}

Type Completer::matched_type() {
  const std::vector<Frame>& frames = parse_.frames();
  size_t inner = frames.size();
  while (inner > 0 && frames[inner - 1].form == Form::Pattern) --inner;
  if (inner == 0 || frames[inner - 1].form != Form::Arms) return nullptr;
  Type type = types_.of(types_.value_before(frames[inner - 1].open));
  for (; type && inner < frames.size(); ++inner) type = part_type(type, frames[inner]);
  return type;
}

Type Completer::part_type(Type whole, const Frame& inner) {
  if (whole->kind == TypeKind::Tuple)
    return inner.items < whole->args.size() ? whole->args[inner.items] : nullptr;
  const DataDefinition* data = whole->kind == TypeKind::Data ? session_.data(module_, whole) : nullptr;
  const DataConstructor* made = data ? quern::find_constructor(*data, lexed_.word(inner.open - 1)) : nullptr;
  if (!made) return nullptr;
  const bool is_named = lexed_.is_symbol(inner.item_begin + 1, "=");
  const std::string_view name = is_named ? lexed_.word(inner.item_begin) : "";
  for (size_t i = 0; i < made->fields.size(); ++i)
    if (is_named ? made->fields[i].name == name : i == inner.items)
      return types_.field_type(whole, made->fields[i]);
  return nullptr;
}

void Completer::schedule() {
  if (frame().form == Form::ScheduleArguments) return bound_names();
  if (!begins_item() && !prev_is("=")) return;
  for (const loops::PrimitiveInfo& primitive : loops::primitives())
    item(std::string(primitive.text), CompletionKind::Function, Best, std::string(primitive.form));
}

// --- attributes

namespace {

// The strings that a declaration compares a name with. From `static` functions, only permutations of the default, as
// layouts are.
class ComparedStrings {
 public:
  ComparedStrings(Scope& scope, std::string_view fallback) : scope_(scope), fallback_(fallback) {}

  std::vector<std::string> found;

  void look(SyntaxPtr s, std::string_view name) {
    if (!s) return;
    const bool compares = s->is(SyntaxKind::Binary) && s->text == "==";
    if (compares && is_name(s->child(0), name)) add(s->child(1));
    if (compares && is_name(s->child(1), name)) add(s->child(0));
    if (s->is(SyntaxKind::Call)) call(s, name);
    for (SyntaxPtr c : s->children) look(c, name);
  }
  void add(SyntaxPtr text) {
    if (!text || !text->is(SyntaxKind::String) || text->text.empty()) return;
    if (in_static_ && !std::ranges::is_permutation(text->text, fallback_)) return;
    const std::string quoted = fmt::format("\"{}\"", text->text);
    if (std::ranges::find(found, quoted) == found.end()) found.push_back(quoted);
  }

 private:
  static bool is_name(SyntaxPtr s, std::string_view name) {
    return s && s->is(SyntaxKind::Name) && s->text == name;
  }
  void call(SyntaxPtr s, std::string_view name) {
    SyntaxPtr callee = s->child(0), list = s->child(1);
    const bool is_member =
        callee->text == "contains" && s->children.size() == 3 && is_name(s->child(2), name);
    if (is_member && list->is(SyntaxKind::List))
      for (SyntaxPtr text : list->children) add(text);
    if (in_static_ || !callee->is(SyntaxKind::GlobalName)) return;
    const Declaration* function = scope_.static_function(callee->text);
    if (!function || !function->syntax->is(SyntaxKind::Static)) return;
    for (size_t i = 1; i < s->children.size(); ++i) {
      SyntaxPtr parameter = params_of_static(function->syntax, i - 1);
      if (!is_name(s->child(i), name) || !parameter) continue;
      in_static_ = true;
      look(function->syntax->child(1), parameter->text);
      in_static_ = false;
    }
  }
  static SyntaxPtr params_of_static(SyntaxPtr function, size_t i) { return function->child(0)->child(i); }

  Scope& scope_;
  std::string_view fallback_;
  bool in_static_ = false;
};

}  // namespace

std::vector<std::string> Completer::known_strings(const Parameter& attribute) {
  if (!attribute.attribute.starts_with("string")) return {};
  std::string_view fallback = attribute.fallback;
  const bool has_fallback = fallback.size() > 2 && fallback.starts_with('"') && fallback.ends_with('"');
  fallback = has_fallback ? fallback.substr(1, fallback.size() - 2) : "";
  if (!call_->callable.declaration) return {};
  const Declaration& op = session_.declaration(call_->callable.declaration);
  ComparedStrings strings(session_.scope(module_).home(op), fallback);
  if (has_fallback) strings.found.push_back(attribute.fallback);
  strings.look(op.syntax, attribute.name);
  return std::move(strings.found);
}

void Completer::attributes() {
  const auto& parameters = call_->callable.parameters;
  const auto active = call_->active();
  // While tensor arguments are missing, those come first.
  const bool is_next = !active || !parameters[*active].attribute.empty();
  for (uint32_t i = 0; i < parameters.size(); ++i) {
    const Parameter& p = parameters[i];
    const bool is_field = call_->callable.is_constructor && !p.name.empty();
    if ((p.attribute.empty() && !is_field) || call_->is_given(i)) continue;
    std::string detail = is_field ? to_string(p.type) : p.attribute;
    if (!p.fallback.empty()) detail += " = " + p.fallback;
    found_.add({p.name + "=", is_field ? CompletionKind::Field : CompletionKind::Attribute,
                is_next ? Best : Next, 0, -static_cast<int>(i), [detail] { return detail; }});
  }
}

// The values of an attribute that is passed by name; false if the usual values of the place are possible too.
bool Completer::attribute_value() {
  const auto active = call_->active();
  if (!active) return false;
  const Parameter& p = call_->callable.parameters[*active];
  if (p.attribute.empty()) return false;
  if (p.attribute.starts_with("bool"))
    for (std::string_view text : {"True", "False"}) item(std::string(text), CompletionKind::Value, Best);
  for (const std::string& text : known_strings(p)) item(text, CompletionKind::Value, Best);
  if (p.attribute.starts_with("dtype")) dtypes("\"");
  if (p.attribute.ends_with("?")) item("None", CompletionKind::Value, Next);
  bound_names();
  return true;
}

}  // namespace quern::ide
