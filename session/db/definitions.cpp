// Inference of definitions and statements, and of their specialised copies.

#include <algorithm>
#include <unordered_map>

#include "session/db/module_scope.h"

namespace quern {

namespace {

/// The strongly connected components of a graph (Tarjan 1972), without recursion.
class Components {
 public:
  using Graph = std::map<std::string, std::vector<std::string>>;
  explicit Components(const Graph& graph) : graph_(graph) {}

  std::map<std::string, Group> run() {
    for (auto& [name, _] : graph_)
      if (!marks_.contains(name)) visit(name);
    return std::move(groups_);
  }

 private:
  struct Mark {
    size_t index, low;
    bool on_stack = true;
  };
  struct Step {
    const std::string* name;
    size_t next = 0;
  };
  void enter(const std::string& name) {
    marks_[name] = {marks_.size(), marks_.size()};
    open_.push_back(&name);
    steps_.push_back({&name});
  }
  void visit(const std::string& root) {
    enter(root);
    while (!steps_.empty()) {
      Step& step = steps_.back();
      const auto& edges = graph_.find(*step.name)->second;
      if (step.next < edges.size()) {
        auto target = graph_.find(edges[step.next++]);
        if (target == graph_.end()) continue;
        auto known = marks_.find(target->first);
        if (known == marks_.end())
          enter(target->first);
        else if (known->second.on_stack)
          lower(*step.name, known->second.index);
        continue;
      }
      const std::string& name = *step.name;
      steps_.pop_back();
      if (!steps_.empty()) lower(*steps_.back().name, marks_[name].low);
      if (marks_[name].low == marks_[name].index) close(name);
    }
  }
  void lower(const std::string& name, size_t low) { marks_[name].low = std::min(marks_[name].low, low); }
  void close(const std::string& root) {
    Group members;
    do {
      members.push_back(*open_.back());
      marks_[members.back()].on_stack = false;
      open_.pop_back();
    } while (members.back() != root);
    std::sort(members.begin(), members.end());
    for (const std::string& member : members) groups_[member] = members;
  }

  const Graph& graph_;
  std::unordered_map<std::string, Mark> marks_;
  std::vector<const std::string*> open_;
  std::vector<Step> steps_;
  std::map<std::string, Group> groups_;
};

}  // namespace

// Annotations that differ only in their variables: types of the body have the same names, diagnostics the same texts.
bool Database::same_but_for_variables(const std::optional<Annotations>& a,
                                      const std::optional<Annotations>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  const auto name_of = [](const auto& variable) { return variable->name; };
  const auto name_of_dtype = [](const auto& variable) { return to_string(variable.first); };
  return same_but_for_names(a->scheme, b->scheme) && a->diagnostics == b->diagnostics &&
         std::ranges::equal(a->dims, b->dims, {}, &std::pair<std::string, Dim>::first,
                            &std::pair<std::string, Dim>::first) &&
         std::ranges::equal(a->scheme.type_vars, b->scheme.type_vars, {}, name_of, name_of) &&
         std::ranges::equal(a->scheme.dtype_vars, b->scheme.dtype_vars, {}, name_of_dtype, name_of_dtype);
}

bool Database::same_with_places(const std::optional<Scheme>& a, const std::optional<Scheme>& b) {
  return a == b && (!a || std::ranges::equal(a->constraints, b->constraints, {}, &Constraint::origin,
                                             &Constraint::origin));
}

std::optional<Annotations> Database::annotations_of(const NameKey& key) {
  DeclarationId id = find(key.module, NameTable::Globals, key.name);
  if (!id || !head(id).syntax->is(SyntaxKind::Def)) return std::nullopt;
  if (read_ahead)
    if (std::optional<Annotations> annotations = read_ahead->take_annotations(id)) return annotations;
  ModuleScope scope(*this, key.module);
  return quern::annotations_of(head(id), scope);
}

std::optional<Scheme> Database::scheme_of(const NameKey& key) {
  if (auto& known = annotated(key)) return known->scheme;
  const Inferred* result = inferred(key.module, key.name);
  if (!result || !result->definition.scheme.type || contains_error(result->definition.scheme.type))
    return std::nullopt;
  return result->definition.scheme;
}

Declaration Database::with_chunks(DeclarationId id, std::deque<Declaration>& chunks) {
  Declaration whole = tree(id);
  for (DeclarationId chunk : bodies.chunks.get(id)) {
    if (engine.cancelled()) break;
    whole.chunks.push_back(&chunks.emplace_back(tree(chunk)));
  }
  return whole;
}

// --- groups

// Definitions that reach each other through incompletely annotated definitions are inferred together (an
// annotated one breaks the cycle: its type is known without its body).
std::map<std::string, Group> Database::compute_groups(ModuleId module) {
  names.depend_on_all(module, NameTable::Globals);
  Components::Graph graph;
  names.for_each(module, NameTable::Globals, [&](const std::string& name) {
    DeclarationId id = find(module, NameTable::Globals, name);
    if (!has_signature({module, name})) graph.emplace(name, references(id));
  });
  return Components(graph).run();
}

Group Database::group_of(const NameKey& key) {
  const auto& all = groups(key.module);
  auto found = all.find(key.name);
  return found == all.end() ? Group{key.name} : found->second;
}

Group Database::inferred_together(const NameKey& key) {
  return annotated(key) ? Group{key.name} : group(key);
}

bool Database::is_signature(const NameKey& key) {
  DeclarationId id = find(key.module, NameTable::Globals, key.name);
  return annotated(key).has_value() || (id && has_attributes_or_packs(head(id)));
}

std::vector<Inferred> Database::infer_members(const NameKey& key) {
  const Group members = inferred_together(key);
  std::vector<Declaration> declared;
  std::deque<Declaration> chunks;
  for (const std::string& name : members) {
    DeclarationId id = find(key.module, NameTable::Globals, name);
    if (!tree(id).syntax->is(SyntaxKind::Def)) return std::vector<Inferred>(members.size());
    // A recursive definition without an annotation is inferred as a whole.
    bool alone = members.size() == 1 &&
                 (annotated({key.module, name}) || !std::ranges::binary_search(references(id), name));
    if (alone)
      if (std::optional<Inferred> result = bodies.infer(id)) return {std::move(*result)};
    declared.push_back(with_chunks(id, chunks));
  }
  std::vector<const Declaration*> pointers;
  pointers.reserve(declared.size());
  for (const Declaration& member : declared) pointers.push_back(&member);
  ModuleScope scope(*this, key.module);
  return infer_group(pointers, scope);
}

const Inferred* Database::inferred(ModuleId module, const std::string& global) {
  DeclarationId id = find(module, NameTable::Globals, global);
  return id ? inferred(key_of(id)) : nullptr;
}

const Inferred* Database::inferred(const NameKey& key) {
  const Group members = inferred_together(key);
  const std::vector<Inferred>& results = group_inferred({key.module, members[0]});
  for (size_t i = 0; i < members.size() && i < results.size(); ++i)
    if (members[i] == key.name) return &results[i];
  return nullptr;
}

const Definition* Database::definition(ModuleId module, std::string_view name) {
  const Inferred* result = name.ends_with("}") ? specialised_definition(module, std::string(name))
                                               : inferred(module, std::string(name));
  // A definition with a mistake is not run, however much of it could be typed.
  bool sound = result && result->definition.body && !has_errors(result->diagnostics);
  return sound && late_calls_are_sound(*result) ? &result->definition : nullptr;
}

// --- statements

Inferred Database::infer_one_statement(DeclarationId id) {
  ModuleScope scope(*this, declarations[id].module, id);
  return infer_statement(tree(id), scope);
}

namespace {

/// Calls `f` with each pattern that is a variable, from left to right.
void for_each_bound(PatternPtr pattern, const std::function<void(PatternPtr)>& f) {
  if (pattern->kind == PatternKind::Variable) f(pattern);
  for (PatternPtr part : pattern->parts) for_each_bound(part, f);
}

}  // namespace

StatementVariables Database::variables_of_statement(DeclarationId id) {
  if (const StatementVariables& have_values = kept.get(id); !have_values.empty()) return have_values;
  const Inferred& result = statement(id);
  // A variable lives in the arena of its statement.
  struct Held {
    TopLevelVariable variable;
    std::shared_ptr<const Arena> arena;
  };
  StatementVariables variables;
  auto add = [&](TopLevelVariable variable) {
    auto held = std::make_shared<Held>(Held{std::move(variable), result.definition.arena});
    variables.emplace_back(held, &held->variable);
  };
  if (result.variable)
    add({result.variable,
         {{id, type_source(tree(id).syntax)->id}, {}},
         result.definition.scheme,
         result.literal,
         result.captured});
  if (result.pattern)
    for_each_bound(result.pattern, [&](PatternPtr bound) {
      add({bound->variable, {bound->origin, {}}, Scheme{{}, {}, bound->type}});
    });
  return variables;
}

bool Database::are_same_variables(const StatementVariables& a, const StatementVariables& b) {
  using Shared = std::shared_ptr<const TopLevelVariable>;
  return std::ranges::equal(a, b, [](const Shared& x, const Shared& y) {
    return x->place == y->place && x->variable->name == y->variable->name &&
           x->variable->type == y->variable->type && !x->literal && !y->literal;
  });
}

const Definition* Database::bound_function(const Variable* bound) {
  std::string name(bound->name);
  for (ModuleId module = 0; module < modules.size(); ++module)
    for (DeclarationId id : names.get({module, NameTable::Variables, name}))
      for (const auto& known : variables(id))
        if (known->variable == bound) return statement(id).pattern ? nullptr : &statement(id).definition;
  return nullptr;
}

// --- copies

std::vector<Inferred> Database::infer_specialised(const InstanceKey& key) {
  ModuleScope scope(*this, key.module);
  std::deque<Declaration> chunks;
  const InstanceRequest& request = key.request;
  // Requested by a caller from before an edit: it may be incomplete now.
  if (tree(request.declaration).syntax->is(SyntaxKind::Error)) return {};
  if (!request.params) return {infer_instance(with_chunks(request.declaration, chunks), request, scope)};
  std::vector<Declaration> members;
  for (const std::string& name : inferred_together({key.module, request.op.substr(1)}))
    members.push_back(with_chunks(find(key.module, NameTable::Globals, name), chunks));
  std::vector<const Declaration*> pointers;
  pointers.reserve(members.size());
  for (const Declaration& member : members) pointers.push_back(&member);
  return infer_copy(pointers, request, scope);
}

void Database::name_copy(const InstanceRequest& request) {
  ModuleId owner = declarations[request.declaration].module;
  copies.intern({owner, request.key.substr(1)}, request);
}

std::optional<InstanceRequest> Database::request_of(ModuleId module, std::string_view name) {
  const InstanceRequest* known = copies.find({module, std::string(name)});
  if (!known) return std::nullopt;
  InstanceRequest request = *known;
  request.declaration = find(module, NameTable::Globals, std::string_view(request.op).substr(1));
  return request;
}

// The copy of a definition named with braces.
const Inferred* Database::specialised_definition(ModuleId module, const std::string& name) {
  std::optional<InstanceRequest> request = request_of(module, name);
  // A member of a group, named after the member that the copy is of: `g{f{…}}`.
  if (size_t brace = name.find('{'); !request && brace != std::string::npos)
    request = request_of(module, std::string_view(name).substr(brace + 1, name.size() - brace - 2));
  if (!request || !request->declaration) return nullptr;
  for (const Inferred& member : specialised({module, *std::move(request)}))
    if (member.definition.name == name) return &member;
  return nullptr;
}

}  // namespace quern
