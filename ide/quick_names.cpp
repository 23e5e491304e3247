// The quick parse: words and names.

#include <algorithm>
#include <array>
#include <cctype>

#include "ide/quick_parse.h"
#include "ir/type/dtype.h"

namespace quern::ide {

namespace {

template <size_t N>
bool one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

// Words that the grammar takes as names too (its rule `name`).
constexpr std::array<std::string_view, 20> kNameWords{
    "op",   "test",   "where",  "when", "static",   "infix", "as",       "at",  "shape", "gradient",
    "type", "extern", "import", "meta", "lowering", "needs", "schedule", "ref", "warn",  "fix"};
constexpr std::array<std::string_view, 8> kClauses{"where", "warn",     "static", "gradient",
                                                   "shape", "lowering", "when",   "schedule"};

Head head_of(std::string_view word) {
  if (word == "def") return Head::Definition;
  if (word == "op") return Head::Operator;
  if (word == "type") return Head::Type;
  if (word == "static") return Head::Static;
  if (word == "test") return Head::Test;
  if (word == "import") return Head::Import;
  if (word == "infix") return Head::Infix;
  return Head::None;
}

}  // namespace

bool QuickParse::begins_clause() const {
  const Frame& f = frames_.back();
  const bool has_clauses =
      f.head == Head::Definition || f.head == Head::Composite || f.head == Head::Operator;
  return f.form == Form::Top && has_clauses && f.has_params && one_of(kClauses, text_.word(at_));
}

bool QuickParse::is_name(size_t i) const {
  const std::string_view word = text_.word(i);
  if (!one_of(kNameWords, word)) return false;
  const Frame& f = frames_.back();
  if (i > 0 && text_.is_symbol(i - 1, ".")) return true;
  if (f.expects_name || f.form == Form::TypeParams || f.form == Form::Binders) return true;
  if (f.form == Form::Params && i == f.item_begin) return true;
  if (begins_clause()) return false;
  if (word == "needs" || word == "fix") return i == 0 || !text_.is(i - 1, LexemeKind::String);
  if (word == "as") return f.head != Head::Import;
  if (word == "meta") return !text_.is_symbol(i + 1, "[");
  if (word == "schedule") return !text_.is_symbol(i + 1, "{");
  if (word == "at") return !(text_.is_symbol(i + 1, "(") && i > 0 && ends_value(i - 1));
  if (word == "ref") return f.mode != Mode::Type;
  if (f.form != Form::Top || f.mode == Mode::Type || f.head != Head::None)
    return f.form != Form::Top || f.mode == Mode::Type;
  // A declaration begins where a name or a string follows, or nothing yet.
  const bool can_begin = i == f.item_begin && (head_of(word) != Head::None || word == "extern");
  const bool followed = i + 1 == text_.lexemes.size() || text_.is(i + 1, LexemeKind::Name) ||
                        text_.is(i + 1, LexemeKind::Global) || text_.is(i + 1, LexemeKind::Word) ||
                        text_.is(i + 1, LexemeKind::String);
  return !(can_begin && followed);
}

void QuickParse::word() {
  const std::string_view word = text_.word(at_);
  Frame& f = top();
  mark(Role::Word);
  if (word == "Tensor" || (word == "ref" && f.mode == Mode::Type)) {
    mark(Role::Tensor);
  } else if (f.form == Form::TypeBody && begins_item()) {
    mark(Role::Constructor).declares = true;  // `None`
  } else if (f.mode == Mode::Pattern && word == "None") {
    mark(Role::Constructor);
  } else if (word == "fn" && f.mode == Mode::Value) {
    if (f.head != Head::None && f.form == Form::Top) return;
    f.head = Head::Function;
    f.head_base = scope_.size();
    f.has_params = f.has_body = false;
  } else if (word == "match" || word == "match?") {
    ++f.matches;
  } else if (word == "let") {
    if (f.form == Form::Top) end_declaration();
    const bool is_constructor = text_.is(at_ + 1, LexemeKind::Name) && text_.is_symbol(at_ + 2, "(");
    f.in_pattern = is_constructor || text_.is_symbol(at_ + 1, "(");
    if (f.in_pattern) f.mode = Mode::Pattern;
  } else if (word == "as" && f.head == Head::Import) {
    f.expects_name = true;
  } else if (begins_clause()) {
    begin_clause(word);
  } else if (f.form == Form::Top && begins_item() && word == "extern") {
    f.item_begin = static_cast<uint32_t>(at_ + 1);
  } else if (f.form == Form::Top && begins_item() && head_of(word) != Head::None) {
    begin_declaration(head_of(word));
  }
}

void QuickParse::declare(Role role, std::string_view name) {
  mark(role).declares = true;
  marks_[at_].bound = true;
  scope_.push({role, name, static_cast<uint32_t>(at_)});
}

void QuickParse::declared_name() {
  Frame& f = top();
  f.expects_name = false;
  switch (f.head) {
    case Head::Definition:
      if (f.has_params) return declare(Role::Constant, text_.word(at_));
      f.head = Head::Composite;
      mark(Role::Operator).declares = true;
      return;
    case Head::Composite:
    case Head::Operator:
      if (f.has_params) return declare(Role::Constant, text_.word(at_));
      mark(Role::Operator).declares = true;
      return;
    case Head::Type: mark(Role::Type).declares = true; return;
    case Head::Import:
      mark(Role::Module).declares = true;
      f.has_body = true;
      return;
    case Head::Infix:
    case Head::Test:
    case Head::Static:
    case Head::Function:
    case Head::None: return;
  }
}

void QuickParse::name() {
  const std::string_view name = text_.word(at_);
  Frame& f = top();
  const bool is_first = begins_item();
  if (f.expects_name) return declared_name();
  if (f.head == Head::Infix) {
    mark(Role::Operator);
    f.has_body = true;
    return;
  }
  if (at_ > 0 && text_.is_symbol(at_ - 1, ".")) {
    mark(Role::Field);
    return;
  }
  if (prev_is("for")) {
    mark(Role::Index).declares = true;
    marks_[at_].bound = true;
    return;
  }
  switch (f.form) {
    case Form::TypeParams: return declare(Role::TypeParameter, name);
    case Form::Params:
      if (is_first) return declare(Role::Attribute, name);
      break;
    case Form::Binders:
      if (is_first || (text_.is_symbol(at_ - 1, "..") && at_ - 1 == f.item_begin))
        return declare(Role::Index, name);
      break;
    case Form::TypeBody: mark(Role::Constructor).declares = true; return;
    case Form::FieldTypes:
      if (!is_first || !text_.is_symbol(at_ + 1, ":")) break;
      mark(Role::Field).declares = true;
      return;
    case Form::Call:
      if (!is_first || !text_.is_symbol(at_ + 1, "=")) break;
      mark(Role::NamedArgument);
      return;
    case Form::Schedule:
    case Form::ScheduleArguments:
      mark(text_.is_symbol(at_ + 1, "(") && f.form == Form::Schedule ? Role::Primitive : Role::Index);
      marks_[at_].bound = true;
      return;
    case Form::Other: return;
    case Form::Top:
    case Form::Block:
    case Form::Arms:
    case Form::Group:
    case Form::List:
    case Form::Condition:
    case Form::Types:
    case Form::TensorType:
    case Form::Read: break;
    case Form::Pattern:
      if (!is_first || !text_.is_symbol(at_ + 1, "=")) break;
      mark(Role::NamedArgument);
      return;
  }
  if (f.mode == Mode::Pattern) {
    mark(Role::Constructor);
  } else if (f.mode == Mode::Type) {
    // The kind of an attribute.
    const bool is_kind = f.form == Form::Params && text_.is(f.item_begin, LexemeKind::Name);
    mark(is_kind ? Role::Kind : Role::Type);
    if (const Binding* bound = find(name, false); bound && !is_kind) marks_[at_] = {bound->role, false, true};
  } else {
    value_name(name);
  }
}

void QuickParse::value_name(std::string_view name) {
  const Frame& f = top();
  if (const Binding* bound = find(name, false)) {
    marks_[at_] = {bound->role, false, true};
    return;
  }
  const bool is_called =
      text_.is_symbol(at_ + 1, "(") || (text_.is_symbol(at_ + 1, "<") && text_.touches_next(at_));
  if (!f.in_shape || is_called) {
    mark(is_called ? Role::Operator : Role::Name);
  } else if (parse_dtype(name)) {
    mark(Role::Type);
  } else if (f.implicit_dims) {
    return declare(Role::TypeParameter, name);
  } else {
    mark(Role::TypeParameter);
  }
  marks_[at_].bound = f.is_static;
  if (f.in_shape || f.is_static) late_.push_back(static_cast<uint32_t>(at_));
}

void QuickParse::local() {
  const std::string_view name = text_.word(at_).substr(1);
  Frame& f = top();
  mark(Role::Variable);
  const bool let = prev_is("let") || prev_is("free_var");
  const bool is_graph = std::isdigit(static_cast<unsigned char>(name[0])) != 0;
  if (let || (is_graph && begins_item() && text_.is_symbol(at_ + 1, "="))) {
    marks_[at_].declares = marks_[at_].bound = true;
    if (name != "_") f.pending = {{Role::Variable, name, static_cast<uint32_t>(at_)}};
    return;
  }
  if (Frame* let = f.mode == Mode::Pattern && name != "_" ? pattern_of_let() : nullptr) {
    marks_[at_].declares = marks_[at_].bound = true;
    let->pending.push_back({Role::Variable, name, static_cast<uint32_t>(at_)});
    return;
  }
  const bool is_parameter = f.form == Form::Params && begins_item();
  if (name != "_" && (is_parameter || f.mode == Mode::Pattern)) return declare(Role::Variable, name);
  const bool in_schedule = f.form == Form::Schedule || f.form == Form::ScheduleArguments;
  marks_[at_].bound = name == "_" || in_schedule || find(name, true);
  marks_[at_].sees_variables = !f.in_definition;
}

void QuickParse::global() {
  Frame& f = top();
  mark(f.is_static || f.in_shape || f.head == Head::Static ? Role::Static : Role::Definition);
  if (!f.expects_name) return;
  f.expects_name = false;
  marks_[at_].declares = marks_[at_].bound = true;
}

// `o, i = split(…)`: the names before the `=` are loops that the step creates.
void QuickParse::declare_loops() {
  const size_t equals = at_;
  for (at_ = top().item_begin; at_ < equals; ++at_)
    if (text_.is(at_, LexemeKind::Name)) declare(Role::Index, text_.word(at_));
  at_ = equals;
}

}  // namespace quern::ide
