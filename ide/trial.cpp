#include "ide/trial.h"

#include <algorithm>

#include "ir/expr/equality.h"

namespace quern::ide {

namespace {

/// Gives a source another text for the lifetime of this object.
class OtherText {
 public:
  OtherText(Session& session, SourceId source, std::string text)
      : session_(session), source_(source), before_(session.text(source)) {
    session_.set_text(source_, std::move(text));
  }
  ~OtherText() { session_.set_text(source_, before_); }
  OtherText(const OtherText&) = delete;
  OtherText& operator=(const OtherText&) = delete;

 private:
  Session& session_;
  SourceId source_;
  std::string before_;
};

/// Whether a changed range overlaps a declaration; an insertion at its ends does not.
bool touches(Range changed, Range declaration) {
  return changed.begin < declaration.end && declaration.begin < changed.end;
}

std::vector<size_t> touched_by(Session& session, SourceId source, const std::vector<Range>& ranges) {
  std::vector<size_t> places;
  const std::vector<DeclarationId>& declarations = session.declarations(source);
  for (size_t i = 0; i < declarations.size(); ++i) {
    const Range range = session.range_of(declarations[i]);
    if (std::ranges::any_of(ranges, [&](Range r) { return touches(r, range); })) places.push_back(i);
  }
  return places;
}

/// The ranges of the inserted texts after the edits.
std::vector<Range> ranges_after(const TextEdits& edits) {
  std::vector<Range> ranges;
  int64_t by = 0;
  for (const auto& [range, text] : edits) {
    const auto begin = static_cast<uint32_t>(range.begin + by);
    const auto size = static_cast<uint32_t>(text.size());
    ranges.push_back({begin, begin + size});
    by += static_cast<int64_t>(size) - (range.end - range.begin);
  }
  return ranges;
}

bool is_typed_alone(PieceKind kind, const std::string& name) {
  return kind == PieceKind::Statement || (kind == PieceKind::Def && name.starts_with("@"));
}

}  // namespace

std::string edited(std::string text, const TextEdits& edits) {
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit)
    text.replace(edit->first.begin, edit->first.end - edit->first.begin, edit->second);
  return text;
}

void with_text(Session& session, SourceId source, std::string text, const std::function<void()>& f) {
  const OtherText trial(session, source, std::move(text));
  f();
}

std::optional<TypedDeclarations> TypedDeclarations::of(Session& session, SourceId source,
                                                       const std::vector<size_t>& places) {
  TypedDeclarations typed;
  const std::vector<DeclarationId> declarations = session.declarations(source);
  for (const size_t place : places) {
    const DeclarationId id = declarations.at(place);
    if (has_errors(session.check_declaration(id))) return std::nullopt;
    const DeclarationInfo& info = session.info(id);
    if (!is_typed_alone(info.kind, info.name)) continue;
    const Inferred* inferred = session.inferred(id);
    if (!inferred || !inferred->definition.body) return std::nullopt;
    typed.definitions_.push_back(inferred->definition);
    typed.variables_.push_back(inferred->variable);
  }
  return typed;
}

bool TypedDeclarations::same_as(const TypedDeclarations& other) const {
  auto parts = [](const TypedDeclarations& all) {
    std::vector<ModulePart> list;
    for (size_t i = 0; i < all.definitions_.size(); ++i)
      list.push_back({&all.definitions_[i], all.variables_[i]});
    return list;
  };
  return !difference(parts(*this), parts(other));
}

Arena& TypedDeclarations::arena() {
  if (!arena_) {
    arena_ = std::make_shared<Arena>();
    for (Definition& definition : definitions_) {
      arena_->keep(definition.arena);
      definition.arena = arena_;
    }
  }
  return *arena_;
}

void TypedDeclarations::erase(size_t i) {
  definitions_.erase(definitions_.begin() + static_cast<ptrdiff_t>(i));
  variables_.erase(variables_.begin() + static_cast<ptrdiff_t>(i));
}

bool TypedDeclarations::put_value_in_place(const IsBinding& is_it) {
  for (size_t i = 0; i < definitions_.size(); ++i) {
    const ExprPtr value = definitions_[i].body;
    if (variables_[i] && is_it(quern::Binding{variables_[i], value})) {
      ExprSubstitution at;
      at.variables.emplace(variables_[i], value);
      for (size_t k = i + 1; k < definitions_.size(); ++k)
        definitions_[k].body = substitute(arena(), definitions_[k].body, at);
      erase(i);
      return true;
    }
    if (const ExprPtr body = with_value_in_place(arena(), value, is_it)) {
      definitions_[i].body = body;
      return true;
    }
  }
  return false;
}

void TypedDeclarations::take_for_lets() {
  VariableMap variables;
  for (size_t i = 0; i < definitions_.size(); ++i) {
    definitions_[i].body = with_lets(arena(), definitions_[i].body, variables);
    const Variable* bound = variables_[i];
    if (!bound || !bound->graph) continue;
    variables_[i] = variables[bound] = make_variable(arena(), bound->name, bound->type);
  }
}

void TypedDeclarations::drop_schedules() {
  for (Definition& definition : definitions_) definition.body = without_schedules(arena(), definition.body);
}

bool TypedDeclarations::replace(ExprPtr old, ExprPtr with, std::shared_ptr<const Arena> owner) {
  arena().keep(std::move(owner));
  bool found = false;
  std::function<ExprPtr(ExprPtr)> rewrite = [&](ExprPtr e) -> ExprPtr {
    if (e != old) return map_children(*arena_, e, rewrite);
    found = true;
    return with;
  };
  for (Definition& definition : definitions_) definition.body = rewrite(definition.body);
  return found;
}

bool TypedDeclarations::put_body_in_place(std::string_view global) {
  const auto found = std::ranges::find(definitions_, global, &Definition::name);
  if (found == definitions_.end()) return false;
  arena();
  const Definition function = *found;
  erase(static_cast<size_t>(found - definitions_.begin()));
  for (Definition& definition : definitions_)
    definition.body = with_body_in_place(*arena_, definition.body, global, function);
  return true;
}

void TypedDeclarations::put_operator_in_place(std::string_view op, FunctionSource& functions) {
  for (Definition& definition : definitions_)
    definition.body = with_operator_in_place(arena(), definition.body, op, functions);
}

std::vector<size_t> touched(Session& session, SourceId source, const TextEdits& edits) {
  std::vector<Range> ranges;
  for (const auto& [range, text] : edits) ranges.push_back(range);
  return touched_by(session, source, ranges);
}

bool succeeds(Session& session, SourceId source, const Change& change) {
  bool holds = false;
  with_text(session, source, edited(session.text(source), change.edits),
            [&] { holds = change.holds(session); });
  return holds;
}

Result<Change> same_program(Session& session, SourceId source, TextEdits edits, const SeeThrough& before,
                            SeeThrough after) {
  const std::vector<size_t> places = touched(session, source, edits);
  std::optional<TypedDeclarations> found = TypedDeclarations::of(session, source, places);
  if (!found || (before && !before(session, *found)))
    return Failure{"what it touches has errors, or is typed only where it is used"};
  auto program = std::make_shared<const TypedDeclarations>(std::move(*found));
  const std::vector<Range> ranges = ranges_after(edits);
  auto holds = [=, after = std::move(after)](Session& tried) {
    std::optional<TypedDeclarations> now =
        TypedDeclarations::of(tried, source, touched_by(tried, source, ranges));
    return now && (!after || after(tried, *now)) && now->same_as(*program);
  };
  return Change{std::move(edits), std::move(holds)};
}

size_t count_errors(Session& session, SourceId source, std::string_view ignored) {
  return static_cast<size_t>(std::ranges::count_if(session.check(source), [&](const LocatedDiagnostic& d) {
    return severity_of(d.kind) == Severity::Error &&
           (ignored.empty() || d.message.find(ignored) == std::string::npos);
  }));
}

Change with_fewer_errors(Session& session, SourceId source, TextEdits edits, std::string_view ignored) {
  const size_t before = count_errors(session, source, ignored);
  return {std::move(edits), [source, before, ignored = std::string(ignored)](Session& tried) {
            return count_errors(tried, source, ignored) < before;
          }};
}

Change without_new_errors(Session& session, SourceId source, TextEdits edits) {
  const size_t before = count_errors(session, source);
  return {std::move(edits),
          [source, before](Session& tried) { return count_errors(tried, source) <= before; }};
}

}  // namespace quern::ide
