// Definitions that are inferred together, and the copies of those that are typed anew for each use.

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "session/session_impl.h"

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

// Definitions that reach each other through definitions without a full annotation are inferred together (an
// annotated one cuts the circle: its type is known without its body).
std::map<std::string, Group> Session::Impl::compute_groups(ModuleId module) {
  names.depend_on_all(module);
  Components::Graph graph;
  names.for_each(module, NameTable::Globals, [&](const std::string& name) {
    DeclarationId id = find(module, NameTable::Globals, name);
    if (!is_signature({module, name})) graph.emplace(name, references(id));
  });
  return Components(graph).run();
}

Declaration Session::Impl::with_chunks(DeclarationId id, std::deque<Declaration>& chunks) {
  Declaration whole = tree(id);
  for (DeclarationId chunk : bodies.chunks.get(id)) whole.chunks.push_back(&chunks.emplace_back(tree(chunk)));
  return whole;
}

std::vector<Inferred> Session::Impl::infer_members(ModuleId module, const Group& group) {
  std::vector<Declaration> members;
  std::deque<Declaration> chunks;
  for (const std::string& name : group) {
    DeclarationId id = find(module, NameTable::Globals, name);
    if (!tree(id).syntax->is(SyntaxKind::Def)) return std::vector<Inferred>(group.size());
    // One that calls itself without an annotation is inferred as a whole.
    bool alone =
        group.size() == 1 && (annotated({module, name}) || !std::ranges::binary_search(references(id), name));
    if (alone)
      if (std::optional<Inferred> result = bodies.infer(id)) return {std::move(*result)};
    members.push_back(with_chunks(id, chunks));
  }
  std::vector<const Declaration*> pointers;
  pointers.reserve(members.size());
  for (const Declaration& member : members) pointers.push_back(&member);
  ModuleScope scope(*this, module);
  return infer_group(pointers, scope);
}

std::vector<Inferred> Session::Impl::infer_specialised(const InstanceKey& key) {
  ModuleScope scope(*this, key.module);
  std::deque<Declaration> chunks;
  const InstanceRequest& request = key.request;
  // Asked by who called it before an edit: it may be half-typed by now.
  if (tree(request.declaration).syntax->is(SyntaxKind::Error)) return {};
  if (!request.params) return {infer_instance(with_chunks(request.declaration, chunks), request, scope)};
  std::vector<Declaration> members;
  for (const std::string& name : group({key.module, request.op.substr(1)}))
    members.push_back(with_chunks(find(key.module, NameTable::Globals, name), chunks));
  std::vector<const Declaration*> pointers;
  pointers.reserve(members.size());
  for (const Declaration& member : members) pointers.push_back(&member);
  return infer_copy(pointers, request, scope);
}

// Whether callers of a definition go by its text alone.
bool Session::Impl::is_signature(const NameKey& key) {
  DeclarationId id = find(key.module, NameTable::Globals, key.name);
  return annotated(key).has_value() || (id && has_attributes_or_packs(head(id)));
}

const InstanceRequest* Session::Impl::request_of(const GlobalExpr& use) const {
  auto known = specialisations.find({use.module, std::string(use.name)});
  return known == specialisations.end() ? nullptr : &known->second;
}

// The copy of a definition that a name with braces stands for.
const Inferred* Session::Impl::specialised_definition(ModuleId module, const std::string& name) {
  auto known = specialisations.find({module, name});
  // A member of a group, named after the member that the copy is of: `g{f{…}}`.
  if (size_t brace = name.find('{'); known == specialisations.end() && brace != std::string::npos)
    known = specialisations.find({module, name.substr(brace + 1, name.size() - brace - 2)});
  if (known == specialisations.end()) return nullptr;
  for (const Inferred& member : specialised({module, known->second}))
    if (member.definition.name == name) return &member;
  return nullptr;
}

// What is wrong in the copies that a declaration needs, reported where it needs them.
Diagnostics Session::Impl::of_copies(const std::vector<Specialisation>& needs) {
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
      if (!has_errors(found) && says(request.declaration, "schedule"))
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

}  // namespace quern
