#include "ide/evaluable.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/text/source.h"
#include "ide/lenses.h"
#include "ide/lexed_text.h"
#include "ide/name_places.h"
#include "ide/refactoring_text.h"

namespace quern::ide {

namespace {

using Statements = EvaluationRequest::Statements;

/// Whether its values stay as they are whatever happens between two uses.
bool is_constant(Type type) {
  if (!type) return false;
  if (type->kind == TypeKind::Tuple) return std::ranges::all_of(type->args, is_constant);
  return type->kind == TypeKind::Tensor;
}

SyntaxPtr value_of(SyntaxPtr statement) {
  switch (statement->kind) {
    case SyntaxKind::Let: return statement->child(1);
    case SyntaxKind::LetPattern: return statement->child(2);
    case SyntaxKind::GraphLet: return statement->child(0);
    default: return statement;
  }
}

/// How a name is written. `text` is without its sigil.
std::string written(const FreeName& name) {
  return (name.target.kind == NameKind::Variable ? "%" : "") + name.text;
}

/// The one body of a definition without cases; null for others.
SyntaxPtr body_of(SyntaxPtr definition) {
  for (SyntaxPtr child : definition->children)
    if (child && child->is(SyntaxKind::Bodies) && child->children.size() == 1)
      return child->child(0)->child(1);
  return nullptr;
}

/// The body of a `def`, up to an offset in it.
class Body {
 public:
  Body(Session& session, const SyntaxPath& at) : session_(session), at_(at) {
    for (const DeclarationId chunk : session.chunks(at.whole)) {
      if (chunk == at.declaration) break;
      add(chunk, session.declaration(chunk).syntax->children, nullptr);
    }
    for (size_t i = 0; i + 1 < at.nodes.size(); ++i) {
      if (!at.nodes[i]->is(SyntaxKind::Block)) continue;
      innermost_ = i + 1;
      add(at.declaration, at.nodes[i]->children, at.nodes[i + 1]);
    }
  }

  bool is_in_statement() const { return innermost_ != 0; }
  SyntaxPtr innermost() const { return value_of(at_.nodes[innermost_]); }

  /// The largest part around the offset that depends on no parameter.
  std::optional<Statements> closed_part() {
    if (auto whole = evaluated(innermost())) return whole;
    for (size_t i = innermost_; i < at_.nodes.size(); ++i)
      if (can_be_extracted(at_.nodes[i]))
        if (auto part = evaluated(at_.nodes[i])) return part;
    return std::nullopt;
  }

  /// What keeps a part of the body from a value of its own, each name once.
  std::vector<std::string> parameters_in(SyntaxPtr part) {
    collect({at_.declaration, part});
    return parameters_;
  }

  std::optional<Statements> evaluated(SyntaxPtr part) { return evaluated(Part{at_.declaration, part}); }

  /// All of it, for an offset outside.
  std::optional<Statements> whole() {
    if (const auto& chunks = session_.chunks(at_.whole); !chunks.empty()) {
      if (above_.empty()) return std::nullopt;
      const Part last = above_.back();
      above_.pop_back();
      return evaluated(Part{last.declaration, value_of(last.node)});
    }
    return evaluated(body_of(at_.nodes.front()));
  }

 private:
  /// A node of the declaration, or of a chunk of its body.
  struct Part {
    DeclarationId declaration;
    SyntaxPtr node;
    bool operator==(const Part&) const = default;
  };

  void add(DeclarationId declaration, std::span<const SyntaxPtr> statements, SyntaxPtr end) {
    for (SyntaxPtr statement : statements) {
      if (statement == end) break;
      above_.push_back({declaration, statement});
    }
  }
  Range range_of(const Part& part) const {
    return session_.range_of(Place{{part.declaration, part.node->id}, {}});
  }

  std::optional<Statements> evaluated(const Part& part) {
    if (!part.node) return std::nullopt;
    collect(part);
    if (!parameters_.empty()) return std::nullopt;
    // Definitions see nothing of the statements, so that none is evaluated before it.
    Statements result{0, range_of(part), {}};
    for (const Part& statement : above_)
      if (std::ranges::find(needed_, statement) != needed_.end())
        result.before.push_back(range_of(statement));
    return result;
  }

  void collect(const Part& part) {
    needed_.clear();
    parameters_.clear();
    std::vector<Part> waiting{part};
    for (size_t i = 0; i < waiting.size(); ++i) {
      const Part user = waiting[i];
      for (const FreeName& name : free_names(session_, user.declaration, user.node)) {
        const Part* binding = binding_of(name);
        if (!binding) continue;
        for (const Part& statement : above_) {
          const bool is_wanted = statement == *binding || (!is_constant_at(name) && names(statement, name));
          if (!is_wanted || std::ranges::find(needed_, statement) != needed_.end()) continue;
          needed_.push_back(statement);
          waiting.push_back(statement);
        }
      }
    }
  }

  /// The statement above that binds a name; null for one of another declaration, and for a parameter, which is noted.
  const Part* binding_of(const FreeName& name) {
    switch (name.target.kind) {
      case NameKind::Definition:
      case NameKind::Operator:
      case NameKind::Static:
      case NameKind::Type:
      case NameKind::Constructor:
      case NameKind::Field:
      case NameKind::Module: return nullptr;
      case NameKind::Variable:
        for (const Part& statement : above_)
          if (name.target.declared.declaration == statement.declaration &&
              is_inside(statement.node, name.target.declared.node))
            return &statement;
        break;
      case NameKind::Attribute:
      case NameKind::TypeParameter:
      case NameKind::Constant:
      case NameKind::Index:
      case NameKind::Loop: break;
    }
    if (std::string text = written(name); std::ranges::find(parameters_, text) == parameters_.end())
      parameters_.push_back(std::move(text));
    return nullptr;
  }

  bool is_constant_at(const FreeName& name) const {
    const auto& types = session_.types_of(name.target.declared.declaration);
    const uint32_t node = name.target.declared.node;
    return node < types.size() && is_constant(types[node]);
  }
  bool names(const Part& statement, const FreeName& name) const {
    return std::ranges::any_of(free_names(session_, statement.declaration, statement.node),
                               [&](const FreeName& other) { return other.target == name.target; });
  }

  Session& session_;
  const SyntaxPath& at_;
  size_t innermost_ = 0;      ///< in the path: the statement of the innermost block
  std::vector<Part> above_;   ///< the statements that are evaluated before it, in order
  std::vector<Part> needed_;  ///< of those
  std::vector<std::string> parameters_;
};

Failure depends(Body& body, SyntaxPtr part, const std::string& name) {
  return Failure{
      fmt::format("this depends on {} of `{}`: select a part without it, or write a call behind `// >>>`, "
                  "`// >>> {}(…)`, and evaluate that line",
                  fmt::join(body.parameters_in(part), ", "), name, name)};
}

Result<Evaluable> in_definition(Session& session, const SyntaxPath& at, const std::string& name) {
  Body body(session, at);
  if (body.is_in_statement()) {
    if (auto part = body.closed_part()) return Evaluable(std::move(*part));
    return depends(body, body.innermost(), name);
  }
  if (auto all = body.whole()) return Evaluable(std::move(*all));
  return Failure{fmt::format(
      "`{}` has a value only in a call: write one behind `// >>>`, `// >>> {}(…)`, and evaluate that line",
      name, name)};
}

Result<Evaluable> of_selection(Session& session, SourceId source, Range selected) {
  const auto at = session.syntax_at(source, selected.begin);
  if (at && session.info(at->whole).kind == PieceKind::Def)
    for (SyntaxPtr node : at->nodes) {
      const bool is_it = session.range_of(Place{{at->declaration, node->id}, {}}) == selected;
      if (!is_it || !can_be_extracted(node)) continue;
      Body body(session, *at);
      if (auto part = body.evaluated(node)) return Evaluable(std::move(*part));
      return depends(body, node, session.info(at->whole).name);
    }
  return Evaluable(Statements{selected.begin, selected, {}});
}

/// Where the line of an offset has something to evaluate: behind its indentation, and before a last `;` and a comment.
uint32_t in_line(std::string_view text, uint32_t offset) {
  const auto is_blank = [&](uint32_t at) { return text[at] == ' ' || text[at] == '\t'; };
  uint32_t end = offset;
  while (end < text.size() && is_blank(end)) ++end;
  for (const Range& comment : lexed_text(text).comments)
    if (comment.begin <= end && offset <= comment.end) end = comment.begin;
  const bool is_behind = end >= text.size() || end < offset || text[end] == '\n' || text[end] == '\r' ||
                         text[end] == ';' || text[end] == '/';
  if (!is_behind) return end;
  uint32_t at = std::min(offset, end);
  while (at > 0 && (is_blank(at - 1) || text[at - 1] == ';')) --at;
  return at == 0 || text[at - 1] == '\n' ? offset : at - 1;
}

/// The statement around the offset or, if there is none, the last one that begins or ends in its line.
std::optional<Range> statement_at(Session& session, SourceId source, uint32_t offset) {
  const LineIndex lines(session.text(source));
  const uint32_t line = lines.locate(offset).line;
  std::optional<Range> in_line;
  for (DeclarationId statement : session.statements(source)) {
    const Range range = session.range_of(statement);
    if (range.begin <= offset && offset <= range.end) return range;
    if (lines.locate(range.begin).line == line || lines.locate(range.end).line == line) in_line = range;
  }
  return in_line;
}

std::optional<Range> comment_at(std::string_view text, uint32_t offset) {
  const LineIndex lines(text);
  for (const Range& comment : evaluated_comments(text))
    if (lines.locate(comment.begin).line == lines.locate(offset).line) return comment;
  return std::nullopt;
}

}  // namespace

Result<Evaluable> evaluable_at(Session& session, SourceId source, Range selected) {
  if (selected.begin < selected.end) return of_selection(session, source, selected);
  const uint32_t offset = selected.begin;
  if (const auto comment = comment_at(session.text(source), offset))
    return Evaluable(Statements{comment->begin, *comment, {}});
  const auto at = session.syntax_at(source, in_line(session.text(source), offset));
  const DeclarationInfo* info = at ? &session.info(at->whole) : nullptr;
  if (info && info->kind == PieceKind::Test) return Evaluable(EvaluationRequest::Tests{info->name});
  if (info && info->kind == PieceKind::Def && !at->nodes.empty())
    return in_definition(session, *at, info->name);
  if (const auto statement = statement_at(session, source, offset))
    return Evaluable(Statements{statement->begin, *statement, {}});
  if (info && info->kind == PieceKind::Op)
    return Failure{fmt::format(
        "`{0}` has a value only in a call: write one behind `// >>>`, `// >>> {0}(…)`, and evaluate "
        "that line",
        info->name)};
  return Failure{
      "there is nothing to evaluate here: no selection, no `// >>>`, and neither a statement, a test nor a "
      "`def`"};
}

}  // namespace quern::ide
