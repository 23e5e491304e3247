// The diagnostics of a declaration.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "frontend/text/suggest.h"
#include "passes/known_functions.h"
#include "session/db/module_scope.h"
#include "session/texts/module_files.h"

namespace quern {

namespace {

void append(Diagnostics& to, const Diagnostics& from) { to.insert(to.end(), from.begin(), from.end()); }

}  // namespace

Diagnostics Database::with_copies(ModuleId module, const Inferred& inferred, DeclarationId id) {
  Diagnostics result = diagnostics_of(module, inferred);
  if (!has_errors(result)) append(result, of_copies(inferred.needs));
  const auto derivatives = {"grad", "vjp", "jvp"};
  ExprPtr body = inferred.definition.body;
  const bool derives =
      std::ranges::any_of(derivatives, [&](const char* word) { return mentions(id, word); }) ||
      (body && passes_functions(body));
  if (derives && !has_errors(result)) append(result, of_gradients(inferred));
  // A statement contains copies of the function literals that it calls.
  const bool may_have_schedules = declarations[id].kind != PieceKind::Def || mentions(id, "schedule");
  if (may_have_schedules && !has_errors(result)) append(result, of_schedules(body));
  return result;
}

Diagnostics Database::of_declaration(DeclarationId id) {
  const DeclarationInfo& about = declarations[id];
  Diagnostics result;
  for (const SyntaxProblem& p : parsed(id).problems) result.push_back(to_diagnostic(p, id));
  for (DeclarationId chunk : bodies.chunks.get(id))
    for (const SyntaxProblem& p : parsed(chunk).problems) result.push_back(to_diagnostic(p, chunk));
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
        const NameKey key = key_of(id);
        if (const Inferred* i =
                find(key.module, NameTable::Globals, key.name) == id ? inferred(key) : nullptr)
          found = with_copies(about.module, *i, id);
      } else {
        found = operator_check(id);
      }
      break;
    case PieceKind::Op: found = operator_check(id); break;
    case PieceKind::Type:
      if (root->is(SyntaxKind::TypeAlias))
        found = alias({about.module, about.name}).second;
      else
        found = data({about.module, about.name}).second;
      append(found, duplicate_constructors(id));
      break;
    case PieceKind::Statement: found = with_copies(about.module, statement(id), id); break;
    case PieceKind::Import: found = import_diagnostics(id); break;
    case PieceKind::Test: found = with_copies(about.module, statement(id), id); break;
    case PieceKind::Static:
    case PieceKind::Infix: break;
  }
  append(found, text_diagnostics(id).mistakes);
  for (DeclarationId chunk : bodies.chunks.get(id)) append(found, text_diagnostics(chunk).mistakes);
  // Machine-printed text gets no style warnings. Nor does a chunked body, whose statements are not examined
  // together.
  if (!has_errors(found) && result.empty() && !slash_names.get(about.source) && bodies.chunks.get(id).empty())
    append(found, text_diagnostics(id).unused);
  // If the text did not parse, diagnostics of the rest would be follow-up errors.
  if (result.empty()) append(result, found);
  return result;
}

Diagnostics Database::duplicate_constructors(DeclarationId id) {
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

// Includes the diagnostics of the definitions of operators that it calls.
Diagnostics Database::diagnostics_of(ModuleId module, const Inferred& inferred) {
  Diagnostics found = inferred.diagnostics;
  for (const LateCall& call : inferred.late_calls) {
    const InstanceKey& key = key_of_late(*call.instance);
    // Errors inside an imported definition are reported at the call (unless they occur for any call: those
    // are reported there), in one's own at the definition.
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

// Diagnostics of the copies that a declaration needs, reported at their uses.
Diagnostics Database::of_copies(const std::vector<Specialisation>& needs) {
  constexpr size_t kMostNested = 100, kMostCopies = 10'000;
  Diagnostics result;
  struct Step {
    const Specialisation* need;
    const Place* use;
    size_t depth;
  };
  std::vector<Step> todo;
  todo.reserve(needs.size());
  for (const Specialisation& need : needs) todo.push_back({&need, &need.use, 0});
  std::set<std::pair<ModuleId, std::string>> seen;
  while (!todo.empty()) {
    Step step = todo.back();
    todo.pop_back();
    const InstanceRequest& request = step.need->request;
    ModuleId owner = declarations[request.declaration].module;
    if (!seen.insert({owner, request.key}).second || !parses_whole(request.declaration)) continue;
    if (step.depth > kMostNested || seen.size() > kMostCopies) {
      result.push_back(
          {DiagnosticKind::EndlessSpecialisation,
           *step.use,
           fmt::format("`{}` calls itself at ever more types: it is typed anew for each rank, dtype "
                       "and attribute value, and these do not end",
                       request.op),
           {{Place{{step.need->use.origin}, {}}, "one of the calls is here"}},
           {}});
      break;
    }
    for (const Inferred& copy : specialised({owner, request})) {
      Diagnostics found = diagnostics_of(owner, copy);
      if (!has_errors(found) && mentions(request.declaration, "schedule"))
        std::ranges::move(of_schedules(copy.definition.body), std::back_inserter(found));
      for (const Diagnostic& d : found)
        result.push_back({d.kind,
                          *step.use,
                          fmt::format("`{}`: {}", request.op, d.message),
                          {{d.place, fmt::format("in `{}`, as it is used here", request.op)}},
                          {}});
      for (const Specialisation& need : copy.needs) todo.push_back({&need, step.use, step.depth + 1});
    }
  }
  return result;
}

void Database::make_due(DeclarationId id) {
  if (const auto last = last_checks_.find(declarations[id].source); last != last_checks_.end())
    last->second.due.insert(id);
}

std::vector<size_t> Database::pieces_to_check(SourceId source) {
  const Layout& all = *layouts[source];
  const auto [last, is_first] = last_checks_.try_emplace(source);
  auto& [due, reported] = last->second;
  if (is_first) due.insert(all.ids.begin(), all.ids.end());
  std::vector<size_t> found;
  found.reserve(due.size() + reported.size() + all.duplicates.size());
  for (const DeclarationId id : due) found.push_back(index_of[id]);
  for (const DeclarationId id : reported) found.push_back(index_of[id]);
  for (const auto& [id, first] : all.duplicates) found.push_back(index_of[id]);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

Diagnostics Database::diagnostics_at(SourceId source, size_t piece) {
  const Layout& all = *layouts[source];
  DeclarationId id = all.ids[piece];
  if (auto duplicate = all.duplicates.find(id); duplicate != all.duplicates.end()) {
    bool statement = declarations[id].kind == PieceKind::Statement;
    std::string_view sigil = statement ? "%" : "", what = statement ? "bound" : "defined";
    return {{DiagnosticKind::DuplicateDefinition,
             {{id, 1}, {}},
             fmt::format("`{}{}` is {} twice", sigil, declarations[id].name, what),
             {{Place{{duplicate->second, 1}, {}}, fmt::format("it is {} here first", what)}}}};
  }
  Diagnostics found = declaration_diagnostics(id);
  if (const auto last = last_checks_.find(source); last != last_checks_.end() && !engine.cancelled()) {
    last->second.due.erase(id);
    if (found.empty())
      last->second.reported.erase(id);
    else
      last->second.reported.insert(id);
  }
  // Where the scanner reported a problem, the parser would report it again.
  Range range = all.scan.pieces[piece].range;
  bool scanned = std::ranges::any_of(all.scan.problems, [&](const SyntaxProblem& p) {
    return p.range.begin >= range.begin && p.range.begin <= range.end;
  });
  if (scanned) std::erase_if(found, [](const Diagnostic& d) { return d.place.range.has_value(); });
  return found;
}

// --- imports

Diagnostics Database::import_diagnostics(DeclarationId id) {
  const std::vector<Import>& all = imports.get(declarations[id].module);
  auto found = std::find_if(all.begin(), all.end(), [&](const Import& i) { return i.declaration == id; });
  if (found == all.end()) return {};
  const std::string& path = declarations[id].name;
  auto one = [&](DiagnosticKind kind, std::string message, std::vector<Note> notes = {}) -> Diagnostics {
    return {{kind, {{id, 1}, {}}, std::move(message), std::move(notes)}};
  };
  if (path.empty()) return one(DiagnosticKind::ImportNotFound, "the path of this import is empty");
  if (!found->problem.empty())
    return one(DiagnosticKind::ImportNotFound,
               fmt::format("`{}` cannot be read: {}", found->tried.back(), found->problem));
  if (!found->module && is_library_module(path)) {
    const auto meant = did_you_mean(path, library_modules());
    return one(DiagnosticKind::ImportNotFound,
               fmt::format("the library has no module `{}`{}", path,
                           meant ? fmt::format("; did you mean `{}`?", *meant) : ""));
  }
  if (!found->module) {
    std::vector<Note> notes;
    for (const std::string& tried : found->tried)
      notes.push_back({std::nullopt, fmt::format("there is no file `{}`", tried)});
    return one(DiagnosticKind::ImportNotFound,
               fmt::format(
                   "the file `{}` is not found; a path is relative to this file's folder or to the project's "
                   "root (the folder with `quern.toml`)",
                   path),
               std::move(notes));
  }
  if (!found->cycle.empty()) {
    auto shown = [&](ModuleId m) {
      return "`" + std::filesystem::path(sources[modules[m][0]].path).filename().string() + "`";
    };
    std::string way = shown(declarations[id].module);
    for (ModuleId m : found->cycle)
      way += " imports " + shown(m) + (m == found->cycle.back() ? "" : ", which");
    return one(DiagnosticKind::ImportCycle,
               fmt::format("this import leads back here: {}; move what both need to a file of its own", way));
  }
  auto same_alias = std::find_if(all.begin(), found, [&](const Import& i) {
    return !found->alias.empty() && i.alias == found->alias &&
           declarations[i.declaration].source == declarations[id].source;
  });
  if (same_alias != found)
    return one(DiagnosticKind::ImportClash, fmt::format("two imports have the name `{}`", found->alias),
               {{Place{{same_alias->declaration, 1}, {}}, "the first is here"}});
  Diagnostics clashes = import_clashes(*found, all);
  return clashes.empty() ? mistakes_of(*found) : clashes;
}

// Reports the first mistake of an imported file at the import.
Diagnostics Database::mistakes_of(const Import& import) {
  pieces.get(import.module);
  for (SourceId source : modules[import.module])
    for (DeclarationId id : layouts[source]->ids)
      for (const Diagnostic& d : declaration_diagnostics(id)) {
        if (severity_of(d.kind) != Severity::Error) continue;
        return {{DiagnosticKind::ImportedMistake,
                 {{import.declaration, 1}, {}},
                 fmt::format("`{}` has mistakes; the first is {}: {}", declarations[import.declaration].name,
                             code_of(d.kind), d.message),
                 {{d.place, "it is here"}}}};
      }
  return {};
}

Diagnostics Database::import_clashes(const Import& import, const std::vector<Import>& all) {
  Diagnostics result;
  ModuleId module = declarations[import.declaration].module;
  std::string prefix = import.alias.empty() ? "" : import.alias + ".";
  auto clash = [&](const std::string& name, DeclarationId theirs, DeclarationId other) {
    if (!theirs || !other || theirs == other) return;
    bool own = declarations[other].module == module;
    result.push_back(
        {DiagnosticKind::ImportClash,
         {{import.declaration, 1}, {}},
         fmt::format("this import brings `{}`, which {}; give the import a name: `import \"{}\" as …`", name,
                     own ? "is defined in this file too" : "another import brings too",
                     declarations[import.declaration].name),
         {{Place{{theirs, 1}, {}}, "it is defined here"},
          {Place{{other, 1}, {}}, own ? "this file has its own" : "and here"}}});
  };
  // `look(module, name)`: the declaration of a name in a module's own text, or 0.
  auto compare = [&](const std::string& declared, std::string_view sigil, const auto& look) {
    std::string brought = prefix + declared, shown = std::string(sigil) + brought;
    DeclarationId theirs = look(import.module, declared);
    clash(shown, theirs, look(module, brought));
    for (const Import& earlier : all) {
      if (earlier.declaration == import.declaration) return;
      // Names imported by an earlier source of the module are replaced.
      if (declarations[earlier.declaration].source != declarations[import.declaration].source) continue;
      if (auto name = earlier.declared_name(brought); name && earlier.brings_names())
        clash(shown, theirs, look(earlier.module, std::string(*name)));
    }
  };
  for (auto [table, sigil] : {std::pair{NameTable::Globals, "@"}, std::pair{NameTable::Operators, ""},
                              std::pair{NameTable::Types, ""}, std::pair{NameTable::Statics, "static @"}}) {
    std::vector<std::string> list;
    names.depend_on_all(import.module, table);
    names.for_each(import.module, table, [&](const std::string& name) { list.push_back(name); });
    std::sort(list.begin(), list.end());
    for (const std::string& name : list)
      compare(name, sigil, [&, table = table](ModuleId m, const std::string& declared) -> DeclarationId {
        const auto& ids = names.get({m, table, declared});
        return ids.empty() ? 0 : ids[0];
      });
  }
  // Two constructors with one name whose types have different names.
  for (const auto& [name, type] : std::map(constructors(import.module)))
    compare(name, "", [&, type = type](ModuleId m, const std::string& declared) -> DeclarationId {
      DeclarationId owner = constructor({m, declared});
      return owner && declarations[owner].name != declarations[type].name ? owner
             : m == import.module                                         ? owner
                                                                          : 0;
    });
  return result;
}

}  // namespace quern
