// The queries: each a function from its key, the inputs and other queries to a value.

#include <fmt/format.h>

#include <algorithm>

#include "frontend/index/schedule_clause.h"
#include "frontend/signature/check_form.h"
#include "session/intrinsics.h"
#include "session/session_impl.h"

namespace quern {

namespace {

// Clauses without a schedule, which says of a body how it runs.
SyntaxPtr without_schedules(SyntaxPtr clauses, Arena& arena) {
  if (!clauses || !clauses->is(SyntaxKind::Clauses)) return clauses;
  std::vector<SyntaxPtr> kept;
  std::ranges::copy_if(clauses->children, std::back_inserter(kept),
                       [](SyntaxPtr clause) { return !clause->is(SyntaxKind::Schedule); });
  if (kept.size() == clauses->children.size()) return clauses;
  return arena.make<Syntax>(clauses->kind, clauses->id, clauses->text, arena.copy(kept));
}

// A definition's or an operator's head: what its users see. Ids of nodes are as in the whole tree.
Declaration without_bodies(const Declaration& whole) {
  SyntaxPtr s = whole.syntax;
  bool has_bodies = s->is(SyntaxKind::Def) || s->is(SyntaxKind::Op) || s->is(SyntaxKind::ExternOp);
  if (!has_bodies || s->children.size() < 5) return whole;
  auto arena = std::make_shared<Arena>();
  arena->keep(whole.arena);
  std::vector<SyntaxPtr> children(s->children.begin(), s->children.end());
  children[3] = without_schedules(children[3], *arena);
  children[4] = arena->make<Syntax>(SyntaxKind::Bodies, children[4] ? children[4]->id : 0);
  SyntaxPtr head = arena->make<Syntax>(s->kind, s->id, s->text, arena->copy(children));
  return {whole.id, whole.name, head, arena};
}

bool same_scheme(const std::optional<Scheme>& a, const std::optional<Scheme>& b) { return a == b; }

// Two schemes that differ only in which fresh variables they are written over are the same to every caller.
bool alike(const std::optional<Scheme>& a, const std::optional<Scheme>& b) {
  return a.has_value() == b.has_value() && (!a || same_but_for_names(*a, *b));
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
      names(engine, kLibrary),
      piece_text(engine),
      pieces(engine),
      imports(engine),
      metadata_text(engine),
      constants_beside(engine),
      slash_names(engine),
      header_version(engine),
      kept(engine),
      data_file_changes(engine),
      bodies(*this, engine),
      metadata(engine, "metadata",
               [this](SourceId source) -> std::shared_ptr<const Metadata> {
                 const std::string& text = metadata_text.get(source);
                 if (text.empty()) return constants_beside.get(source);
                 return std::make_shared<Metadata>(read_metadata(text));
               }),
      data_file(engine, "data_file",
                [this](const std::string& path) {
                  data_file_changes.get(path);
                  data_files[path] = stamp_of(path);
                  return std::make_shared<const Result<Entries<TensorHeader>>>(read_tensor_headers(path));
                }),
      parsed(engine, "parse",
             [this](DeclarationId id) {
               auto parse = declarations[id].part_of ? parse_chunk : parse_declaration;
               return Parsed{parse(piece_text.get(id), slash_names.get(declarations[id].source))};
             }),
      tree(
          engine, "tree",
          [this](DeclarationId id) {
            const ParsedTree& t = parsed(id).outcome.tree;
            static const Syntax broken{SyntaxKind::Error, 1};
            bool fits = declarations[id].part_of ? t.root->is(SyntaxKind::Block)
                                                 : fits_kind(t.root->kind, declarations[id].kind);
            return Declaration{id, declarations[id].name, fits ? t.root : &broken, t.arena};
          },
          std::equal_to<>()),
      head(
          engine, "head", [this](DeclarationId id) { return without_bodies(tree(id)); }, std::equal_to<>()),
      references(
          engine, "references",
          [this](DeclarationId id) {
            std::vector<std::string> all = referenced_globals(tree(id).syntax);
            for (DeclarationId chunk : bodies.chunks.get(id)) append(all, references(chunk));
            std::sort(all.begin(), all.end());
            all.erase(std::unique(all.begin(), all.end()), all.end());
            return all;
          },
          std::equal_to<>()),
      parses(
          engine, "parses", [this](DeclarationId id) { return parsed(id).outcome.problems.empty(); },
          std::equal_to<>()),
      constructors(
          engine, "constructors",
          [this](ModuleId m) {
            names.depend_on_all(m);
            std::map<std::string, DeclarationId> found;
            for (DeclarationId id : all_of(m, PieceKind::Type))
              for (const std::string& name : constructor_names(piece_text.get(id))) {
                auto [it, added] = found.try_emplace(name, id);
                if (!added && declarations[it->second].source != declarations[id].source) it->second = id;
              }
            return found;
          },
          std::equal_to<>()),
      constructor(
          engine, "constructor",
          [this](const NameKey& k) -> DeclarationId {
            const auto& own = constructors(k.module);
            auto it = own.find(k.name);
            return it == own.end() ? 0 : it->second;
          },
          std::equal_to<>()),
      broken_declarations(
          engine, "broken_declarations",
          [this](ModuleId m) {
            pieces.get(m);
            std::vector<std::pair<DeclarationId, std::string>> broken;
            for (SourceId source : modules[m])
              for (DeclarationId id : layouts[source].ids)
                if (!parsed(id).outcome.problems.empty()) broken.emplace_back(id, piece_text.get(id));
            return broken;
          },
          std::equal_to<>()),
      data_header(engine, "data_header",
                  [this](const NameKey& k) -> std::optional<DataHeader> {
                    DeclarationId id = find(k.module, NameTable::Types, k.name);
                    if (!id) return std::nullopt;
                    return make_data_header(tree(id));
                  }),
      data(engine, "data",
           [this](const NameKey& k) -> std::pair<std::optional<DataDefinition>, Diagnostics> {
             DeclarationId id = find(k.module, NameTable::Types, k.name);
             if (!id) return {};
             Diagnostics diagnostics;
             ModuleScope scope(*this, k.module);
             DataDefinition d = resolve_data(tree(id), *data_header(k), scope, diagnostics);
             return {d, diagnostics};
           }),
      annotated(
          engine, "annotated",
          [this](const NameKey& k) -> std::optional<Scheme> {
            DeclarationId id = find(k.module, NameTable::Globals, k.name);
            if (!id || !head(id).syntax->is(SyntaxKind::Def)) return std::nullopt;
            ModuleScope scope(*this, k.module);
            return annotated_scheme(head(id), scope);
          },
          alike),
      groups(
          engine, "groups", [this](ModuleId m) { return compute_groups(m); }, std::equal_to<>()),
      group(
          engine, "group",
          [this](const NameKey& k) -> Group {
            if (annotated(k)) return {k.name};
            auto found = groups(k.module).find(k.name);
            return found == groups(k.module).end() ? Group{k.name} : found->second;
          },
          std::equal_to<>()),
      group_inferred(engine, "infer", [this](const NameKey& k) { return infer_members(k.module, group(k)); }),
      specialised(engine, "specialise", [this](const InstanceKey& k) { return infer_specialised(k); }),
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
            Scheme scheme = result.definition.scheme;
            auto kept = std::make_shared<Kept>(Kept{{result.variable,
                                                     {{id, type_source(tree(id).syntax)->id}, {}},
                                                     std::move(scheme),
                                                     result.literal,
                                                     result.captured},
                                                    result.definition.arena});
            return {kept, &kept->variable};
          },
          [](const auto& a, const auto& b) {
            return a && b && a->place == b->place && a->variable->name == b->variable->name &&
                   a->variable->type == b->variable->type && !a->literal && !b->literal;
          }),
      instance(engine, "instance",
               [this](const InstanceKey& k) {
                 ModuleScope scope = ModuleScope::for_instances(*this, k.module);
                 InstanceResult result;
                 if (engine.cancelled()) return result;
                 result.instance = make_instance(k.request, scope, result.diagnostics);
                 return result;
               }),
      late_instance(engine, "late_instance",
                    [this](const InstanceKey& k) {
                      std::shared_ptr<OpInstance> instance = instance_head(k.request);
                      instance->late = static_cast<uint32_t>(late_keys.size());
                      late_keys.push_back(k);
                      return std::shared_ptr<const OpInstance>(instance);
                    }),
      operator_check(engine, "operator_check",
                     [this](DeclarationId id) {
                       if (!parses_whole(id)) return Diagnostics();
                       ModuleScope scope = ModuleScope::for_instances(*this, declarations[id].module);
                       Diagnostics found = check_operator(tree(id), scope);
                       if (found.empty()) found = check_lowering(tree(id), scope);
                       return found;
                     }),
      form(
          engine, "form",
          [this](DeclarationId id) {
            SyntaxPtr root = tree(id).syntax;
            Diagnostics found = check_duplicates(root, id);
            append(found, check_signature_form(root, id));
            append(found, check_schedules(root, id));
            return found;
          },
          std::equal_to<>()),
      declaration_diagnostics(engine, "diagnostics", [this](DeclarationId id) { return of_declaration(id); }),
      optimised(engine, "optimise",
                [this](const NameKey& k) -> Optimised {
                  SessionFunctions functions(this->session);
                  const Definition* definition = functions.function(k.module, k.name);
                  Optimised result = definition ? quern::optimise(*definition, functions) : Optimised{};
                  engine.cancelled();
                  return result;
                }),
      program(engine, "program", [this](const NameKey& k) -> std::shared_ptr<const Program> {
        const Optimised& o = optimised(k);
        return o.expr ? compile_program(o.expr, {}, o.arena) : nullptr;
      }) {
  auto of_declaration = [this](auto&... queries) {
    (queries.set_subject([this](DeclarationId id) { return subject_of(id); }), ...);
  };
  auto of_name = [this](auto&... queries) {
    (queries.set_subject([this](const NameKey& key) { return subject_of(key); }), ...);
  };
  auto of_instance = [this](auto&... queries) {
    (queries.set_subject([this](const InstanceKey& key) { return subject_of(key.request.declaration); }),
     ...);
  };
  of_declaration(parsed, tree, head, references, parses, statement, variable, operator_check, form,
                 declaration_diagnostics, bodies.names, bodies.index, bodies.head, bodies.run,
                 bodies.run_start);
  of_name(data_header, data, annotated, group, group_inferred, scheme, optimised, program);
  of_instance(specialised, instance, late_instance);
}

Session::Impl::~Impl() = default;

DeclarationId Session::Impl::find(ModuleId module, NameTable table, std::string_view name) {
  // In one source the first declaration of a name counts (the others are reported); a later source replaces
  // it.
  auto chosen = [&](const std::vector<DeclarationId>& ids) -> DeclarationId {
    for (DeclarationId id : ids)
      if (declarations[id].source == declarations[ids.back()].source) return id;
    return 0;
  };
  DeclaredName key{module, table, std::string(name)};
  if (module != kLibrary)
    if (DeclarationId own = chosen(names.get(key))) return own;
  auto theirs = [&](ModuleId other, std::string_view declared) {
    return chosen(names.get({other, table, std::string(declared)}));
  };
  if (DeclarationId imported = find_imported(module, name, theirs)) return imported;
  key.module = kLibrary;
  return chosen(names.peek(key));
}

DeclarationId Session::Impl::find_constructor(ModuleId module, std::string_view name) {
  if (module != kLibrary)
    if (DeclarationId own = constructor({module, std::string(name)})) return own;
  auto theirs = [&](ModuleId other, std::string_view declared) {
    return constructor({other, std::string(declared)});
  };
  if (DeclarationId imported = find_imported(module, name, theirs)) return imported;
  return constructor({kLibrary, std::string(name)});
}

const Inferred* Session::Impl::inferred(ModuleId module, const std::string& global) {
  DeclarationId id = find(module, NameTable::Globals, global);
  if (!id) return nullptr;
  NameKey key = key_of(id);
  const Group& members = group(key);
  const std::vector<Inferred>& results = group_inferred({key.module, members[0]});
  for (size_t i = 0; i < members.size() && i < results.size(); ++i)
    if (members[i] == key.name) return &results[i];
  return nullptr;
}

NameKey Session::Impl::key_of(DeclarationId id) {
  const DeclarationInfo& about = declarations[id];
  return {about.module, about.name.starts_with("@") ? about.name.substr(1) : about.name};
}

ModuleScope& Session::Impl::scope_of(ModuleId module) {
  auto& scope = scopes[module];
  if (!scope) scope = std::make_unique<ModuleScope>(*this, module);
  return *scope;
}

Diagnostics Session::Impl::with_copies(ModuleId module, const Inferred& inferred, DeclarationId id) {
  Diagnostics result = diagnostics_of(module, inferred);
  if (!has_errors(result)) append(result, of_copies(inferred.needs));
  if (says(id, "grad") && !has_errors(result)) append(result, of_gradients(inferred));
  // A statement has copies of the function literals that it calls.
  const bool may_have_schedules = declarations[id].kind != PieceKind::Def || says(id, "schedule");
  if (may_have_schedules && !has_errors(result)) append(result, of_schedules(inferred.definition.body));
  return result;
}

bool Session::Impl::says(DeclarationId id, std::string_view word) {
  auto in_part = [&](DeclarationId part) { return piece_text.get(part).find(word) != std::string::npos; };
  return in_part(id) || std::ranges::any_of(bodies.chunks.get(id), in_part);
}

Diagnostics Session::Impl::of_declaration(DeclarationId id) {
  const DeclarationInfo& about = declarations[id];
  Diagnostics result;
  for (const SyntaxProblem& p : parsed(id).outcome.problems) result.push_back(to_diagnostic(p, id));
  for (DeclarationId chunk : bodies.chunks.get(id))
    for (const SyntaxProblem& p : parsed(chunk).outcome.problems) result.push_back(to_diagnostic(p, chunk));
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
            i && find(about.module, NameTable::Globals, about.name.substr(1)) == id)
          found = with_copies(about.module, *i, id);
      } else {
        found = operator_check(id);
      }
      break;
    case PieceKind::Op: found = operator_check(id); break;
    case PieceKind::Type:
      found = data({about.module, about.name}).second;
      append(found, duplicate_constructors(id));
      break;
    case PieceKind::Statement: found = with_copies(about.module, statement(id), id); break;
    case PieceKind::Import: found = import_diagnostics(id); break;
    case PieceKind::Test: found = with_copies(about.module, statement(id), id); break;
    case PieceKind::Static:
    case PieceKind::Infix: break;
  }
  append(found, form(id));
  for (DeclarationId chunk : bodies.chunks.get(id)) append(found, form(chunk));
  // What a machine printed is not read for style.
  // Nor is a body of many chunks, whose statements are not looked at together.
  if (!has_errors(found) && result.empty() && !slash_names.get(about.source) && bodies.chunks.get(id).empty())
    append(found, check_unused(root, id));
  // Where the text did not parse, what is reported about its remains would be a cascade.
  if (result.empty()) append(result, found);
  return result;
}

bool Session::Impl::parses_whole(DeclarationId id) {
  return parses(id) &&
         std::ranges::all_of(bodies.chunks.get(id), [this](DeclarationId c) { return parses(c); });
}

Diagnostics Session::Impl::duplicate_constructors(DeclarationId id) {
  Diagnostics result;
  for (SyntaxPtr c : tree(id).syntax->children) {
    if (!c || !c->is(SyntaxKind::Constructor)) continue;
    DeclarationId first = find_constructor(declarations[id].module, c->text);
    if (first == 0 || first == id || declarations[first].source != declarations[id].source) continue;
    uint32_t node = 1;
    for (SyntaxPtr other : tree(first).syntax->children)
      if (other && other->is(SyntaxKind::Constructor) && other->text == c->text) node = other->id;
    result.push_back({DiagnosticKind::DuplicateConstructor,
                      {{id, c->id}, {}, Part::Head, static_cast<uint32_t>(c->text.size())},
                      fmt::format("the constructor `{}` is declared twice", c->text),
                      {{Place{{first, node}, {}}, "it is declared here first"}}});
  }
  return result;
}

// With what is wrong in the definitions of the operators that it calls.
Diagnostics Session::Impl::diagnostics_of(ModuleId module, const Inferred& inferred) {
  Diagnostics found = inferred.diagnostics;
  for (const LateCall& call : inferred.late_calls) {
    const InstanceKey& key = late_keys[call.instance->late];
    // What goes wrong inside an imported definition is reported at the call (unless it goes wrong whatever
    // the call: that is reported there), in one's own at the definition.
    if (key.module != module && !operator_check(key.request.declaration).empty()) continue;
    if (!parses_whole(key.request.declaration)) continue;
    for (Diagnostic d : instance(key).diagnostics) {
      if (key.module == module) {
        d.notes.push_back({call.place, "this call needs it"});
        found.push_back(std::move(d));
      } else {
        found.push_back({d.kind,
                         call.place,
                         fmt::format("`{}`: {}", key.request.op, d.message),
                         {{d.place, fmt::format("in the definition of `{}`", key.request.op)}}});
      }
    }
  }
  return found;
}

bool Session::Impl::late_calls_are_sound(const Inferred& inferred) {
  return std::all_of(inferred.late_calls.begin(), inferred.late_calls.end(), [&](const LateCall& call) {
    const auto& linked = instance(late_keys[call.instance->late]).instance;
    return linked && linked->function;
  });
}

}  // namespace quern
