#include <fmt/format.h>

#include <filesystem>

#include "ir/data_files.h"
#include "session/session_impl.h"

namespace quern {

bool ModuleScope::has_global(std::string_view name) {
  return impl_.find(module_, &ModuleNames::globals, name) != 0;
}
const Declaration* ModuleScope::global(std::string_view name) {
  return declaration(impl_.find(module_, &ModuleNames::globals, name));
}
const Declaration* ModuleScope::op(std::string_view name) {
  return declaration(impl_.find(module_, &ModuleNames::operators, name));
}
const Declaration* ModuleScope::static_function(std::string_view name) {
  return declaration(impl_.find(module_, &ModuleNames::statics, name));
}

std::string ModuleScope::infix(std::string_view symbol) {
  const Declaration* d = declaration(impl_.find(module_, &ModuleNames::infix, symbol));
  return d && d->syntax->is(SyntaxKind::Infix) ? std::string(d->syntax->child(0)->text) : "";
}

const DataHeader* ModuleScope::data_header(std::string_view type_name) {
  auto& header = impl_.data_header({module_, std::string(type_name)});
  return header ? &*header : nullptr;
}

const DataDefinition* ModuleScope::data(std::string_view type_name) {
  auto& result = impl_.data({module_, std::string(type_name)});
  return result.first ? &*result.first : nullptr;
}

const DataDefinition* ModuleScope::data_of_constructor(std::string_view constructor) {
  DeclarationId id = impl_.find(module_, &ModuleNames::constructors, constructor);
  return id ? data(impl_.session.info(id).name) : nullptr;
}

const TopLevelVariable* ModuleScope::variable(std::string_view name) {
  if (!statement_) return nullptr;
  const TopLevelVariable* found = nullptr;
  DeclarationId latest = 0;
  for (DeclarationId id : impl_.names(module_).statements) {
    if (id == statement_) break;
    if (impl_.session.info(id).name == name) latest = id;
  }
  if (latest) found = impl_.variable(latest).get();
  return found;
}

bool ModuleScope::has_top_level_variable(std::string_view name) {
  for (DeclarationId id : impl_.names(module_).statements)
    if (impl_.session.info(id).name == name) return true;
  return false;
}

bool ModuleScope::in_broken_statement(std::string_view name) {
  if (!statement_) return false;
  std::string mention = "%" + std::string(name);
  for (DeclarationId id : impl_.names(module_).statements) {
    if (id == statement_) break;
    if (!impl_.parsed(id).outcome.problems.empty() && impl_.piece_text(id).find(mention) != std::string::npos)
      return true;
  }
  return false;
}

const Scheme* ModuleScope::scheme(std::string_view name) {
  auto& found = impl_.scheme({module_, std::string(name)});
  return found ? &*found : nullptr;
}

InstanceAnswer ModuleScope::instance(const InstanceRequest& request) {
  // An operator of the library means the same in every module: its instances are made once.
  DeclarationId op = impl_.find(module_, &ModuleNames::operators, request.op);
  ModuleId owner = op ? impl_.session.info(op).module : module_;
  const InstanceResult& result = impl_.instance({owner, request});
  InstanceAnswer answer{result.instance, result.diagnostics, owner == module_};
  if (!result.instance)
    answer.diagnostics.push_back({DiagnosticKind::StaticLimit,
                                  {{op, 1}, {}},
                                  fmt::format("`{}` is defined by itself", request.op),
                                  {}});
  return answer;
}

Result<Type> ModuleScope::file_type(std::string_view path, std::string_view entry) {
  SourceId source = statement_ ? impl_.session.info(statement_).source : 0;
  std::filesystem::path file = std::filesystem::path(impl_.sources[source].folder) / path;
  auto headers = read_tensor_headers(file.string());
  if (!headers) return headers.error();
  for (auto& [name, header] : *headers) {
    if (name != entry && !(entry.empty() && headers->size() == 1)) continue;
    std::vector<Dim> dims;
    for (int64_t extent : header.shape) dims.push_back(dim_const(extent));
    return tensor_type(dims, header.dtype);
  }
  std::vector<std::string> known;
  for (auto& [name, header] : *headers) known.push_back(name);
  if (entry.empty())
    return Failure{fmt::format(
        "`{}` has {} entries ({}): name one, `load(\"{}\", \"{}\")`, or annotate the type of a record", path,
        known.size(), fmt::join(known, ", "), path, known.empty() ? "entry" : known[0])};
  return Failure{fmt::format("`{}` has no entry `{}`; it has {}", path, entry, fmt::join(known, ", "))};
}

std::vector<std::string> ModuleScope::names(Names kind) {
  std::vector<std::string> out;
  for (ModuleId module : {module_, Session::Impl::kLibrary}) {
    const ModuleNames& known = impl_.names(module);
    auto& table = kind == Names::Globals     ? known.globals
                  : kind == Names::Operators ? known.operators
                  : kind == Names::Types     ? known.types
                                             : known.constructors;
    if (kind != Names::Variables)
      for (auto& [name, id] : table) out.push_back(name);
    if (kind == Names::Variables && statement_ && module == module_)
      for (DeclarationId id : known.statements) {
        if (id == statement_) break;
        if (!impl_.session.info(id).name.empty()) out.push_back(impl_.session.info(id).name);
      }
    if (module_ == Session::Impl::kLibrary) break;
  }
  if (kind == Names::Types)
    for (const char* dtype :
         {"float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool"})
      out.emplace_back(dtype);
  return out;
}

}  // namespace quern
