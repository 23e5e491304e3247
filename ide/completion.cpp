#include "ide/completion.h"

#include <algorithm>
#include <array>
#include <utility>

#include "ide/completer.h"
#include "ide/description.h"
#include "ide/window.h"

namespace quern::ide {

Completer::Completer(Session& session, ModuleId module, LexedText lexed, uint32_t offset, std::string folder,
                     std::optional<SourceWindow> window)
    : session_(session),
      module_(module),
      lexed_(std::move(lexed)),
      offset_(std::min(offset, static_cast<uint32_t>(lexed_.text.size()))),
      folder_(std::move(folder)),
      parse_(lexed_),
      types_(session, module, parse_, window),
      replaced_{offset_, offset_} {}

CompletionList Completer::run() {
  CompletionList nothing{replaced_, {}, false};
  if (in_comment()) return nothing;
  at_ = word_at_offset();
  if (lexed_.is(at_, LexemeKind::String) && lexed_.lexemes[at_].range.begin < offset_) return in_string(at_);
  if (lexed_.is(at_, LexemeKind::Number) && lexed_.lexemes[at_].range.begin < offset_) return nothing;
  parse_.run_to(at_);
  const std::string_view text = lexed_.text;
  const bool at_line_start = replaced_.begin > 0 && text[replaced_.begin - 1] == '\n';
  if (frame().is_alias && at_line_start) parse_.end_declaration();
  // `%x.w`, `%x.`
  const bool reads_field = at_ > 0 && lexed_.is_symbol(at_ - 1, ".");
  const bool after_dot = lexed_.is_symbol(at_, ".") && lexed_.lexemes[at_].range.end == offset_;
  const bool is_position =
      lexed_.is(at_, LexemeKind::Projection) && lexed_.lexemes[at_].range.begin < offset_;
  if (reads_field && !is_position) {
    const size_t dot = text.substr(0, offset_).rfind('.');
    return fields(at_ - 1, static_cast<uint32_t>(dot + 1));
  }
  if (after_dot || is_position) return fields(at_, lexed_.lexemes[at_].range.begin + 1);
  if (at_declared_name()) return nothing;
  found_ = Candidates(lexed_.in_text({replaced_.begin, offset_}));
  at_place();
  return found_.take(replaced_);
}

bool Completer::in_comment() const {
  return std::ranges::any_of(lexed_.comments, [&](Range comment) {
    const std::string_view text = lexed_.in_text(comment);
    const bool is_open = text.starts_with("//") || !text.ends_with("*/") || text.size() < 4;
    return comment.begin < offset_ && (offset_ < comment.end || (is_open && offset_ == comment.end));
  });
}

size_t Completer::word_at_offset() {
  const auto& lexemes = lexed_.lexemes;
  const auto after = std::partition_point(lexemes.begin(), lexemes.end(),
                                          [&](const Lexeme& lexeme) { return lexeme.range.end < offset_; });
  auto at = static_cast<size_t>(after - lexemes.begin());
  // Of two lexemes that touch at the offset, the first may be a word.
  for (; at < lexemes.size() && lexemes[at].range.begin < offset_; ++at) {
    const Range range = lexemes[at].range;
    const std::string_view text = lexed_.word(at);
    switch (lexemes[at].kind) {
      case LexemeKind::String:
        if (lexed_.opens_code(at) && offset_ == range.end) continue;
        if (offset_ < range.end || !text.ends_with('"') || text.size() < 2) return at;
        continue;
      case LexemeKind::Number:
      case LexemeKind::Projection: return at;
      case LexemeKind::Local:
      case LexemeKind::Global:
      case LexemeKind::Name:
      case LexemeKind::Word: replaced_ = range; return at;
      case LexemeKind::Symbol:
        if (text == "%") {
          replaced_ = range;
          return at;
        }
        if (text != ".") continue;
        // `nn.` and `@net.`: the beginning of a dotted name.
        if (at > 0 && lexed_.touches_next(at - 1) && !(at > 1 && lexed_.is_symbol(at - 2, ".")) &&
            (lexed_.is(at - 1, LexemeKind::Name) || lexed_.is(at - 1, LexemeKind::Global))) {
          replaced_ = {lexemes[at - 1].range.begin, range.end};
          return at - 1;
        }
        return at;
      case LexemeKind::Unknown:
        if (text != "@") continue;
        replaced_ = range;
        return at;
    }
  }
  return at;
}

// `let Net`: the constructor of a pattern.
bool Completer::begins_pattern() const { return prev_is("let") && lexed_.is(at_, LexemeKind::Name); }

// Where a new name is introduced.
bool Completer::at_declared_name() const {
  const Frame& f = frame();
  if (f.expects_name || (prev_is("let") && !begins_pattern()) || prev_is("free_var") || prev_is("for"))
    return true;
  if (f.head != Head::None && f.form == Form::Top && !f.has_params && f.head != Head::Type) return true;
  if (f.form == Form::TypeParams || f.form == Form::TypeBody || f.form == Form::Other) return true;
  return (f.form == Form::Params || f.form == Form::Binders) && (begins_item() || prev_is(".."));
}

bool Completer::at_clause() const {
  const Frame& f = frame();
  const bool has_clauses =
      f.head == Head::Definition || f.head == Head::Composite || f.head == Head::Operator;
  const bool behind_type = f.mode == Mode::Type && at_ > 0 && !prev_is("->") && !prev_is(":");
  return f.form == Form::Top && has_clauses && f.has_params && (behind_type || f.has_body || prev_is(")"));
}

CompletionList Completer::fields(size_t dot, uint32_t begin) {
  // For `%x.a.b`, a field of `%x.a`.
  Type type = types_.of(types_.value_before(dot));
  const size_t word = lexed_.is_symbol(dot, ".") ? dot + 1 : dot;
  uint32_t end = offset_;
  if (word < lexed_.lexemes.size() && lexed_.lexemes[word].range.begin < offset_) {
    const Range range = lexed_.lexemes[word].range;
    std::string_view path = lexed_.in_text({range.begin, begin});
    while (type && lexed_.is(word, LexemeKind::Name) && !path.empty()) {
      const std::string_view name = path.substr(0, path.find('.'));
      path.remove_prefix(name.size() + 1);
      type = types_.member(type, name);
    }
    end = std::max(offset_, range.begin + static_cast<uint32_t>(
                                              std::min(lexed_.in_text(range).find('.', begin - range.begin),
                                                       size_t{range.end - range.begin})));
  }
  found_ = Candidates(lexed_.in_text({begin, offset_}));
  if (type && type->kind == TypeKind::Tuple)
    for (size_t i = 0; i < type->args.size(); ++i)
      found_.add({std::to_string(i), CompletionKind::Field, Best, 0, -static_cast<int>(i),
                  [t = type->args[i]] { return to_string(t); }});
  if (const DataConstructor* made = type ? types_.record(type) : nullptr) {
    int order = 0;
    for (const DataField& field : made->fields) {
      if (field.name.empty()) continue;
      Type of = types_.field_type(type, field);
      found_.add(
          {field.name, CompletionKind::Field, Best, 0, --order, [of] { return of ? to_string(of) : ""; }});
    }
  }
  return found_.take({begin, end});
}

CompletionList Completer::in_string(size_t lexeme) {
  const Range range = lexed_.lexemes[lexeme].range;
  parse_.run_to(lexeme);
  const bool is_closed = lexed_.word(lexeme).size() > 1 && lexed_.word(lexeme).ends_with('"');
  const uint32_t end = is_closed ? range.end - 1 : range.end;
  if (prev_is("import")) return files(range.begin + 1, ".relay");
  call_ = OpenCall::at(session_, module_, parse_, types_);
  const std::string_view callee = call_ && call_->open > 0 ? lexed_.word(call_->open - 1) : "";
  const bool has_files = callee == "load" || callee == "save";
  if (has_files && call_->name == "tokens") return files(range.begin + 1, ".json");
  if (has_files && call_->before.empty()) return files(range.begin + 1, "");
  // The values of an attribute; their labels include the quotes.
  replaced_ = {range.begin, range.end};
  found_ = Candidates(lexed_.in_text({range.begin, std::min(offset_, end)}));
  if (!call_ || !call_->name || !attribute_value()) return {replaced_, {}, false};
  CompletionList list = found_.take(replaced_);
  std::erase_if(list.items, [](const CompletionItem& item) { return !item.label.starts_with('"'); });
  return list;
}

void Completer::at_place() {
  const Frame& f = frame();
  const std::string_view typed = found_.typed();
  if (f.form == Form::Schedule || f.form == Form::ScheduleArguments) return schedule();
  if (f.mode != Mode::Type || f.form == Form::TensorType)
    call_ = OpenCall::at(session_, module_, parse_, types_);
  const auto active = call_ ? call_->active() : std::nullopt;
  const bool at_argument = call_ && f.open == call_->open && (begins_item() || call_->name);
  if (at_argument && active) wanted_ = call_->wanted(*active);
  if (typed.starts_with('%')) return variables(Best);
  if (typed.starts_with('@')) {
    if (f.is_static || f.in_shape) statics();
    return definitions(Best);
  }
  if (at_clause()) {
    const bool is_whole = f.has_body;
    words(WordKind::Clause, is_whole ? Rest : Best);
    word("static", is_whole ? Rest : Best);
    if (!is_whole) return;
    parse_.end_declaration();
  }
  if (f.in_shape || f.mode == Mode::Type) return in_types();
  if (f.mode == Mode::Pattern || begins_pattern()) return patterns();
  if (at_ > 0 && !begins_item() && (parse_.ends_value(at_ - 1) || prev_is("}"))) return after_value();
  if (at_argument && call_->name && attribute_value()) return;
  if (at_argument && begins_item()) attributes();
  if (f.is_static) return static_values();
  if (f.is_index) return index_values();
  values();
}

// What may follow a value: nothing that begins one.
void Completer::after_value() {
  const Frame& f = frame();
  for (std::string_view text : {"and", "or"}) word(text, Best);
  if (prev_is("}") || f.is_index) word("else", Best);
  if (f.form == Form::List || f.form == Form::Group || f.form == Form::Call) word("for", Next);
  if (f.form == Form::Top || f.form == Form::Block || prev_is(")")) word("schedule", Next);
  if (f.head == Head::Import) word("as", Best);
}

CompletionList complete(Session& session, ModuleId module, std::string_view text, uint32_t offset,
                        const std::string& folder) {
  return Completer(session, module, lexed_text(text), offset, folder, std::nullopt).run();
}

CompletionList complete(Session& session, SourceId source, uint32_t offset) {
  const Range window = window_at(session, source, offset);
  LexedText lexed = lexed_text(session.text(source), window, session.has_slash_names(source));
  return Completer(session, session.module_of(source), std::move(lexed), offset, session.folder(source),
                   SourceWindow{source, window})
      .run();
}

std::string documentation_of(Session& session, ModuleId module, const CompletionItem& item) {
  switch (item.kind) {
    case CompletionKind::Index:
    case CompletionKind::Field:
    case CompletionKind::Attribute:
    case CompletionKind::TypeParameter:
    case CompletionKind::Value:
    case CompletionKind::File:
    case CompletionKind::Folder: return "";
    case CompletionKind::Variable:
    case CompletionKind::Definition:
    case CompletionKind::Static:
    case CompletionKind::Operator:
    case CompletionKind::Function:
    case CompletionKind::Constructor:
    case CompletionKind::Keyword:
    case CompletionKind::Type:
    case CompletionKind::Module: break;
  }
  const auto description = describe(session, module, item.label);
  return description ? description->documentation : "";
}

}  // namespace quern::ide
