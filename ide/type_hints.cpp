#include "ide/type_hints.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "ide/lexed_text.h"
#include "ide/written_type.h"

namespace quern::ide {

namespace {

bool is_opened(Type type) {
  bool opened = false;
  for_each_dim_var(type, [&](Dim var) { opened |= var->opened; });
  return opened;
}

// Sums and products over names in scope are written in a type as they are.
bool is_plain(Dim dim, const std::vector<std::string_view>& scope) {
  switch (dim->kind) {
    case DimKind::Const: return true;
    case DimKind::Var: return !dim->opened && std::ranges::find(scope, dim->name) != scope.end();
    case DimKind::Sum:
    case DimKind::Product:
      return std::ranges::all_of(dim->args, [&](Dim arg) { return is_plain(arg, scope); });
    case DimKind::Any:
    case DimKind::Infer:
    case DimKind::FloorDiv:
    case DimKind::FloorMod:
    case DimKind::Min:
    case DimKind::Max:
    case DimKind::Broadcast: return false;
  }
  return false;
}

/// Whether a type can be written over the dims and the types that are in scope.
bool is_writable(Type type, const std::vector<std::string_view>& scope) {
  if (type->kind == TypeKind::Infer || type->is_error()) return false;
  if (type->kind == TypeKind::Var && std::ranges::find(scope, type->name) == scope.end()) return false;
  if (type->is_tensor() && type->dtype.is_var()) return false;
  return std::ranges::all_of(type->dims, [&](Dim dim) { return is_plain(dim, scope); }) &&
         std::ranges::all_of(type->args, [&](Type arg) { return is_writable(arg, scope); });
}

/// The hints of one declaration, by a walk over its syntax.
class Collector {
 public:
  Collector(Session& session, DeclarationId whole)
      : session_(session), module_(session.info(whole).module), whole_(whole) {}

  std::vector<TypeHint> run() {
    const Declaration& declaration = session_.declaration(whole_);
    const Inferred* inferred = session_.inferred(whole_);
    if (declaration.syntax->is(SyntaxKind::Def) && inferred)
      if (const Type type = inferred->definition.scheme.type; type && type->kind == TypeKind::Function)
        definition(declaration.syntax, type);
    walk_in(whole_, declaration.syntax);
    for (const DeclarationId chunk : session_.chunks(whole_))
      walk_in(chunk, session_.declaration(chunk).syntax);
    std::ranges::stable_sort(hints_, {}, &TypeHint::offset);
    return std::move(hints_);
  }

 private:
  void definition(SyntaxPtr def, Type type) {
    at_ = whole_;
    open_scope(def->child(0));
    if (!def->child(2)) result(def, type->result());
  }
  void walk_in(DeclarationId declaration, SyntaxPtr root) {
    at_ = declaration;
    types_ = &session_.types_of(declaration);
    walk(root, true);
  }
  void walk(SyntaxPtr s, bool is_root) {
    if (!s) return;
    const size_t scope = scope_.size();
    if (s->is(SyntaxKind::Let) && !s->child(0) && s->text != "_" && !binds_function(s))
      add(s, is_root ? type_of(s) : type_of(s->child(1)), true);
    if (s->is(SyntaxKind::GraphLet)) add(s, is_root ? type_of(s) : type_of(s->child(0)), false);
    if (s->is(SyntaxKind::LetPattern) && !s->child(1)) pattern(s->child(0));
    if (s->is(SyntaxKind::Fn)) {
      open_scope(s->child(0));
      const Type type = type_of(s);
      if (!s->child(2) && type && type->kind == TypeKind::Function) result(s, type->result());
    }
    if (s->is(SyntaxKind::Params))
      for (SyntaxPtr p : s->children)
        if (p->is(SyntaxKind::TensorParam) && !p->child(0) && p->children.size() < 2)
          add(p, type_of(p), true);
    for (SyntaxPtr child : s->children) walk(child, false);
    if (s->is(SyntaxKind::Fn)) scope_.resize(scope);
  }
  static bool binds_function(SyntaxPtr let) { return let->child(1) && let->child(1)->is(SyntaxKind::Fn); }

  void pattern(SyntaxPtr s) {
    if (!s) return;
    if (s->is(SyntaxKind::VariablePattern) && !s->child(0)) add(s, type_of(s), true);
    for (SyntaxPtr part : s->children) pattern(part);
  }

  Type type_of(SyntaxPtr s) const {
    return s && types_ && s->id < types_->size() ? (*types_)[s->id] : nullptr;
  }
  void open_scope(SyntaxPtr type_params) {
    if (!type_params) return;
    for (SyntaxPtr name : type_params->children) scope_.push_back(name->text);
  }

  /// Adds a hint after the name that a node declares.
  void add(SyntaxPtr s, Type type, bool has_place) {
    const auto size = static_cast<uint32_t>(s->text.size());
    const Range name = session_.range_of(Occurrence{s->id, {}, {0, size}}, at_);
    add(name.end, ": ", name, type, has_place);
  }
  /// Adds a hint after the parameters of a definition or a function literal.
  void result(SyntaxPtr s, Type type) {
    const Range range = session_.range_of(Place{{at_, s->id}, {}});
    const std::string& source = session_.text(session_.info(whole_).source);
    const LexedText text = lexed_text(std::string_view(source).substr(range.begin, range.end - range.begin));
    size_t open = 0;
    while (open < text.lexemes.size() && !text.is_symbol(open, "(")) ++open;
    if (open >= text.lexemes.size() || text.partner[open] == kNoLexeme) return;
    const Range name = text.lexemes[s->is(SyntaxKind::Def) ? 1 : 0].range;
    add(range.begin + text.lexemes[text.partner[open]].range.end, " -> ",
        {range.begin + name.begin, range.begin + name.end}, type, true);
  }
  void add(uint32_t offset, const char* before, Range name, Type type, bool has_place) {
    if (!type || type->has_infer || contains_error(type)) return;
    const auto written = written_type(session_, module_, type);
    if (!written) return;
    hints_.push_back(
        {offset, before + *written, name, has_place && !is_opened(type) && is_writable(type, scope_)});
  }

  Session& session_;
  ModuleId module_;
  DeclarationId whole_;
  DeclarationId at_ = 0;  ///< the current declaration or chunk
  const std::vector<Type>* types_ = nullptr;
  std::vector<std::string_view> scope_;  ///< dims and types that have names here
  std::vector<TypeHint> hints_;
};

void move_hints(std::vector<TypeHint>& hints, int64_t by) {
  const auto moved = [by](uint32_t offset) { return static_cast<uint32_t>(offset + by); };
  for (TypeHint& hint : hints)
    hint.offset = moved(hint.offset), hint.name = {moved(hint.name.begin), moved(hint.name.end)};
}

// Keeps the hints on lines without an error, of a declaration that has errors.
void keep_on_sound_lines(std::vector<TypeHint>& hints, const std::vector<LocatedDiagnostic>& errors,
                         std::string_view text, std::string_view file) {
  const LineIndex lines(text);
  std::set<uint32_t> broken;
  for (const LocatedDiagnostic& error : errors)
    if (error.file == file)
      for (uint32_t line = lines.locate(error.range.begin).line; line <= lines.locate(error.range.end).line;
           ++line)
        broken.insert(line);
  std::erase_if(hints, [&](const TypeHint& h) { return broken.contains(lines.locate(h.offset).line); });
  for (TypeHint& hint : hints) hint.can_be_inserted = false;
}

}  // namespace

std::vector<TypeHint> type_hints(Session& session, SourceId source, Range within, KnownHints& known) {
  std::vector<TypeHint> all;
  for (const DeclarationId id : session.declarations(source)) {
    const Range range = session.range_of(id);
    if (range.end < within.begin || range.begin > within.end) continue;
    const PieceKind kind = session.info(id).kind;
    if (kind != PieceKind::Def && kind != PieceKind::Statement) continue;
    const size_t text = std::hash<std::string_view>()(session.text_of(id));
    std::vector<LocatedDiagnostic> errors = session.check_declaration(id);
    std::erase_if(errors, [](const auto& d) { return severity_of(d.kind) != Severity::Error; });
    const auto before = known.by_declaration.find(id);
    std::vector<TypeHint> hints;
    if (errors.empty()) {
      hints = Collector(session, id).run();
      std::vector<TypeHint> kept = hints;
      move_hints(kept, -static_cast<int64_t>(range.begin));
      known.by_declaration[id] = {text, std::move(kept)};
    } else if (before != known.by_declaration.end() && before->second.text == text) {
      hints = before->second.hints;
      move_hints(hints, range.begin);
    } else {
      hints = Collector(session, id).run();
      keep_on_sound_lines(hints, errors, session.text(source), session.path(source));
    }
    std::ranges::copy_if(hints, std::back_inserter(all), [&](const TypeHint& hint) {
      return within.begin <= hint.offset && hint.offset <= within.end;
    });
  }
  std::vector<DeclarationId> present = session.declarations(source);
  if (known.by_declaration.size() <= 2 * present.size() + 16) return all;
  std::ranges::sort(present);
  std::erase_if(known.by_declaration,
                [&](const auto& of) { return !std::ranges::binary_search(present, of.first); });
  return all;
}

}  // namespace quern::ide
