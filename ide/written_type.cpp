#include "ide/written_type.h"

#include <fmt/format.h>

#include <vector>

#include "ir/type/type.h"

namespace quern::ide {

namespace {

/// The name that a module has for a data type.
std::optional<std::string> name_in(Session& session, ModuleId module, quern::Type data) {
  const DataDefinition* definition = session.data(module, data);
  if (!definition) return std::nullopt;
  std::string name(data->name);
  auto stands_for_it = [&](const std::string& written) {
    const DeclarationId found = session.find_type(module, written);
    return found && found == definition->declaration;
  };
  if (stands_for_it(name)) return name;
  for (const auto& [alias, declaration] : session.import_names(module)) {
    std::string written = fmt::format("{}.{}", alias, name);
    if (stands_for_it(written)) return written;
  }
  return std::nullopt;
}

/// The type with such names, for text only: it is never compared. Null if a name is missing.
quern::Type renamed(Session& session, ModuleId module, quern::Type type) {
  std::vector<quern::Type> args;
  for (quern::Type arg : type->args) {
    args.push_back(renamed(session, module, arg));
    if (!args.back()) return nullptr;
  }
  if (type->kind != TypeKind::Data) return args.empty() ? type : with_args(type, args);
  const auto name = name_in(session, module, type);
  constexpr uint64_t kNoDeclaration = UINT64_MAX;
  return name ? data_type(*name, kNoDeclaration, args) : nullptr;
}

}  // namespace

std::optional<std::string> written_type(Session& session, ModuleId module, quern::Type type) {
  Substitution any;
  for_each_dim_var(type, [&](Dim var) {
    if (var->opened) any.dims.emplace(var, dim_any());
  });
  const quern::Type shown = renamed(session, module, substitute(type, any));
  return shown ? std::optional(to_string(shown)) : std::nullopt;
}

}  // namespace quern::ide
