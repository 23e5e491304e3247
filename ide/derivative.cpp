#include "ide/derivative.h"

#include <fmt/format.h>

#include "passes/pipeline.h"

namespace quern::ide {

namespace {

/// `def @grad_f[n](%x: t) { grad(@f)(%x) }`, so that a general function has a gradient at any dims.
std::string gradient_definition(const Definition& definition, const FnExpr& fn) {
  std::string dims, params, args;
  for (Dim dim : definition.scheme.dim_vars) dims += (dims.empty() ? "" : ", ") + to_string(dim);
  for (Type type : definition.scheme.type_vars) dims += (dims.empty() ? "" : ", ") + to_string(type);
  for (const Variable* param : fn.params) {
    params += fmt::format("{}%{}: {}", params.empty() ? "" : ", ", param->name, to_string(param->type));
    args += fmt::format("{}%{}", args.empty() ? "" : ", ", param->name);
  }
  return fmt::format("def @grad_{0}{1}({2}) {{ grad(@{0})({3}) }}", definition.name,
                     dims.empty() ? "" : "[" + dims + "]", params, args);
}

/// A source at the end of a module, for as long as it lives.
class AddedSource {
 public:
  AddedSource(Session& session, ModuleId module, std::string text)
      : session_(session), module_(module), id_(session.add_source(module, "<gradient>", std::move(text))) {}
  ~AddedSource() { session_.remove_last_source(module_); }
  AddedSource(const AddedSource&) = delete;
  AddedSource& operator=(const AddedSource&) = delete;
  SourceId id() const { return id_; }

 private:
  Session& session_;
  ModuleId module_;
  SourceId id_;
};

}  // namespace

Result<std::string> derivative_text(Session& session, ModuleId module, std::string_view name) {
  if (session.find_definition(module, name) == 0)
    return Failure{fmt::format("there is no definition `@{}`", name)};
  const Definition* definition = session.definition(module, name);
  const auto* fn = definition ? as<FnExpr>(definition->body) : nullptr;
  if (!fn)
    return Failure{fmt::format("`@{}` is typed anew for the arguments of each call: annotate its parameters", name)};
  const AddedSource added(session, module, gradient_definition(*definition, *fn));
  for (const LocatedDiagnostic& problem : session.check(added.id()))
    if (severity_of(problem.kind) == Severity::Error) return Failure{problem.message};
  const Definition* made = session.definition(module, fmt::format("grad_{}", name));
  if (!made) return Failure{fmt::format("`@{}` has no gradient that can be shown", name)};
  const Optimised simple = optimise(*made, session.functions(), "dead_code");
  if (!simple.expr) return Failure{"interrupted"};
  Definition shown = *made;
  shown.body = simple.expr;
  shown.arena = simple.arena;
  std::string text = session.typed_text(shown, module).text;
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

}  // namespace quern::ide
