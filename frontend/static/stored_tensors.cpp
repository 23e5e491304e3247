#include "frontend/static/stored_tensors.h"

#include <fmt/format.h>

#include <set>

namespace quern {

namespace {

/// Limits the parts of a value, since a type's parts may double at each level.
constexpr size_t kMostParts = 1'000'000;

class Parts {
 public:
  explicit Parts(const DataLookup& lookup) : lookup_(lookup) {}

  std::vector<StoredTensor> tensors;

  /// Why a file cannot hold the part, or "".
  std::string add(StoredTensor part) {
    if (++parts_ > kMostParts) return fmt::format("it has more than {} parts", kMostParts);
    const Type type = part.type;
    switch (type->kind) {
      case TypeKind::Tensor:
      case TypeKind::Dim:
      case TypeKind::Var:
      case TypeKind::Infer:
      case TypeKind::Error: tensors.push_back(std::move(part)); return "";
      case TypeKind::Function: return fmt::format("`{}` is a function", to_string(type));
      case TypeKind::Ref: return fmt::format("`{}` is a reference", to_string(type));
      case TypeKind::Tuple: return add_tuple(part);
      case TypeKind::Data: return add_record(part);
    }
    return "";
  }

 private:
  std::string add_tuple(const StoredTensor& tuple) {
    for (size_t i = 0; i < tuple.type->args.size(); ++i) {
      StoredTensor part = tuple;
      part.name = part_name(tuple.name, "", i);
      part.type = tuple.type->args[i];
      if (std::string fault = add(std::move(part)); !fault.empty()) return fault;
    }
    return "";
  }

  std::string add_record(const StoredTensor& record) {
    const DataDefinition* data = lookup_(record.type);
    if (!data || data->constructors.empty())
      return fmt::format("what `{}` holds is not known", to_string(record.type));
    if (data->constructors.size() > 1) return fmt::format("`{}` has several constructors", data->name);
    std::set<const DataDefinition*> inside;
    if (contains(*data, *data, inside)) return fmt::format("`{}` contains itself", data->name);
    const DataConstructor& constructor = data->constructors[0];
    const std::vector<Type> types = field_types(*data, constructor, record.type);
    for (size_t i = 0; i < types.size(); ++i) {
      const DataField& field = constructor.fields[i];
      const std::string name = part_name("", field.name, i);
      std::string fault = add({part_name(record.name, field.name, i), types[i],
                               fmt::format("the field `{}` of `{}`", name, data->name), field.place});
      if (!fault.empty()) return fault;
    }
    return "";
  }

  /// Whether the declaration of `outer` mentions `data`, itself or through others.
  bool contains(const DataDefinition& outer, const DataDefinition& data,
                std::set<const DataDefinition*>& inside) {
    for (const DataConstructor& constructor : outer.constructors)
      for (const DataField& field : constructor.fields)
        if (contains(field.type, data, inside)) return true;
    return false;
  }
  bool contains(Type type, const DataDefinition& data, std::set<const DataDefinition*>& inside) {
    for (Type arg : type->args)
      if (contains(arg, data, inside)) return true;
    const DataDefinition* here = type->kind == TypeKind::Data ? lookup_(type) : nullptr;
    return here && (here == &data || (inside.insert(here).second && contains(*here, data, inside)));
  }

  const DataLookup& lookup_;
  size_t parts_ = 0;
};

}  // namespace

Result<std::vector<StoredTensor>> stored_tensors(const std::string& name, Type type,
                                                 const DataLookup& lookup) {
  Parts parts(lookup);
  if (std::string fault = parts.add({name, type, "the value", std::nullopt}); !fault.empty())
    return Failure{std::move(fault)};
  return std::move(parts.tensors);
}

std::vector<Type> field_types(const DataDefinition& data, const DataConstructor& constructor, Type type) {
  const Substitution substitution = data.header.arguments_of(type);
  std::vector<Type> types;
  for (const DataField& field : constructor.fields) types.push_back(substitute(field.type, substitution));
  return types;
}

std::string part_name(const std::string& name, std::string_view field, size_t number) {
  const std::string part = field.empty() ? std::to_string(number) : std::string(field);
  return name.empty() ? part : fmt::format("{}.{}", name, part);
}

}  // namespace quern
