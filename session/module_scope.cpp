#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ir/data_files.h"
#include "session/session_impl.h"

namespace quern {

bool ModuleScope::has_global(std::string_view name) {
  return impl_.find(module_, NameTable::Globals, name) != 0;
}
const Declaration* ModuleScope::global(std::string_view name) {
  return head(impl_.find(module_, NameTable::Globals, name));
}
const Declaration* ModuleScope::op(std::string_view name) {
  DeclarationId id = impl_.find(module_, NameTable::Operators, name);
  return makes_instances_ ? declaration(id) : head(id);
}
const Declaration* ModuleScope::static_function(std::string_view name) {
  return declaration(impl_.find(module_, NameTable::Statics, name));
}

std::string ModuleScope::infix(std::string_view symbol) {
  const Declaration* d = declaration(impl_.find(module_, NameTable::Infix, symbol));
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
  DeclarationId id = impl_.find_constructor(module_, constructor);
  return id ? data(impl_.session.info(id).name) : nullptr;
}

const TopLevelVariable* ModuleScope::variable(std::string_view name) {
  if (chunk_) {
    auto found = impl_.bodies.find(chunk_, std::string(name));
    if (found) uses_->push_back(found);
    return found.get();
  }
  if (!statement_) return nullptr;
  // Only a declaration or removal of this name changes which of them stands before the statement.
  const auto& ids = impl_.names.get({module_, NameTable::Variables, std::string(name)});
  auto after = std::partition_point(ids.begin(), ids.end(),
                                    [&](DeclarationId id) { return impl_.is_before(id, statement_); });
  return after == ids.begin() ? nullptr : impl_.variable(*std::prev(after)).get();
}

bool ModuleScope::has_top_level_variable(std::string_view name) {
  return !impl_.names.get({module_, NameTable::Variables, std::string(name)}).empty();
}

bool ModuleScope::in_broken_statement(std::string_view name) {
  if (!statement_) return false;
  std::string mention = "%" + std::string(name);
  for (auto& [id, text] : impl_.broken_statements(module_))
    if (impl_.is_before(id, statement_) && text.find(mention) != std::string::npos) return true;
  return false;
}

const Scheme* ModuleScope::scheme(std::string_view name) {
  auto& found = impl_.scheme({module_, std::string(name)});
  return found ? &*found : nullptr;
}

InstanceAnswer ModuleScope::instance(const InstanceRequest& request) {
  // An operator of the library means the same in every module: its instances are made once.
  DeclarationId op = impl_.find(module_, NameTable::Operators, request.op);
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
  auto add = [&](const std::string& name) { out.push_back(name); };
  impl_.names.depend_on_all(module_);
  for (ModuleId module : {module_, Session::Impl::kLibrary}) {
    switch (kind) {
      case Names::Globals: impl_.names.for_each(module, NameTable::Globals, add); break;
      case Names::Operators: impl_.names.for_each(module, NameTable::Operators, add); break;
      case Names::Types: impl_.names.for_each(module, NameTable::Types, add); break;
      case Names::Constructors:
        for (auto& [name, id] : impl_.constructors(module)) add(name);
        break;
      case Names::Variables:
        for (DeclarationId id : impl_.all_of(module, PieceKind::Statement))
          if (statement_ && impl_.is_before(id, statement_)) add(impl_.declarations[id].name);
        if (chunk_ && module == module_)
          for (const std::string& name : impl_.bodies.names_before(chunk_)) add(name);
        break;
    }
    if (module_ == Session::Impl::kLibrary) break;
  }
  std::erase(out, "");
  std::sort(out.begin(), out.end());
  if (kind == Names::Types)
    for (const char* dtype :
         {"float32", "float64", "float16", "bfloat16", "int8", "int32", "int64", "uint8", "bool"})
      out.emplace_back(dtype);
  return out;
}

}  // namespace quern
