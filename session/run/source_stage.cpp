#include "session/run/source_stage.h"

#include <fmt/format.h>

#include "session/run/fusion_legend.h"

namespace quern {

namespace {

/// The nodes of a dumped tree, from `line` on, which is the next line then.
void add_nodes(DeclarationId declaration, SyntaxPtr node, uint32_t& line, LineOrigins& origins) {
  if (!node) {
    ++line;
    return;
  }
  const uint32_t last = line + count_line_ends(node->text);
  origins.push_back({line, last, {declaration, node->id}});
  line = last + 1;
  for (SyntaxPtr child : node->children) add_nodes(declaration, child, line, origins);
}

std::string trees(Session& session, SourceId source, const std::string& name, LineOrigins& origins) {
  std::string text;
  uint32_t line = 0;
  for (auto& [id, tree] : session.trees(source)) {
    if (!name.empty() && session.info(id).name != "@" + name) continue;
    const uint32_t first = line;
    LineOrigins nodes;
    add_nodes(id, tree.root, line, nodes);
    // The tree of a body in chunks is parsed for the dump alone: its nodes are no places.
    if (!session.chunks(id).empty()) nodes = {{first, line - 1, {id, 0}}};
    origins.insert(origins.end(), nodes.begin(), nodes.end());
    text += dump(tree.root);
  }
  return text;
}

std::string typed(Session& session, SourceId source, LineOrigins& origins) {
  std::vector<ExprPtr> bodies;
  const ModuleId module = session.module_of(source);
  for (const std::string& name : session.definitions(module))
    if (const Definition* d = session.definition(module, name)) bodies.push_back(d->body);
  for (DeclarationId id : session.statements(source))
    bodies.push_back(session.inferred_statement(id).definition.body);
  std::string text = session.typed_text(source, origins).text;
  const std::string legend = fusion_legend(session.functions(), bodies);
  return text + (text.empty() || legend.empty() ? "" : "\n") + legend;
}

}  // namespace

std::vector<LocatedDiagnostic> problems_of(Session& session, SourceId source, const std::string& name) {
  if (name.empty()) return session.check_with_imports(source);
  const DeclarationId definition = session.find_definition(session.module_of(source), name);
  return definition ? session.check_with_needed(definition) : std::vector<LocatedDiagnostic>();
}

Result<std::vector<const Definition*>> definitions_of(Session& session, SourceId source,
                                                      const std::string& name) {
  const ModuleId module = session.module_of(source);
  std::vector<const Definition*> found;
  for (const std::string& each : session.definitions(module))
    if (name.empty() || name == each)
      if (const Definition* d = session.definition(module, each)) found.push_back(d);
  if (name.empty()) {
    for (DeclarationId id : session.statements(source))
      if (const Definition& d = session.inferred_statement(id).definition; d.body) found.push_back(&d);
  } else if (found.empty()) {
    return Failure{session.find_definition(module, name) != 0
                       ? Compiler::no_code_of(name)
                       : fmt::format("there is no definition `@{}`", name)};
  }
  return found;
}

Result<std::string> source_stage(Session& session, Compiler& compiler, SourceId source,
                                 const std::string& name, const std::string& stage, LineOrigins* asked,
                                 Compiler::PrintKernel print_kernel) {
  LineOrigins unasked;
  LineOrigins& origins = asked ? *asked : unasked;
  if (stage == "ast") return trees(session, source, name, origins);
  if (stage == "typed" && name.empty()) return typed(session, source, origins);
  auto definitions = definitions_of(session, source, name);
  if (!definitions) return definitions.error();
  std::string all;
  uint32_t line = 0;
  for (const Definition* definition : *definitions) {
    LineOrigins of_one;
    auto text = compiler.stage_text(*definition, stage, &of_one, print_kernel);
    if (!text) return text;
    if (text->empty()) continue;
    // A text of several parts has blank lines between these, and one before the next text.
    const bool has_parts = text->ends_with('\n');
    if (has_parts && !all.empty()) {
      all += "\n";
      ++line;
    }
    append(origins, line, of_one);
    if (!has_parts) *text += "\n";
    line += count_line_ends(*text);
    all += *text;
  }
  return all;
}

}  // namespace quern
