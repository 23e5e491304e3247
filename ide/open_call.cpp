#include "ide/open_call.h"

#include <fmt/format.h>

#include <algorithm>

#include "ide/words.h"

namespace quern::ide {

namespace {

void write_line(const std::string& callee, const std::vector<std::string>& parameters,
                const std::string& result, SignatureLine& line) {
  line.text = callee + "(";
  for (const std::string& parameter : parameters) {
    if (!line.parameters.empty()) line.text += ", ";
    const auto begin = static_cast<uint32_t>(line.text.size());
    line.text += parameter;
    line.parameters.push_back({begin, static_cast<uint32_t>(line.text.size())});
  }
  line.text += result.empty() ? ")" : fmt::format(") -> {}", result);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// `%x: type`, `axis: int = -1`, a type alone.
Parameter parameter_of(std::string_view text) {
  Parameter parameter;
  const size_t colon = text.find(':'), equals = text.find(" = ");
  const std::string_view name = trimmed(text.substr(0, std::min({colon, equals, text.size()})));
  if (name.starts_with('%')) {
    parameter.name = name.substr(1, name.find(' ') - 1);
    return parameter;
  }
  parameter.name = name;
  parameter.attribute =
      colon == std::string_view::npos
          ? "int"
          : std::string(trimmed(text.substr(colon + 1, std::max(equals, colon + 1) - colon - 1)));
  if (equals != std::string_view::npos) parameter.fallback = trimmed(text.substr(equals + 3));
  return parameter;
}

}  // namespace

SignatureLine constructor_line(std::string_view name, const DataDefinition& data,
                               const DataConstructor& constructor) {
  std::vector<std::string> shown;
  for (const DataField& field : constructor.fields) {
    const std::string type = to_string(field.type);
    shown.push_back(field.name.empty() ? type : fmt::format("{}: {}", field.name, type));
  }
  SignatureLine line;
  write_line(std::string(name), shown, to_string(data.header.type), line);
  return line;
}

Wanted wanted_of(Type type) {
  Wanted wanted;
  if (!type || type->kind == TypeKind::Var || type->is_error()) return wanted;
  wanted.type = type;
  wanted.of = Wanted::Of::Other;
  if (type->kind == TypeKind::Function) wanted.of = Wanted::Of::Function;
  if (!type->is_tensor()) return wanted;
  wanted.of = Wanted::Of::Tensor;
  wanted.rank = type->dims.size();
  if (!type->dtype.is_var()) wanted.dtype = type->dtype;
  for (Dim d : type->dims) wanted.dims.push_back(as_const(d) ? d : nullptr);
  return wanted;
}

int fit(const Wanted& wanted, Type type) {
  if (!type || wanted.of == Wanted::Of::Anything) return 0;
  switch (wanted.of) {
    case Wanted::Of::Anything: return 0;
    case Wanted::Of::Function: return type->kind == TypeKind::Function ? 2 : 0;
    case Wanted::Of::Other: {
      Substitution found;
      return match_types(wanted.type, type, found) ? 2 : 0;
    }
    case Wanted::Of::Tensor: break;
  }
  if (!type->is_tensor() || (wanted.dtype && type->dtype != *wanted.dtype)) return 0;
  if ((wanted.rank && type->dims.size() != *wanted.rank) || type->dims.size() < wanted.least_rank) return 1;
  for (size_t i = 0; i < std::min(wanted.dims.size(), type->dims.size()); ++i)
    if (wanted.dims[i] && as_const(type->dims[i]) && wanted.dims[i] != type->dims[i]) return 1;
  return 2;
}

std::optional<OpenCall> OpenCall::at(Session& session, ModuleId module, const QuickParse& parse,
                                     KnownTypes& types) {
  const LexedText& text = parse.text();
  for (auto frame = parse.frames().rbegin(); frame != parse.frames().rend(); ++frame) {
    if (frame->form == Form::Block || frame->form == Form::Arms || frame->form == Form::Params)
      return std::nullopt;
    if (frame->form != Form::Call) continue;
    OpenCall call(session, module, types, text);
    call.open = frame->open;
    const std::vector<Argument> whole = types.arguments(frame->open, frame->item_begin);
    call.before.assign(whole.begin(), whole.end());
    const uint32_t partner = text.partner[frame->open];
    const size_t end = partner == kNoLexeme ? text.lexemes.size() : partner;
    const size_t item_end = std::min(end_of_item(text, frame->item_begin, ",;"), end);
    if (text.is_symbol(item_end, ",") && item_end > frame->open)
      call.others = types.arguments(static_cast<uint32_t>(item_end), end);
    if (text.is_symbol(frame->item_begin + 1, "=") && frame->item_begin + 1 < parse.at())
      call.name = text.word(frame->item_begin);
    const auto callee = types.callee_before(frame->open);
    if (!callee || !call.find_callable(*callee)) return std::nullopt;
    return call;
  }
  return std::nullopt;
}

bool OpenCall::find_callable(LexemeRange callee) {
  const std::string_view word = text_->word(callee.first);
  const bool is_bare = text_->is(callee.first, LexemeKind::Name) || text_->is(callee.first, LexemeKind::Word);
  // `f(…)(…)`
  if (callee.last - callee.first > 1 && text_->is_symbol(callee.last - 1, ")")) return call_result(callee);
  if (text_->is(callee.first, LexemeKind::Local)) return call_local(callee);
  if (text_->is(callee.first, LexemeKind::Global)) {
    if (const DeclarationId id = session_->find_definition(module_, word.substr(1)))
      return call_declared(id, types_->scheme_of_global(word.substr(1)));
    const DeclarationId id = session_->find_static(module_, word.substr(1));
    return id && call_declared(id, nullptr);
  }
  if (!is_bare) return false;
  if (call_constructor(word)) return true;
  if (const DeclarationId id = session_->find_operator(module_, word)) return call_declared(id, nullptr);
  return call_form(word);
}

bool OpenCall::call_declared(DeclarationId declaration, const Scheme* scheme) {
  callable.declaration = declaration;
  callable.documentation = session_->doc(declaration);
  callable.line = signature_line(session_->text_of(declaration));
  for (const Range& range : callable.line.parameters)
    callable.parameters.push_back(
        parameter_of(std::string_view(callable.line.text).substr(range.begin, range.end - range.begin)));
  const Declaration& parsed = session_->declaration(declaration);
  SyntaxPtr params = parsed.syntax->is(SyntaxKind::Static) ? nullptr : params_of(parsed.syntax);
  if (!params || params->children.size() != callable.parameters.size()) return true;
  const bool by_signature = !parsed.name.starts_with("@") || has_attributes_or_packs(parsed);
  if (by_signature) callable.op = &parsed;
  for (size_t i = 0; i < callable.parameters.size(); ++i) callable.parameters[i].syntax = params->children[i];
  if (by_signature) return true;
  // A definition shows its omitted types as inferred.
  if (!scheme) scheme = session_->scheme(module_, parsed.name.substr(1));
  if (!scheme || scheme->type->kind != TypeKind::Function || scheme->specialised) return true;
  if (scheme->type->params().size() != callable.parameters.size()) return true;
  for (size_t i = 0; i < callable.parameters.size(); ++i)
    callable.parameters[i].type = scheme->type->params()[i];
  const bool all_written = parsed.syntax->child(2) && std::ranges::all_of(params->children, [](SyntaxPtr p) {
                             return p->child(0) != nullptr;
                           });
  if (all_written) return true;
  std::vector<std::string> shown;
  for (const Parameter& p : callable.parameters)
    shown.push_back(fmt::format("%{}: {}", p.name, to_string(p.type)));
  callable.line = {};
  write_line(parsed.name, shown, to_string(scheme->type->result()), callable.line);
  return true;
}

void OpenCall::call_type(const std::string& name, Type function) {
  std::vector<std::string> shown;
  for (Type type : function->params()) {
    shown.push_back(to_string(type));
    Parameter& parameter = callable.parameters.emplace_back();
    parameter.type = type;
  }
  write_line(name, shown, to_string(function->result()), callable.line);
}

bool OpenCall::call_local(LexemeRange callee) {
  if (callee.last - callee.first > 1) {
    Type type = types_->of(callee);
    if (type && type->kind == TypeKind::Function) call_type(std::string(text_->word(callee.first)), type);
    return !callable.line.text.empty();
  }
  const std::string_view name = text_->word(callee.first);
  if (const Binding* local = types_->local(name.substr(1))) {
    const LexemeRange value = value_of(*text_, *local);
    if (value.empty() || text_->word(value.first) != "fn") {
      Type type = types_->of_binding(*local);
      if (type && type->kind == TypeKind::Function) call_type(std::string(name), type);
      return !callable.line.text.empty();
    }
    // For a function literal of the text, its head as written.
    const Range head{text_->lexemes[value.first].range.end, text_->lexemes[value.last - 1].range.end};
    callable.line = signature_line(std::string(name) + std::string(trimmed(text_->in_text(head))));
    for (const Range& range : callable.line.parameters)
      callable.parameters.push_back(
          parameter_of(std::string_view(callable.line.text).substr(range.begin, range.end - range.begin)));
    return true;
  }
  const DeclarationId statement = types_->statement_of(name.substr(1));
  const auto variable = types_->variable_of(statement, name.substr(1));
  Type type = variable ? variable->scheme.type ? variable->scheme.type : variable->variable->type : nullptr;
  if (!type || type->kind != TypeKind::Function) return false;
  callable.documentation = session_->doc(statement);
  call_type(std::string(name), type);
  return true;
}

bool OpenCall::call_constructor(std::string_view name) {
  const DeclarationId id = session_->find_constructor(module_, name);
  const DataDefinition* data = id ? session_->scope(module_).data_of_constructor(name) : nullptr;
  const DataConstructor* constructor = data ? quern::find_constructor(*data, name) : nullptr;
  if (!constructor) return false;
  callable.declaration = id;
  callable.is_constructor = true;
  callable.documentation = session_->doc(id);
  callable.line = constructor_line(name, *data, *constructor);
  for (const DataField& field : constructor->fields) {
    Parameter& parameter = callable.parameters.emplace_back();
    parameter.name = field.name;
    parameter.type = field.type;
  }
  return true;
}

// `grad(function)`, `print(values…)`
bool OpenCall::call_form(std::string_view name) {
  const Word* word = find_word(name);
  if (!word || (word->kind != WordKind::Form && word->kind != WordKind::IndexForm)) return false;
  callable.line = signature_line(word->form);
  callable.documentation = word->about;
  for (const Range& range : callable.line.parameters) {
    Parameter& parameter = callable.parameters.emplace_back();
    parameter.name = callable.line.text.substr(range.begin, range.end - range.begin);
    const size_t equals = parameter.name.find('=');
    if (equals == std::string::npos) continue;
    parameter.fallback = parameter.name.substr(equals + 1);
    parameter.attribute = parameter.fallback == "True" || parameter.fallback == "False" ? "bool" : "float";
    parameter.name.resize(equals);
  }
  return true;
}

// `grad(@f)(…)` takes what `@f` takes.
bool OpenCall::call_result(LexemeRange callee) {
  const uint32_t inner = text_->partner[callee.last - 1];
  const std::string_view form = text_->word(callee.first);
  const bool derives = inner == callee.first + 1 && (form == "grad" || form == "value_and_grad" ||
                                                     form == "vjp" || form == "jvp" || form == "checkpoint");
  if (!derives) {
    Type type = types_->of(callee);
    if (!type || type->kind != TypeKind::Function) return false;
    call_type("", type);
    return true;
  }
  const LexemeRange function{inner + 1, callee.last - 1};
  if (function.last - function.first != 1 || !find_callable(function)) return false;
  SignatureLine& line = callable.line;
  const std::string prefix = std::string(form) + "(", text = line.text;
  const size_t name_end = text.find('(');
  if (name_end == std::string::npos) return false;
  const size_t arrow = text.rfind(") -> ");
  // The results are those of `grad` and the like, not of the function.
  line.text = prefix + text.substr(0, name_end) + ")" +
              text.substr(name_end, arrow == std::string::npos ? arrow : arrow + 1 - name_end);
  for (Range& range : line.parameters) {
    range.begin += static_cast<uint32_t>(prefix.size()) + 1;
    range.end += static_cast<uint32_t>(prefix.size()) + 1;
  }
  return true;
}

std::optional<uint32_t> OpenCall::active() const {
  const auto& parameters = callable.parameters;
  if (name) {
    const auto named = std::ranges::find(parameters, *name, &Parameter::name);
    if (named == parameters.end()) return std::nullopt;
    return static_cast<uint32_t>(named - parameters.begin());
  }
  if (parameters.empty()) return std::nullopt;
  // `print(values…)` takes any number.
  if (parameters.back().name.ends_with("…"))
    return static_cast<uint32_t>(std::min(before.size(), parameters.size() - 1));
  // After an argument by name, the next parameter is the first that is not given.
  if (std::ranges::any_of(before, [](const Argument& a) { return !a.name.empty(); })) {
    for (uint32_t i = 0; i < parameters.size(); ++i)
      if (!is_given(i)) return i;
    return std::nullopt;
  }
  if (before.size() >= parameters.size()) return std::nullopt;
  return static_cast<uint32_t>(before.size());
}

bool OpenCall::is_given(uint32_t parameter) const {
  const std::string& name_of = callable.parameters[parameter].name;
  size_t by_position = 0;
  for (const auto* list : {&before, &others})
    for (const Argument& argument : *list) {
      if (!argument.name.empty() && argument.name == name_of) return true;
      by_position += argument.name.empty() && list == &before;
    }
  return parameter < by_position;
}

const StaticEnv& OpenCall::known() {
  if (!known_)
    known_ = known_names(*callable.op, types_->partial_call(*callable.op, before), session_->scope(module_));
  return *known_;
}

Type OpenCall::filled_in(Type type) {
  Substitution found;
  for (size_t i = 0; i < before.size(); ++i) {
    const auto by_name = std::ranges::find(callable.parameters, before[i].name, &Parameter::name);
    const bool named = !before[i].name.empty() && by_name != callable.parameters.end();
    if (!named && i >= callable.parameters.size()) continue;
    const Parameter& parameter = named ? *by_name : callable.parameters[i];
    if (!parameter.type) continue;
    if (Type actual = types_->of(before[i].value)) match_types(parameter.type, actual, found);
  }
  return substitute(type, found);
}

std::string OpenCall::expected(uint32_t index) {
  const Parameter& parameter = callable.parameters[index];
  const Range range = callable.line.parameters[index];
  std::string written = callable.line.text.substr(range.begin, range.end - range.begin);
  const size_t colon = written.find(": ");
  const std::string name = colon == std::string::npos ? "" : written.substr(0, colon + 2);
  if (parameter.type) return name + to_string(filled_in(parameter.type));
  SyntaxPtr type = parameter.syntax && parameter.syntax->is(SyntaxKind::TensorParam)
                       ? parameter.syntax->child(0)
                       : nullptr;
  return callable.op && type ? name + type_text(type) : written;
}

Wanted OpenCall::wanted(uint32_t index) {
  const Parameter& parameter = callable.parameters[index];
  if (parameter.type) return wanted_of(filled_in(parameter.type));
  Wanted wanted;
  SyntaxPtr type = parameter.syntax && parameter.syntax->is(SyntaxKind::TensorParam)
                       ? parameter.syntax->child(0)
                       : nullptr;
  if (parameter.name == "function" && !callable.declaration) wanted.of = Wanted::Of::Function;
  if (!callable.op || !type || !type->is(SyntaxKind::TensorType)) return wanted;
  wanted.of = Wanted::Of::Tensor;
  Diagnostics unseen;
  StaticEvaluator evaluator(session_->scope(module_).home(*callable.op), callable.op->id, unseen);
  SyntaxPtr shape = type->child(0), dtype = type->child(1);
  if (!shape || !dtype) return wanted;
  const bool opens_dtype =
      dtype->is(SyntaxKind::Name) && !known().contains(dtype->text) && !parse_dtype(dtype->text);
  if (!opens_dtype) wanted.dtype = evaluator.dtype(dtype, known());
  if (shape->is(SyntaxKind::Name)) {
    const auto bound = known().find(shape->text);
    const StaticList* dims = bound == known().end() ? nullptr : bound->second.as_list();
    if (!dims) return wanted;
    for (const StaticValue& dim : *dims) wanted.dims.push_back(dim.as_dim());
  } else {
    const bool has_spread =
        std::ranges::any_of(shape->children, [](SyntaxPtr s) { return s->is(SyntaxKind::Spread); });
    const bool permuted = is_permuted_shape(shape);
    if (has_spread) wanted.least_rank = shape->children.size() - 1;
    if ((!shape->is(SyntaxKind::Tuple) && !permuted) || has_spread) return wanted;
    wanted.dims.resize((permuted ? shape->child(1) : shape)->children.size(), nullptr);
    for (size_t i = 0; i < shape->children.size() && !permuted; ++i)
      if (!names_unknown_of(shape->children[i]))
        wanted.dims[i] = evaluator.dim(shape->children[i], known()).value_or(nullptr);
  }
  wanted.rank = wanted.dims.size();
  return wanted;
}

// --- types of parameters with what is known

bool OpenCall::names_unknown_of(SyntaxPtr expr) {
  if (expr->is(SyntaxKind::Name)) return !known().contains(expr->text);
  return std::ranges::any_of(expr->children, [&](SyntaxPtr c) { return c && names_unknown_of(c); });
}

std::string OpenCall::source_text(SyntaxPtr node) {
  const Range range = session_->range_of(Place{{callable.op->id, node->id}, {}});
  const std::string& source = session_->text(session_->info(callable.op->id).source);
  return in_one_line(std::string_view(source).substr(range.begin, range.end - range.begin));
}

std::string OpenCall::type_text(SyntaxPtr type) {
  if (type->is(SyntaxKind::TensorType) && type->child(0) && type->child(1))
    return fmt::format("Tensor[{}, {}]", shape_text(type->child(0)), dtype_text(type->child(1)));
  if (!type->is(SyntaxKind::TupleType)) return source_text(type);
  std::string text = "(";
  for (SyntaxPtr member : type->children) text += (text.size() > 1 ? ", " : "") + type_text(member);
  return text + (type->children.size() == 1 ? ",)" : ")");
}

std::string OpenCall::dtype_text(SyntaxPtr dtype) {
  const auto bound = known().find(dtype->text);
  const bool is_known = dtype->is(SyntaxKind::Name) && bound != known().end() && bound->second.as_dtype();
  return is_known ? to_string(*bound->second.as_dtype()) : source_text(dtype);
}

std::string OpenCall::shape_text(SyntaxPtr shape) {
  const auto pack = shape->is(SyntaxKind::Name) ? known().find(shape->text) : known().end();
  std::vector<SyntaxPtr> items(shape->children.begin(), shape->children.end());
  if (pack != known().end() && pack->second.as_list()) {
    std::vector<Dim> dims;
    for (const StaticValue& dim : *pack->second.as_list())
      if (dim.as_dim()) dims.push_back(dim.as_dim());
    return shape_to_string(dims);
  }
  if (is_permuted_shape(shape)) {
    Diagnostics unseen;
    StaticEvaluator evaluator(session_->scope(module_).home(*callable.op), callable.op->id, unseen);
    const auto axes = evaluator.evaluate(shape->child(2), known());
    if (!axes || !axes->as_list()) return source_text(shape);
    items.clear();
    for (const StaticValue& axis : *axes->as_list())
      if (auto k = axis.as_int(); k && shape->child(1)->child(static_cast<size_t>(*k)))
        items.push_back(shape->child(1)->child(static_cast<size_t>(*k)));
  } else if (!shape->is(SyntaxKind::Tuple)) {
    return source_text(shape);
  }
  std::string text = "(";
  for (SyntaxPtr item : items) {
    const std::string one = item_text(item);
    if (one.empty()) continue;
    text += (text.size() > 1 ? ", " : "") + one;
  }
  return text + (items.size() == 1 && text.find(',') == std::string::npos ? ",)" : ")");
}

// A dim or a pack; "" for a pack without dims.
std::string OpenCall::item_text(SyntaxPtr item) {
  if (item->is(SyntaxKind::Spread)) {
    const auto pack = known().find(item->child(0)->text);
    if (pack == known().end() || !pack->second.as_list()) return source_text(item);
    std::string text;
    for (const StaticValue& dim : *pack->second.as_list())
      if (dim.as_dim()) text += (text.empty() ? "" : ", ") + to_string(dim.as_dim());
    return text;
  }
  StaticEnv env = known();
  auto open_names = [&](auto&& self, SyntaxPtr s) -> void {
    if (s->is(SyntaxKind::Name) && !env.contains(s->text))
      env.insert_or_assign(s->text, StaticValue(dim_var(s->text)));
    for (SyntaxPtr c : s->children)
      if (c) self(self, c);
  };
  open_names(open_names, item);
  Diagnostics unseen;
  StaticEvaluator evaluator(session_->scope(module_).home(*callable.op), callable.op->id, unseen);
  const auto dim = evaluator.dim(item, env);
  return dim ? to_string(*dim) : source_text(item);
}

}  // namespace quern::ide
