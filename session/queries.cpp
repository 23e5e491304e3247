// The queries: each a function from its key, the inputs and other queries to a value.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "session/session_impl.h"

namespace quern {

namespace {

bool same_scheme(const std::optional<Scheme>& a, const std::optional<Scheme>& b) { return a == b; }

// Two schemes that differ only in which fresh variables they are written over are the same to every caller.
bool alike(const std::optional<Scheme>& a, const std::optional<Scheme>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  if (a->dim_vars.size() != b->dim_vars.size() || a->type_vars.size() != b->type_vars.size()) return false;
  Substitution rename;
  for (size_t i = 0; i < a->dim_vars.size(); ++i) rename.dims.emplace(a->dim_vars[i], b->dim_vars[i]);
  for (size_t i = 0; i < a->type_vars.size(); ++i) rename.types.emplace(a->type_vars[i], b->type_vars[i]);
  return substitute(a->type, rename) == b->type;
}

// Whether a tree is one of what the scanner took its piece for. Half-typed text may be neither: `op "`.
bool fits_kind(SyntaxKind root, PieceKind piece) {
  switch (piece) {
    case PieceKind::Def: return root == SyntaxKind::Def;
    case PieceKind::Op: return root == SyntaxKind::Op || root == SyntaxKind::ExternOp;
    case PieceKind::Type: return root == SyntaxKind::TypeDecl || root == SyntaxKind::ExternType;
    case PieceKind::Import: return root == SyntaxKind::Import || root == SyntaxKind::ImportAs;
    case PieceKind::Test: return root == SyntaxKind::Test;
    case PieceKind::Infix: return root == SyntaxKind::Infix;
    case PieceKind::Static: return root == SyntaxKind::Static;
    case PieceKind::Statement: return true;
  }
  return false;
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Session::Impl::Impl(Session& session)
    : session(session),
      text(engine),
      module_sources(engine),
      kept(engine),
      pieces(engine, "pieces", [this](SourceId s) { return compute_pieces(s); }),
      slash_names(
          engine, "slash_names", [this](SourceId s) { return pieces(s).scan.slash_names; },
          std::equal_to<>()),
      piece(engine, "piece",
            [this](DeclarationId id) -> std::optional<Piece> {
              const SourcePieces& all = pieces(declarations[id].source);
              for (size_t i = 0; i < all.ids.size(); ++i)
                if (all.ids[i] == id) return all.scan.pieces[i];
              return std::nullopt;
            }),
      piece_text(
          engine, "piece_text",
          [this](DeclarationId id) -> std::string {
            const auto& p = piece(id);
            if (!p) return "";
            return text.get(declarations[id].source).substr(p->range.begin, p->range.end - p->range.begin);
          },
          std::equal_to<>()),
      parsed(engine, "parse",
             [this](DeclarationId id) {
               return Parsed{parse_declaration(piece_text(id), slash_names(declarations[id].source))};
             }),
      tree(
          engine, "tree",
          [this](DeclarationId id) {
            const ParsedTree& t = parsed(id).outcome.tree;
            static const Syntax broken{SyntaxKind::Error, 1};
            bool fits = fits_kind(t.root->kind, declarations[id].kind);
            return Declaration{id, declarations[id].name, fits ? t.root : &broken, t.arena};
          },
          std::equal_to<>()),
      names(
          engine, "names", [this](ModuleId m) { return compute_names(m); }, std::equal_to<>()),
      data_header(engine, "data_header",
                  [this](const NameKey& k) -> std::optional<DataHeader> {
                    DeclarationId id = find(k.module, &ModuleNames::types, k.name);
                    if (!id) return std::nullopt;
                    return make_data_header(tree(id));
                  }),
      data(engine, "data",
           [this](const NameKey& k) -> std::pair<std::optional<DataDefinition>, Diagnostics> {
             DeclarationId id = find(k.module, &ModuleNames::types, k.name);
             if (!id) return {};
             Diagnostics diagnostics;
             ModuleScope scope(*this, k.module);
             DataDefinition d = resolve_data(tree(id), *data_header(k), scope, diagnostics);
             return {d, diagnostics};
           }),
      annotated(
          engine, "annotated",
          [this](const NameKey& k) -> std::optional<Scheme> {
            DeclarationId id = find(k.module, &ModuleNames::globals, k.name);
            if (!id || !tree(id).syntax->is(SyntaxKind::Def)) return std::nullopt;
            ModuleScope scope(*this, k.module);
            return annotated_scheme(tree(id), scope);
          },
          alike),
      group(
          engine, "group", [this](const NameKey& k) { return compute_group(k); }, std::equal_to<>()),
      group_inferred(engine, "infer",
                     [this](const NameKey& k) -> std::vector<Inferred> {
                       std::vector<const Declaration*> members;
                       for (const std::string& name : group(k))
                         members.push_back(&tree(find(k.module, &ModuleNames::globals, name)));
                       for (const Declaration* m : members)
                         if (!m->syntax->is(SyntaxKind::Def)) return std::vector<Inferred>(members.size());
                       ModuleScope scope(*this, k.module);
                       std::vector<Inferred> results = infer_group(members, scope);
                       return results;
                     }),
      scheme(
          engine, "scheme",
          [this](const NameKey& k) -> std::optional<Scheme> {
            if (auto& known = annotated(k)) return known;
            const Inferred* result = inferred(k.module, k.name);
            if (!result || !result->definition.scheme.type || contains_error(result->definition.scheme.type))
              return std::nullopt;
            return result->definition.scheme;
          },
          same_scheme),
      statement(engine, "infer_statement",
                [this](DeclarationId id) {
                  ModuleScope scope(*this, declarations[id].module, id);
                  Inferred result = infer_statement(tree(id), scope);
                  return result;
                }),
      variable(
          engine, "variable",
          [this](DeclarationId id) -> std::shared_ptr<const TopLevelVariable> {
            if (const auto& has_value = kept.get(id)) return has_value;
            const Inferred& result = statement(id);
            if (!result.variable) return nullptr;
            // The variable lives in the arena of its statement.
            struct Kept {
              TopLevelVariable variable;
              std::shared_ptr<const Arena> arena;
            };
            auto kept = std::make_shared<Kept>(
                Kept{{result.variable, {{id, tree(id).syntax->id}, {}}}, result.definition.arena});
            return {kept, &kept->variable};
          },
          [](const auto& a, const auto& b) {
            return a && b && a->place == b->place && a->variable->name == b->variable->name &&
                   a->variable->type == b->variable->type;
          }),
      instance(engine, "instance",
               [this](const InstanceKey& k) {
                 ModuleScope scope(*this, k.module);
                 InstanceResult result;
                 result.instance = make_instance(k.request, scope, result.diagnostics);
                 return result;
               }),
      operator_check(engine, "operator_check",
                     [this](DeclarationId id) {
                       ModuleScope scope(*this, declarations[id].module);
                       Diagnostics diagnostics = check_operator(tree(id), scope);
                       return diagnostics;
                     }),
      optimised(engine, "optimise",
                [this](const NameKey& k) -> Optimised {
                  SessionFunctions functions(this->session, k.module);
                  const Definition* definition = functions.function(k.name);
                  return definition ? quern::optimise(*definition, functions) : Optimised{};
                }),
      program(engine, "program", [this](const NameKey& k) -> std::shared_ptr<const Program> {
        const Optimised& o = optimised(k);
        return o.expr ? compile_program(o.expr, {}, o.arena) : nullptr;
      }) {}

DeclarationId Session::Impl::declaration_id(SourceId source, PieceKind kind, const std::string& name,
                                            uint32_t turn) {
  auto [it, added] = declaration_ids.try_emplace({source, kind, name, turn},
                                                 static_cast<DeclarationId>(declarations.size()));
  if (added) declarations.push_back({source, sources[source].module, kind, name, turn});
  return it->second;
}

SourcePieces Session::Impl::compute_pieces(SourceId source) {
  SourcePieces result;
  result.scan = scan(text.get(source));
  std::map<std::pair<PieceKind, std::string>, uint32_t> turns;
  for (const Piece& p : result.scan.pieces)
    result.ids.push_back(declaration_id(source, p.kind, p.name, turns[{p.kind, p.name}]++));
  return result;
}

ModuleNames Session::Impl::compute_names(ModuleId module) {
  ModuleNames result;
  for (SourceId source : module_sources.get(module)) {
    const SourcePieces& all = pieces(source);
    for (size_t i = 0; i < all.ids.size(); ++i) {
      const Piece& p = all.scan.pieces[i];
      DeclarationId id = all.ids[i];
      // Within one source the first declaration of a name counts (the others are reported); a later source
      // replaces it.
      auto declare = [&](auto& table, std::string_view name) {
        auto [it, added] = table.try_emplace(std::string(name), id);
        if (!added && declarations[it->second].source != source) it->second = id;
      };
      switch (p.kind) {
        case PieceKind::Def:
          if (p.name.starts_with("@"))
            declare(result.globals, std::string_view(p.name).substr(1));
          else
            declare(result.operators, p.name);
          break;
        case PieceKind::Op: declare(result.operators, p.name); break;
        case PieceKind::Static:
          declare(result.statics, std::string_view(p.name).substr(p.name.starts_with("@") ? 1 : 0));
          break;
        case PieceKind::Infix: declare(result.infix, p.name); break;
        case PieceKind::Type:
          declare(result.types, p.name);
          for (SyntaxPtr c : tree(id).syntax->children)
            if (c && c->is(SyntaxKind::Constructor)) declare(result.constructors, c->text);
          break;
        case PieceKind::Statement: result.statements.push_back(id); break;
        case PieceKind::Import:
        case PieceKind::Test: break;
      }
    }
  }
  return result;
}

DeclarationId Session::Impl::find(ModuleId module,
                                  std::map<std::string, DeclarationId, std::less<>> ModuleNames::*table,
                                  std::string_view name) {
  auto& own = names(module).*table;
  if (auto it = own.find(name); it != own.end()) return it->second;
  if (module == kLibrary) return 0;
  auto& library = names(kLibrary).*table;
  auto it = library.find(name);
  return it == library.end() ? 0 : it->second;
}

// Definitions that reach each other through definitions without a full annotation are inferred together (an
// annotated one cuts the circle: its type is known without its body).
Group Session::Impl::compute_group(const NameKey& key) {
  auto reachable = [&](const std::string& from) {
    std::set<std::string> seen;
    std::vector<std::string> stack{from};
    while (!stack.empty()) {
      std::string name = stack.back();
      stack.pop_back();
      DeclarationId id = find(key.module, &ModuleNames::globals, name);
      if (!id) continue;
      for (const std::string& callee : referenced_globals(tree(id).syntax)) {
        DeclarationId callee_id = find(key.module, &ModuleNames::globals, callee);
        if (!callee_id || annotated({key.module, callee})) continue;
        if (seen.insert(callee).second) stack.push_back(callee);
      }
    }
    return seen;
  };
  Group members{key.name};
  if (annotated(key)) return members;
  for (const std::string& callee : reachable(key.name))
    if (callee != key.name && reachable(callee).contains(key.name)) members.push_back(callee);
  std::sort(members.begin(), members.end());
  return members;
}

const Inferred* Session::Impl::inferred(ModuleId module, const std::string& global) {
  DeclarationId id = find(module, &ModuleNames::globals, global);
  if (!id) return nullptr;
  ModuleId owner = declarations[id].module;
  const Group& members = group({owner, global});
  const std::vector<Inferred>& results = group_inferred({owner, members[0]});
  for (size_t i = 0; i < members.size() && i < results.size(); ++i)
    if (members[i] == global) return &results[i];
  return nullptr;
}

Diagnostics Session::Impl::of_declaration(DeclarationId id) {
  const DeclarationInfo& about = declarations[id];
  Diagnostics result;
  for (const SyntaxProblem& p : parsed(id).outcome.problems) result.push_back(to_diagnostic(p, id));
  SyntaxPtr root = tree(id).syntax;
  if (root->is(SyntaxKind::Error)) {
    if (result.empty())
      result.push_back(
          {DiagnosticKind::UnexpectedToken, {{id, 0}, {}}, "this declaration is not complete", {}});
    return result;
  }
  Diagnostics found;
  switch (about.kind) {
    case PieceKind::Def:
      if (about.name.starts_with("@")) {
        if (const Inferred* i = inferred(about.module, about.name.substr(1));
            i && find(about.module, &ModuleNames::globals, about.name.substr(1)) == id)
          found = i->diagnostics;
      } else {
        found = operator_check(id);
      }
      break;
    case PieceKind::Op: found = operator_check(id); break;
    case PieceKind::Type: found = data({about.module, about.name}).second; break;
    case PieceKind::Statement: found = statement(id).diagnostics; break;
    case PieceKind::Import:
    case PieceKind::Test:
      found.push_back(
          {DiagnosticKind::NotYetSupported,
           {{id, root->id}, {}},
           about.kind == PieceKind::Import ? "`import` cannot be followed yet" : "`test` cannot be run yet",
           {}});
      break;
    case PieceKind::Static:
    case PieceKind::Infix: break;
  }
  // Where the text did not parse, what is reported about its remains would be a cascade.
  if (result.empty()) append(result, found);
  return result;
}

}  // namespace quern
