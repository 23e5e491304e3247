#include "ide/quick_parse.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace quern::ide {

namespace {

// Whether names bound inside stay in scope after the bracket: the binder is around it.
bool keeps_names(const Frame& frame) {
  switch (frame.form) {
    case Form::Params:
    case Form::TypeParams:
    case Form::Binders:
    case Form::Pattern:
    case Form::Schedule: return true;
    case Form::Top:
    case Form::Block:
    case Form::Arms:
    case Form::TypeBody:
    case Form::FieldTypes:
    case Form::ScheduleArguments:
    case Form::Call:
    case Form::Group:
    case Form::List:
    case Form::Condition:
    case Form::Types:
    case Form::TensorType:
    case Form::Read:
    case Form::Other: return frame.implicit_dims;
  }
  return false;
}

Mode mode_of(Form form) {
  switch (form) {
    case Form::FieldTypes:
    case Form::Types: return Mode::Type;
    case Form::Arms:
    case Form::Pattern: return Mode::Pattern;
    case Form::Top:
    case Form::Block:
    case Form::TypeBody:
    case Form::Schedule:
    case Form::ScheduleArguments:
    case Form::Params:
    case Form::TypeParams:
    case Form::Call:
    case Form::Group:
    case Form::List:
    case Form::Condition:
    case Form::TensorType:
    case Form::Read:
    case Form::Binders:
    case Form::Other: return Mode::Value;
  }
  return Mode::Value;
}

// The names that the generators inside of each bracket bind, by the bracket's lexeme.
std::vector<std::pair<uint32_t, Binding>> names_of_generators(const LexedText& text) {
  std::vector<std::pair<uint32_t, Binding>> names;
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < text.lexemes.size(); ++i) {
    if (text.partner[i] != kNoLexeme && text.opens(i)) open.push_back(i);
    if (text.partner[i] != kNoLexeme && text.closes(i))
      while (!open.empty() && open.back() >= text.partner[i]) open.pop_back();
    const bool binds =
        text.is(i, LexemeKind::Word) && text.word(i) == "for" && text.is(i + 1, LexemeKind::Name);
    if (binds && !open.empty()) names.push_back({open.back(), {Role::Index, text.word(i + 1), i + 1}});
  }
  std::ranges::stable_sort(names, {}, &std::pair<uint32_t, Binding>::first);
  return names;
}

}  // namespace

QuickParse::QuickParse(const LexedText& text)
    : text_(text),
      marks_(text.lexemes.size()),
      around_(text.lexemes.size(), kNoLexeme),
      frames_(1),
      is_open_(text.lexemes.size()),
      closed_(text.lexemes.size(), Form::Other),
      for_names_(names_of_generators(text)) {}

void QuickParse::run_to(size_t lexeme) {
  for (; at_ < lexeme && at_ < text_.lexemes.size(); ++at_) step();
  if (at_ == text_.lexemes.size()) resolve_late();
}

void Scoped::push(const Binding& binding) {
  Latest& latest = is_variable(binding) ? variables_ : names_;
  const auto [at, is_new] = latest.try_emplace(binding.name, kNone);
  bound_.push_back({binding, at->second});
  at->second = bound_.size() - 1;
}

void Scoped::cut(size_t size) {
  for (; bound_.size() > size; bound_.pop_back()) {
    const Bound& last = bound_.back();
    (is_variable(last.binding) ? variables_ : names_)[last.binding.name] = last.hidden;
  }
}

const Binding* Scoped::find(std::string_view name, bool variable, size_t first) const {
  const Latest& latest = variable ? variables_ : names_;
  const auto at = latest.find(name);
  const bool found = at != latest.end() && at->second != kNone && at->second >= first;
  return found ? &bound_[at->second].binding : nullptr;
}

bool QuickParse::ends_value(size_t i) const {
  if (i >= text_.lexemes.size()) return false;
  switch (text_.lexemes[i].kind) {
    case LexemeKind::Local:
    case LexemeKind::Global:
    case LexemeKind::Name:
    case LexemeKind::Number:
    case LexemeKind::Projection: return true;
    case LexemeKind::String: return !text_.opens_code(i);
    case LexemeKind::Word: {
      const std::string_view word = text_.word(i);
      return marks_[i].role != Role::Word || word == "True" || word == "False" || word == "None";
    }
    case LexemeKind::Symbol: {
      const std::string_view symbol = text_.word(i);
      if (symbol == ")") return closed_[i] != Form::Condition && closed_[i] != Form::Params;
      if (symbol == "]") return closed_[i] != Form::Binders && closed_[i] != Form::TypeParams;
      return symbol == "_" || (symbol == ">" && closed_[i] == Form::Types);
    }
    case LexemeKind::Unknown: return false;
  }
  return false;
}

void QuickParse::step() {
  if (text_.begins_declaration(at_)) {
    while (frames_.size() > 1) pop();
    end_declaration();
  } else if (top().head != Head::None && top().has_body) {
    if (continues())
      top().has_body = false;
    else
      end_declaration();
  } else if (top().is_alias && text_.begins_line(at_)) {
    end_declaration();
  } else if (top().head == Head::Import && text_.is(at_ - 1, LexemeKind::String) && text_.word(at_) != "as") {
    end_declaration();
  }
  around_[at_] = top().open;
  switch (text_.lexemes[at_].kind) {
    case LexemeKind::Word: return is_name(at_) ? name() : word();
    case LexemeKind::Name: return name();
    case LexemeKind::Local: return local();
    case LexemeKind::Global: return global();
    case LexemeKind::Symbol: return symbol(text_.word(at_));
    case LexemeKind::Number:
    case LexemeKind::String:
    case LexemeKind::Unknown: return;
    case LexemeKind::Projection: mark(Role::Field); return;
  }
}

void QuickParse::symbol(std::string_view text) {
  if (text_.opens(at_)) return open();
  if (text_.closes(at_)) return close();
  if (text == ",") return comma();
  if (text == ";") return semicolon();
  if (text == "=") return equals();
  if (text == ":") return colon();
  if (text == "->" && top().head != Head::None) top().mode = Mode::Type;
  if (text == "=>" && top().form == Form::Arms) {
    top().mode = Mode::Value;
    top().item_base = scope_.size();
  }
  if (text == "<" && at_ > 1 && text_.word(at_ - 2) == "for") {
    // `(Tensor[s[k], t] for k < count)`
    top().in_shape |= top().mode == Mode::Type;
    top().mode = Mode::Value;
  } else if (text == "<" && is_type_arguments()) {
    push(top().head != Head::None && !top().has_params && top().mode == Mode::Value ? Form::TypeParams
                                                                                    : Form::Types);
  } else if (text == ">" && frames_.size() > 1 && text_.word(top().open) == "<") {
    closed_[at_] = top().form;
    pop();
  }
}

void QuickParse::colon() {
  Frame& f = top();
  const bool annotates = f.form == Form::Params || f.mode == Mode::Pattern ||
                         (f.form == Form::Top && f.head != Head::None) ||
                         (!f.pending.empty() && f.pending.back().declared + 1 == at_);
  if (annotates) f.mode = Mode::Type;
}

void QuickParse::equals() {
  Frame& f = top();
  if (f.form == Form::Schedule) return declare_loops();
  if (f.form == Form::Params) f.is_static = true;
  const bool was_pattern = std::exchange(f.in_pattern, false);
  if (f.form == Form::Params || !f.pending.empty() || was_pattern || f.head != Head::None)
    f.mode = f.head == Head::Type ? Mode::Type : Mode::Value;
  f.is_alias = f.head == Head::Type;
  // A function literal sees its own name.
  if (!was_pattern && !f.pending.empty() && text_.word(at_ + 1) == "fn") scope_.push(f.pending[0]);
}

void QuickParse::open() {
  const char bracket = text_.word(at_).back();
  Frame& f = top();
  const Form form = bracket == '(' ? form_of_paren() : bracket == '[' ? form_of_square() : form_of_brace();
  if (form == Form::Params) f.has_params = true;
  push(form);
}

bool QuickParse::is_type_arguments() const {
  const Frame& f = frames_.back();
  if (at_ == 0) return false;
  if (f.head != Head::None && !f.has_params && f.mode == Mode::Value) return true;
  if (f.mode == Mode::Type) return ends_value(at_ - 1);
  if (!text_.touches_next(at_ - 1)) return false;
  if (text_.is(at_ - 1, LexemeKind::Global)) return true;
  const std::string_view callee = text_.word(at_ - 1);
  if (callee == "cast" || callee == "lowest" || callee == "highest" || callee == "None") return true;
  // `Cons<int32>(…)`: only types, up to a `>` before a bracket.
  constexpr size_t kLookedAt = 24;
  if (!text_.is(at_ - 1, LexemeKind::Name)) return false;
  for (size_t i = at_ + 1; i < at_ + kLookedAt; ++i) {
    if (text_.is_symbol(i, ">")) return text_.is_symbol(i + 1, "(");
    constexpr std::array<std::string_view, 7> kInTypes{"(", ")", "[", "]", ",", "?", "_"};
    const bool in_type = text_.is(i, LexemeKind::Name) || text_.is(i, LexemeKind::Number) ||
                         text_.word(i) == "Tensor" ||
                         std::ranges::find(kInTypes, text_.word(i)) != kInTypes.end();
    if (!in_type) return false;
  }
  return false;
}

Form QuickParse::form_of_paren() const {
  const Frame& f = frames_.back();
  if (f.head != Head::None && !f.has_params && f.mode == Mode::Value) return Form::Params;
  if (f.mode == Mode::Type) return Form::Types;
  if (f.mode == Mode::Pattern) return Form::Pattern;
  if (f.form == Form::TypeBody) return Form::FieldTypes;
  if (f.form == Form::Schedule || f.form == Form::ScheduleArguments) return Form::ScheduleArguments;
  if (prev_is("if")) return Form::Condition;
  return at_ > 0 && !begins_item() && ends_value(at_ - 1) ? Form::Call : Form::Group;
}

Form QuickParse::form_of_square() const {
  const Frame& f = frames_.back();
  if (text_.word(at_).size() > 1) return Form::Binders;
  if (f.head != Head::None && !f.has_params && f.mode == Mode::Value) return Form::TypeParams;
  if (f.mode == Mode::Type) return prev_is("Tensor") ? Form::TensorType : Form::Types;
  const bool after_other = prev_is("]") && closed_[at_ - 1] == Form::Other;
  if (prev_is("meta") || after_other) return Form::Other;
  if (at_ > 0 && !begins_item() && ends_value(at_ - 1)) return Form::Read;
  return is_comprehension() ? Form::Binders : Form::List;
}

bool QuickParse::is_comprehension() const {
  const uint32_t partner = text_.partner[at_];
  if (partner != kNoLexeme) return text_.is_symbol(partner + 1, "=>");
  const size_t first = text_.is_symbol(at_ + 1, "..") ? at_ + 2 : at_ + 1;
  if (!text_.is(first, LexemeKind::Name)) return false;
  const std::string_view next = text_.word(first + 1);
  return next.empty() || next == "<" || next == "<=" || next == ",";
}

Form QuickParse::form_of_brace() {
  Frame& f = top();
  if (prev_is("schedule") && marks_[at_ - 1].role == Role::Word) return Form::Schedule;
  if (f.form == Form::Params && text_.is(at_ - 1, LexemeKind::Local)) return Form::Other;
  if (f.head != Head::None) return f.head == Head::Type ? Form::TypeBody : Form::Block;
  const bool begins_block = prev_is("match") || prev_is("match?") || prev_is("else") ||
                            (prev_is(")") && closed_[at_ - 1] == Form::Condition);
  if (f.matches == 0 || begins_block) return Form::Block;
  --f.matches;
  return Form::Arms;
}

void QuickParse::push(Form form) {
  const Frame& around = top();
  Frame frame;
  frame.form = form;
  frame.open = static_cast<uint32_t>(at_);
  frame.mode = mode_of(form);
  frame.is_static = around.is_static;
  frame.is_index = around.is_index;
  frame.in_shape = around.in_shape || form == Form::TensorType;
  frame.implicit_dims = around.implicit_dims;
  frame.in_definition = around.in_definition;
  frame.item_begin = frame.open + 1;
  frame.base = scope_.size();
  if (form == Form::Params)
    // A definition with attributes or packs declares dims as an operator does; for another one, inference says it.
    frame.implicit_dims =
        around.head == Head::Composite || around.head == Head::Operator || around.head == Head::Definition;
  if (form == Form::Block && around.head != Head::None) {
    frame.implicit_dims = false;
    frame.is_static = around.head == Head::Static;
    frame.is_index = around.head == Head::Operator;
    if (around.head == Head::Function) {
      frame.base = around.head_base;
      top().head = Head::None;
    }
    top().mode = Mode::Value;
  }
  frame.inside_index = frame.is_index;
  auto bound = std::ranges::lower_bound(for_names_, frame.open, {}, &std::pair<uint32_t, Binding>::first);
  for (; bound != for_names_.end() && bound->first == frame.open; ++bound) scope_.push(bound->second);
  frame.inner_base = frame.item_base = scope_.size();
  frames_.push_back(frame);
  is_open_[frame.open] = true;
}

void QuickParse::pop() {
  const Frame closed = top();
  frames_.pop_back();
  is_open_[closed.open] = false;
  if (!keeps_names(closed)) scope_.cut(closed.base);
  Frame& f = top();
  if (closed.form == Form::Binders) f.is_index = true;
  const bool is_body = closed.form == Form::Block || closed.form == Form::TypeBody;
  if (is_body && f.form == Form::Top && f.head != Head::None) f.has_body = true;
}

void QuickParse::close() {
  const uint32_t partner = text_.partner[at_];
  // The frame is gone if a declaration began inside of the bracket.
  if (partner == kNoLexeme || !is_open_[partner]) return;
  while (top().open != partner) pop();
  closed_[at_] = top().form;
  pop();
}

void QuickParse::comma() {
  Frame& f = top();
  if (f.form == Form::Top || f.form == Form::Block || f.form == Form::Schedule) return;
  ++f.items;
  f.item_begin = static_cast<uint32_t>(at_ + 1);
  f.mode = mode_of(f.form);
  f.pending.clear();
  f.in_pattern = false;
  f.head = Head::None;
  f.matches = 0;
  f.is_index = f.inside_index;
  if (f.form == Form::Params) f.is_static = frames_[frames_.size() - 2].is_static;
  if (keeps_names(f)) return;
  scope_.cut(f.inner_base);
  f.item_base = f.inner_base;
}

void QuickParse::semicolon() {
  if (top().form == Form::Top) {
    end_declaration();
  } else if (top().form != Form::Schedule && top().form != Form::ScheduleArguments) {
    bind_pending();
    top().head = Head::None;
  }
  Frame& f = top();
  ++f.items;
  f.item_begin = static_cast<uint32_t>(at_ + 1);
  f.mode = Mode::Value;
  f.matches = 0;
  f.is_index = f.inside_index;
}

// The `let` whose pattern contains the current lexeme; null if there is none.
Frame* QuickParse::pattern_of_let() {
  for (size_t i = frames_.size(); i-- > 0;) {
    if (frames_[i].in_pattern) return &frames_[i];
    if (frames_[i].form != Form::Pattern) return nullptr;
  }
  return nullptr;
}

// After a statement, the names that it binds are in scope, and those bound in its parts are not.
void QuickParse::bind_pending() {
  Frame& f = top();
  scope_.cut(f.item_base);
  for (const Binding& binding : f.pending) scope_.push(binding);
  f.pending.clear();
  f.in_pattern = false;
  f.item_base = scope_.size();
}

// --- declarations

// Whether the declaration continues after the `}` of a body, as in the scanner.
bool QuickParse::continues() const {
  const std::string_view word = text_.word(at_);
  const Head head = frames_.back().head;
  if (head == Head::Type || head == Head::Test || head == Head::Import || head == Head::Infix) return false;
  if (word == "{") return true;
  if (word == "static") return !text_.begins_declaration(at_) && text_.is(at_ + 1, LexemeKind::Name);
  if (word == "schedule") return text_.is_symbol(at_ + 1, "{");
  constexpr std::array<std::string_view, 7> kWords{"when",  "else", "gradient", "shape",
                                                   "where", "warn", "lowering"};
  return text_.is(at_, LexemeKind::Word) && std::ranges::find(kWords, word) != kWords.end();
}

void QuickParse::begin_declaration(Head head) {
  end_declaration();
  Frame& f = top();
  f.head = head;
  f.head_base = scope_.size();
  f.expects_name = head != Head::Test && head != Head::Import && head != Head::Infix;
  f.has_params = !f.expects_name;
  f.in_definition = head != Head::Import && head != Head::Infix;
  if (f.in_definition) visible_ = scope_.size();
}

void QuickParse::end_declaration() {
  Frame& f = top();
  resolve_late();
  if (f.head != Head::None) scope_.cut(f.head_base);
  bind_pending();
  f.head = Head::None;
  f.has_params = f.has_body = f.expects_name = f.is_alias = false;
  f.mode = Mode::Value;
  f.is_static = f.is_index = f.in_definition = false;
  f.item_begin = static_cast<uint32_t>(at_);
  visible_ = 0;
}

void QuickParse::begin_clause(std::string_view word) {
  Frame& f = top();
  f.mode = Mode::Value;
  f.is_static = true;
  f.expects_name = word == "static";
  if (word == "gradient" || word == "shape") f.has_params = false;
}

// A type may name what a clause after it computes.
void QuickParse::resolve_late() {
  for (const uint32_t i : late_)
    if (const Binding* bound = find(text_.word(i), false); bound && bound->role == Role::Constant)
      marks_[i] = {Role::Constant, false, true};
  late_.clear();
}

// --- parts of declarations

size_t end_of_item(const LexedText& text, size_t first, std::string_view separators) {
  size_t i = first;
  while (i < text.lexemes.size()) {
    const std::string_view word = text.word(i);
    if (text.opens(i)) {
      if (text.partner[i] == kNoLexeme) return text.lexemes.size();
      i = text.partner[i] + 1;
      continue;
    }
    if (text.closes(i) || text.is_symbol(i, "=>")) return i;
    if (text.is(i, LexemeKind::Symbol) && word.size() == 1 && separators.find(word) != std::string_view::npos)
      return i;
    ++i;
  }
  return i;
}

LexemeRange annotation_of(const LexedText& text, const Binding& binding) {
  if (binding.role != Role::Variable && binding.role != Role::Attribute) return {};
  size_t i = binding.declared + 1;
  if (text.is_symbol(i, "{") && text.partner[i] != kNoLexeme) i = text.partner[i] + 1;
  if (!text.is_symbol(i, ":")) return {};
  return {i + 1, end_of_item(text, i + 1, ",=;")};
}

LexemeRange value_of(const LexedText& text, const Binding& binding) {
  const LexemeRange annotation = annotation_of(text, binding);
  const size_t i = annotation.empty() ? binding.declared + 1 : annotation.last;
  if (!text.is_symbol(i, "=")) return {};
  return {i + 1, end_of_item(text, i + 1, binding.role == Role::Variable ? ";" : ",")};
}

}  // namespace quern::ide
