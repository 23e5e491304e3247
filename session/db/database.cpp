#include "session/db/database.h"

#include <fmt/format.h>

#include "frontend/static/stored_tensors.h"
#include "jit/plan/storage.h"
#include "session/db/module_scope.h"
#include "session/db/owned_bytes.h"
#include "session/query/define_query.h"

namespace quern {

namespace {

/// Bounds on operator instances, mostly the library's, which edits never invalidate.
constexpr size_t kMostInstances = 512, kInstancesKept = 256;
/// Bounds on names of types and constructors, most of which were never declared.
constexpr size_t kMostNames = 64, kNamesKept = 32;

}  // namespace

// The tables of the parts are constructed here too.
Bodies::Bodies(Database& db) : db_(db) {}

ModuleNames::ModuleNames(Tables& tables, ModuleId constant)
    : constant_(constant), cells_(tables, "names"), updates_(tables, "changes of names") {}

Database::Database() {
  instance.keeping(kMostInstances, kInstancesKept, true);
  specialised.keeping(kMostInstances, kInstancesKept, true);
  late_instance.keeping(kMostInstances, kInstancesKept, true);
  // There is a value for each name that ever stood where a type or a constructor may stand.
  constructor.keeping(kMostNames, kNamesKept, true);
  data_header.keeping(kMostNames, kNamesKept, false);
  alias.keeping(kMostNames, kNamesKept, false);
  data.keeping(kMostNames, kNamesKept, false);
  declaration_diagnostics.when_outdated([this](DeclarationId id) { make_due(id); });
  set_subject<ByDeclaration>([this](DeclarationId id) { return subject_of(id); });
  set_subject<ByBodyName>([this](const BodyName& key) { return subject_of(key.declaration); });
  set_subject<ByDefinition>([this](const NameKey& key) { return subject_of(key, NameTable::Globals); });
  set_subject<ByType>([this](const NameKey& key) { return subject_of(key, NameTable::Types); });
  set_subject<ByInstance>([this](const InstanceKey& key) { return subject_of(key.request.declaration); });
  set_lasting_names();
}

Database::~Database() = default;

void Database::set_lasting_names() {
  const auto in_module = [](ModuleId module, const std::string& name) {
    return module == kLibrary ? std::string() : fmt::format("{} {}", module, name);
  };
  // Declarations that are never removed have none, and chunks, which have no name.
  set_lasting_name<ByDeclaration>([this, in_module](DeclarationId id) {
    const DeclarationInfo& about = declarations[id];
    return about.part_of ? std::string() : in_module(about.module, about.name);
  });
  const auto of_name = [in_module](const NameKey& key) { return in_module(key.module, key.name); };
  set_lasting_name<ByDefinition>(of_name);
  set_lasting_name<ByType>(of_name);
  set_lasting_name<ByInstance>(
      [in_module](const InstanceKey& key) { return in_module(key.module, key.request.key); });
}

const Definition* DatabaseFunctions::function(uint32_t module, std::string_view name) {
  return db_.definition(module, name);
}
const Definition* DatabaseFunctions::bound(const Variable* variable) { return db_.bound_function(variable); }
std::vector<TypedConstructor> DatabaseFunctions::constructors(Origin user, Type data) {
  const DataDefinition* found = db_.data_of(db_.declarations[user.declaration].module, data);
  std::vector<TypedConstructor> all;
  if (found && !found->is_extern)
    for (const DataConstructor& constructor : found->constructors)
      all.push_back({constructor.interned, field_types(*found, constructor, data)});
  return all;
}
std::shared_ptr<const OpInstance> DatabaseFunctions::instance(const OpInstance& called) {
  return db_.linked(called);
}

std::vector<std::string> DatabaseFunctions::devices() { return db_.devices.get(Database::kLibrary); }

Subject Database::subject_of(DeclarationId id) const {
  if (declarations[id].part_of) id = declarations[id].part_of;
  return {id, declarations[id].name};
}

Subject Database::subject_of(const NameKey& key, NameTable table) const {
  const auto& ids = names.peek({key.module, table, key.name});
  return ids.empty() ? Subject{0, key.name} : subject_of(ids.back());
}

Optimised Database::optimise_definition(const NameKey& key) {
  const Definition* found = functions.function(key.module, key.name);
  Optimised result = found ? optimise(*found, functions, "", left_out.get(kLibrary)) : Optimised{};
  // Results cut short by an interrupt are not kept.
  engine.cancelled();
  return result;
}

std::shared_ptr<const Program> Database::compile_definition(const NameKey& key) {
  const Optimised& o = optimised(key);
  return o.expr ? planned_program(o.expr, {}, o.arena) : nullptr;
}

}  // namespace quern
