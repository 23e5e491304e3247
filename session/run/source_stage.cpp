#include "session/run/source_stage.h"

#include <fmt/format.h>

#include "session/run/fusion_legend.h"

namespace quern {

namespace {

std::string trees(Session& session, SourceId source, const std::string& name) {
  std::string text;
  for (auto& [id, tree] : session.trees(source))
    if (name.empty() || session.info(id).name == "@" + name) text += dump(tree.root);
  return text;
}

std::string typed(Session& session, SourceId source) {
  std::vector<ExprPtr> bodies;
  const ModuleId module = session.module_of(source);
  for (const std::string& name : session.definitions(module))
    if (const Definition* d = session.definition(module, name)) bodies.push_back(d->body);
  for (DeclarationId id : session.statements(source))
    bodies.push_back(session.inferred_statement(id).definition.body);
  std::string text = session.typed_text(source).text, legend = fusion_legend(session.functions(), bodies);
  return text + (text.empty() || legend.empty() ? "" : "\n") + legend;
}

}  // namespace

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
                                 const std::string& name, const std::string& stage,
                                 Compiler::PrintKernel print_kernel) {
  if (stage == "ast") return trees(session, source, name);
  if (stage == "typed" && name.empty()) return typed(session, source);
  auto definitions = definitions_of(session, source, name);
  if (!definitions) return definitions.error();
  std::string all;
  for (const Definition* definition : *definitions) {
    auto text = compiler.stage_text(*definition, stage, print_kernel);
    if (!text) return text;
    all += *text + "\n";
  }
  return all;
}

}  // namespace quern
