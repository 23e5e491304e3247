#include "ide/rename.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <tuple>
#include <utility>

#include "frontend/text/lexeme.h"
#include "ide/references.h"

namespace quern::ide {

namespace {

std::string_view sigil_of(NameKind kind) {
  if (kind == NameKind::Variable) return "%";
  return kind == NameKind::Definition || kind == NameKind::Static ? "@" : "";
}

bool may_have_dots(NameKind kind) {
  return kind == NameKind::Operator || kind == NameKind::Definition || kind == NameKind::Static ||
         kind == NameKind::Type || kind == NameKind::Constructor;
}

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

std::string place_text(Session& session, SourceId source, uint32_t offset) {
  const LineColumn at = LineIndex(session.text(source)).locate(offset);
  return fmt::format("{}:{}:{}", session.path(source), at.line, at.column);
}

/// A typed name for a target, without its sigil, or why it is invalid.
Result<std::string> checked_name(NameKind kind, std::string_view typed, bool slash_names) {
  const std::string_view sigil = sigil_of(kind);
  std::string_view name = typed;
  if (!sigil.empty() && name.starts_with(sigil)) name.remove_prefix(1);
  if (name.empty()) return Failure{"the new name is empty"};
  if (name[0] == '%' || name[0] == '@')
    return Failure{
        sigil.empty()
            ? fmt::format("`{}` has a sigil, which this name has not: write `{}`", typed, name.substr(1))
            : fmt::format("the sigil of this name is `{}`: write `{}{}`", sigil, sigil, name.substr(1))};
  if (name == "_") return Failure{"`_` binds nothing, so it names nothing"};
  if (is_digit(name[0])) return Failure{fmt::format("`{}` is no name: it begins with a digit", name)};
  const std::string written = std::string(sigil) + std::string(name);
  const std::vector<Lexeme> lexemes = lex(with_valid_utf8(written), slash_names);
  const bool is_one =
      lexemes.size() == 1 && lexemes[0].range == Range{0, static_cast<uint32_t>(written.size())};
  if (is_one && lexemes[0].kind == LexemeKind::Word)
    return Failure{fmt::format("`{}` is a word of the language", name)};
  const LexemeKind wanted = sigil == "%"   ? LexemeKind::Local
                            : sigil == "@" ? LexemeKind::Global
                                           : LexemeKind::Name;
  if (!is_one || lexemes[0].kind != wanted)
    return Failure{fmt::format("`{}` is no name: one is made of letters, digits and `_`", name)};
  if (!may_have_dots(kind) && !slash_names && name.find('.') != std::string_view::npos)
    return Failure{fmt::format("`{}` has a dot, which reads a field here", name)};
  return std::string(name);
}

/// Maps an offset of a source to the one after its edits, which are in order.
class Shift {
 public:
  explicit Shift(const std::vector<SourceEdit>& edits) {
    for (const SourceEdit& edit : edits) {
      std::vector<Moved>& moved = of_source_[edit.source];
      const int64_t before = moved.empty() ? 0 : moved.back().by;
      const int64_t longer = static_cast<int64_t>(edit.text.size()) - (edit.range.end - edit.range.begin);
      moved.push_back({edit.range.end, before + longer});
    }
  }
  uint32_t operator()(SourceId source, uint32_t offset) const {
    const auto moved = of_source_.find(source);
    if (moved == of_source_.end()) return offset;
    const auto behind = std::ranges::upper_bound(moved->second, offset, {}, &Moved::begin);
    return behind == moved->second.begin() ? offset : static_cast<uint32_t>(offset + std::prev(behind)->by);
  }

 private:
  /// What begins here, up to the next, moves by so much.
  struct Moved {
    uint32_t begin;
    int64_t by;
  };
  std::map<SourceId, std::vector<Moved>> of_source_;
};

/// The texts that edits, in order, make of their sources.
std::map<SourceId, std::string> edited_texts(Session& session, const std::vector<SourceEdit>& edits) {
  std::map<SourceId, std::string> texts;
  for (auto edit = edits.begin(); edit != edits.end();) {
    const SourceId source = edit->source;
    const std::string_view old = session.text(source);
    std::string text;
    uint32_t taken = 0;
    for (; edit != edits.end() && edit->source == source; ++edit) {
      text.append(old.substr(taken, edit->range.begin - taken)).append(edit->text);
      taken = edit->range.end;
    }
    texts.emplace(source, text.append(old.substr(taken)));
  }
  return texts;
}

/// Whether the edits keep the program the same: every name has the same target, and there are no new errors.
class Comparison {
 public:
  Comparison(Session& before, const std::vector<SourceEdit>& edits, std::string_view old_name,
             std::string_view new_name)
      : before_(before), shift_(edits), new_name_(new_name) {
    after_ = before.with_texts(edited_texts(before, edits));
    for (const SourceId source : before.sources()) {
      const std::string& text = before.text(source);
      if (text.find(old_name) != std::string::npos || text.find(new_name) != std::string::npos)
        sources_.push_back(source);
    }
  }

  std::optional<Failure> difference() {
    for (const SourceId source : sources_)
      if (auto failure = other_meaning(source)) return failure;
    for (const SourceId source : sources_)
      if (auto failure = new_mistake(source)) return failure;
    return std::nullopt;
  }

 private:
  /// Where a name is declared: its source and the offset there.
  using Declared = std::pair<SourceId, uint32_t>;
  using Target = std::tuple<NameKind, uint32_t, uint32_t>;
  struct Meaning {
    uint32_t begin;
    NameKind kind;
    Declared declared;
    uint32_t place;  ///< before the edits, or 0
    friend bool operator==(const Meaning& a, const Meaning& b) {
      return a.begin == b.begin && a.kind == b.kind && a.declared == b.declared;
    }
  };

  std::vector<Meaning> meanings(Session& session, SourceId source, std::map<Target, Declared>& known,
                                bool moves) {
    std::vector<Meaning> all;
    for (const NamePlace& name : names_in(session, source)) {
      const NameTarget& t = name.target;
      const auto [entry, added] =
          known.try_emplace({t.kind, t.declared.declaration, t.declared.node}, Declared{});
      if (added)
        if (const auto declared = declared_place(session, t))
          entry->second = {declared->source,
                           moves ? shift_(declared->source, declared->range.begin) : declared->range.begin};
      const uint32_t begin = moves ? shift_(source, name.range.begin) : name.range.begin;
      all.push_back({begin, t.kind, entry->second, name.range.begin});
    }
    std::ranges::stable_sort(all, {}, &Meaning::begin);
    return all;
  }

  std::optional<Failure> other_meaning(SourceId source) {
    const std::vector<Meaning> before = meanings(before_, source, known_before_, true),
                               after = meanings(*after_, source, known_after_, false);
    const auto [b, a] = std::ranges::mismatch(before, after);
    if (b == before.end() && a == after.end()) return std::nullopt;
    const bool is_lost = b != before.end() && (a == after.end() || b->begin <= a->begin);
    const std::string place =
        is_lost ? place_text(before_, source, b->place) : place_text(*after_, source, a->place);
    return Failure{fmt::format(
        "as `{}`, the name at {} would stand for something else; another name is needed", new_name_, place)};
  }

  std::optional<Failure> new_mistake(SourceId source) {
    std::map<DiagnosticKind, int> known;
    for (const LocatedDiagnostic& d : before_.check(source)) ++known[d.kind];
    for (const LocatedDiagnostic& d : after_->check(source))
      if (severity_of(d.kind) == Severity::Error && --known[d.kind] < 0)
        return Failure{fmt::format("as `{}` it makes an error at {}: {}", new_name_,
                                   place_text(*after_, source, d.range.begin), d.message)};
    return std::nullopt;
  }

  Session& before_;
  std::unique_ptr<Session> after_;
  Shift shift_;
  std::string_view new_name_;
  std::vector<SourceId> sources_;
  std::map<Target, Declared> known_before_, known_after_;
};

}  // namespace

std::optional<Result<NamePlace>> renamable_at(Session& session, SourceId source, uint32_t offset) {
  const std::optional<NamePlace> name = name_at(session, source, offset);
  if (!name) return std::nullopt;
  const std::optional<NamePlace> declared = declared_place(session, name->target);
  const std::string written(text_at(session, *name));
  if (!declared) return Failure{fmt::format("it is not known where `{}` is declared", written)};
  const std::string own(text_at(session, *declared));
  if (session.is_read_only(declared->source))
    return Failure{fmt::format("`{}` is declared by the library, which cannot be changed", own)};
  if (name->symbol)
    return Failure{fmt::format("`{}` is a symbol for `{}`: rename it where its name stands", written, own)};
  if (own.empty() || is_digit(own[0]))
    return Failure{fmt::format("`%{}` is a graph variable, whose name is its number", own)};
  return *name;
}

Result<std::vector<SourceEdit>> rename(Session& session, SourceId source, uint32_t offset,
                                       std::string_view new_name) {
  const auto at = renamable_at(session, source, offset);
  if (!at) return Failure{"no name that can be renamed stands here"};
  if (!*at) return at->error();
  const NameTarget target = at->value().target;
  const SourceId declared_in = declared_place(session, target)->source;
  const bool slash_names = session.has_slash_names(declared_in);
  const auto name = checked_name(target.kind, new_name, slash_names);
  if (!name) return name.error();
  const std::string old_name(text_at(session, at->value()));
  std::vector<SourceEdit> edits;
  if (*name == old_name) return edits;
  for (const NamePlace& place : references(session, target))
    if (!place.symbol) edits.push_back({place.source, place.range, *name});
  std::ranges::sort(edits, {},
                    [](const SourceEdit& edit) { return std::pair(edit.source, edit.range.begin); });
  if (auto failure = Comparison(session, edits, old_name, *name).difference()) return *failure;
  return edits;
}

}  // namespace quern::ide
