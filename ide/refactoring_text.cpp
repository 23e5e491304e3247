#include "ide/refactoring_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace quern::ide {

namespace {

bool is_blank_in_line(char c) { return c == ' ' || c == '\t'; }
bool ends_line(char c) { return c == '\n' || c == '\r'; }

uint32_t begin_of_line(std::string_view text, uint32_t offset) {
  while (offset > 0 && !ends_line(text[offset - 1])) --offset;
  return offset;
}

/// The offset after a line break at an offset; the offset itself if there is none.
uint32_t behind_line_end(std::string_view text, uint32_t offset) {
  if (text.substr(offset).starts_with("\r\n")) return offset + 2;
  return offset < text.size() && ends_line(text[offset]) ? offset + 1 : offset;
}

bool is_word(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::string name_of_call(SyntaxPtr call) {
  SyntaxPtr callee = call->child(0);
  const bool has_name =
      callee->is(SyntaxKind::Name) || callee->is(SyntaxKind::GlobalName) || callee->is(SyntaxKind::Local);
  std::string_view name = has_name ? callee->text : "";
  if (name.starts_with("@")) name.remove_prefix(1);
  name = name.substr(name.rfind('.') + 1);
  std::string lower(name);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
}

std::string_view name_of_symbol(std::string_view symbol) {
  if (symbol == "+") return "sum";
  if (symbol == "-") return "difference";
  if (symbol == "*") return "product";
  if (symbol == "/") return "quotient";
  if (symbol == "%") return "remainder";
  return "condition";
}

uint32_t last_id(SyntaxPtr tree) {
  uint32_t last = tree->id;
  for (SyntaxPtr child : tree->children)
    if (child) last = std::max(last, last_id(child));
  return last;
}

bool is_closed(SyntaxPtr value) {
  switch (value->kind) {
    case SyntaxKind::Int:
    case SyntaxKind::Float: return !value->text.starts_with("-");
    case SyntaxKind::Bool:
    case SyntaxKind::Local:
    case SyntaxKind::GraphName:
    case SyntaxKind::GlobalName:
    case SyntaxKind::Name:
    case SyntaxKind::Meta:
    case SyntaxKind::Tuple:
    case SyntaxKind::Paren:
    case SyntaxKind::List:
    case SyntaxKind::Call:
    case SyntaxKind::Project:
    case SyntaxKind::Field:
    case SyntaxKind::Index: return true;
    default: return false;
  }
}

/// The precedence of a symbol, as in the grammar; 0 for other symbols.
int precedence(std::string_view symbol) {
  if (symbol == "*" || symbol == "/" || symbol == "%") return 4;
  if (symbol == "+" || symbol == "-") return 3;
  if (symbol == "<" || symbol == "<=" || symbol == ">" || symbol == ">=") return 2;
  return symbol == "==" || symbol == "!=" ? 1 : 0;
}
/// Whether it binds more tightly than its parent, or equally tightly as its left operand.
bool binds_tightly(SyntaxPtr value, SyntaxPtr parent, SyntaxPtr child) {
  if (!value->is(SyntaxKind::Binary) || !parent->is(SyntaxKind::Binary)) return false;
  const int inner = precedence(value->text), outer = precedence(parent->text);
  return inner > 0 && outer > 0 && (inner > outer || (inner == outer && parent->child(0) == child));
}

}  // namespace

std::string line_end(std::string_view text) {
  const size_t end = text.find_first_of("\r\n");
  if (end == std::string_view::npos) return "\n";
  return text.substr(end).starts_with("\r\n") ? "\r\n" : std::string(1, text[end]);
}

std::optional<std::string> indentation_at(std::string_view text, uint32_t offset) {
  const uint32_t begin = begin_of_line(text, offset);
  const std::string_view before = text.substr(begin, offset - begin);
  if (!std::ranges::all_of(before, is_blank_in_line)) return std::nullopt;
  return std::string(before);
}

std::string free_name(const LexedText& text, LexemeKind kind, const std::string& base) {
  const std::string sigil = kind == LexemeKind::Local ? "%" : kind == LexemeKind::Global ? "@" : "";
  auto is_taken = [&](const std::string& name) {
    for (size_t i = 0; i < text.lexemes.size(); ++i)
      if (text.word(i) == name) return true;
    return false;
  };
  std::string name = base;
  for (size_t k = 2; is_taken(sigil + name); ++k) name = fmt::format("{}_{}", base, k);
  return name;
}

std::string name_after(SyntaxPtr value) {
  std::string name = "value";
  switch (value->kind) {
    case SyntaxKind::Paren: return name_after(value->child(0));
    case SyntaxKind::Call: name = name_of_call(value); break;
    case SyntaxKind::Field: name = value->text; break;
    case SyntaxKind::Binary: name = name_of_symbol(value->text); break;
    case SyntaxKind::Fn: return "function";
    default: break;
  }
  return is_word(name) ? name : "value";
}

bool has_comment(const LexedText& text, Range range) {
  return std::ranges::any_of(
      text.comments, [&](Range comment) { return comment.begin < range.end && range.begin < comment.end; });
}

std::optional<Range> with_separator(const LexedText& text, Range statement) {
  const auto next = std::partition_point(text.lexemes.begin(), text.lexemes.end(), [&](const Lexeme& lexeme) {
    return lexeme.range.begin < statement.end;
  });
  if (next == text.lexemes.end() || text.in_text(next->range) != ";") return std::nullopt;
  const std::string_view all = text.text;
  Range whole{statement.begin, next->range.end};
  uint32_t end = whole.end;
  while (end < all.size() && is_blank_in_line(all[end])) ++end;
  const bool begins_line = indentation_at(all, whole.begin).has_value();
  if (begins_line && (end == all.size() || ends_line(all[end])))
    return Range{begin_of_line(all, whole.begin), behind_line_end(all, end)};
  // What follows on its line stays where the statement was.
  whole.end = end;
  return whole;
}

std::vector<SyntaxPtr> path_to(SyntaxPtr root, uint32_t id) {
  std::vector<SyntaxPtr> path;
  for (SyntaxPtr node = root; node;) {
    path.push_back(node);
    if (node->id == id) return path;
    SyntaxPtr next = nullptr;
    for (SyntaxPtr child : node->children)
      if (child && child->id <= id) next = child;
    node = next;
  }
  return {};
}

bool can_be_extracted(SyntaxPtr node) {
  switch (node->kind) {
    case SyntaxKind::Int:
    case SyntaxKind::Float:
    case SyntaxKind::Bool:
    case SyntaxKind::Fn:
    case SyntaxKind::If:
    case SyntaxKind::Match:
    case SyntaxKind::Tuple:
    case SyntaxKind::Paren:
    case SyntaxKind::List:
    case SyntaxKind::Call:
    case SyntaxKind::Project:
    case SyntaxKind::Field:
    case SyntaxKind::Index:
    case SyntaxKind::Unary:
    case SyntaxKind::Binary:
    case SyntaxKind::Comprehension:
    case SyntaxKind::Scheduled: return true;
    default: return false;
  }
}

bool is_of_elements(SyntaxPtr node) {
  switch (node->kind) {
    case SyntaxKind::Comprehension:
    case SyntaxKind::Reduce:
    case SyntaxKind::Scan:
    case SyntaxKind::Scatter:
    case SyntaxKind::Generator: return true;
    default: return false;
  }
}

bool is_inside(SyntaxPtr tree, uint32_t id) { return tree->id <= id && id <= last_id(tree); }

bool is_delimited(SyntaxPtr parent, SyntaxPtr child) {
  switch (parent->kind) {
    case SyntaxKind::Block:
    case SyntaxKind::Let:
    case SyntaxKind::LetPattern:
    case SyntaxKind::GraphLet:
    case SyntaxKind::Tuple:
    case SyntaxKind::Paren:
    case SyntaxKind::List:
    case SyntaxKind::NamedArgument: return true;
    case SyntaxKind::Call: return parent->child(0) != child;
    case SyntaxKind::If: return parent->child(0) == child;
    case SyntaxKind::Arm: return parent->child(1) == child;
    default: return false;
  }
}

bool needs_brackets(SyntaxPtr value, SyntaxPtr parent, SyntaxPtr name) {
  return parent && !is_closed(value) && !is_delimited(parent, name) && !binds_tightly(value, parent, name);
}

std::vector<FreeName> free_names(Session& session, DeclarationId declaration, SyntaxPtr node) {
  const uint32_t last = last_id(node);
  auto is_in = [&](uint32_t id) { return node->id <= id && id <= last; };
  std::vector<FreeName> names;
  for (const Occurrence& occurrence : session.occurrences(declaration)) {
    const Origin declared = occurrence.target.declared;
    if (!is_in(occurrence.node) || (declared.declaration == declaration && is_in(declared.node))) continue;
    const bool known =
        std::ranges::any_of(names, [&](const FreeName& name) { return name.target == occurrence.target; });
    if (known) continue;
    const Range range = session.range_of(occurrence, declaration);
    const SourceId source = session.info(declaration).source;
    names.push_back({occurrence.target, std::string(text_at(session, SourceRange{source, range}))});
  }
  return names;
}

}  // namespace quern::ide
